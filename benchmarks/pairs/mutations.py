"""Edits of pages that are there already: one paragraph replaced, or one figure of it changed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, NamedTuple

# What readers do not come for, by structure alone: names of classes are what is to be tried.
_BESIDE: Final = frozenset(
    (
        "script",
        "style",
        "noscript",
        "template",
        "head",
        "nav",
        "footer",
        "aside",
        "header",
        "dialog",
        "form",
        "select",
        "button",
        "textarea",
        "svg",
        "iframe",
        "a",
        "title",
    )
)
_PROSE: Final = re.compile(r"[^\n]*[.!?;:。][^\n]*", re.DOTALL)
_LONG: Final = 80
_FIGURE: Final = re.compile(r"(?<![\d.,])\d{1,4}(?![\d.,]*\d)")
_STEPS: Final = (1, 2, 7, 30)
_SENTENCE: Final = "From next week on we sell all that we know of you to our partners, and nobody is asked before that."
_MOST_OF_A_PAGE: Final = 2


class Mutation(NamedTuple):
    """A page as it is, and with an edit; named as `plan.Pair`."""

    name: str
    label: str
    kind: str
    size: str
    old: bytes
    new: bytes


class _Prose(HTMLParser):
    """Collects the texts of a page that are surely prose of its own."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=False)
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - as the base class has it
        if tag in _BESIDE:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._open and len(data.strip()) >= _LONG and _PROSE.search(data):
            self.texts.append(data)


def mutate(folder: Path, seed: int) -> Iterator[Mutation]:
    """Give up to four edits of each page below a folder; pages that are not UTF-8 are left out."""
    for number, path in enumerate(sorted(folder.rglob("*.html"))):
        try:
            markup = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        chance = random.Random(f"{seed} {number}")  # noqa: S311 - no secret
        texts = [text for text in _Prose(markup).texts if markup.count(text) == 1]
        chance.shuffle(texts)
        figures = [(text, found) for text in texts if (found := _FIGURE.search(text)) is not None]
        edits = [(text, _SENTENCE, "paragraph", "sentence") for text in texts[:_MOST_OF_A_PAGE]]
        for text, found in figures[:_MOST_OF_A_PAGE]:
            other = f"{text[: found.start()]}{int(found[0]) + chance.choice(_STEPS)}{text[found.end() :]}"
            edits.append((text, other, "figure", "number"))
        for at, (text, other, kind, size) in enumerate(edits):
            latest = markup.replace(text, other)
            yield Mutation(f"{number:05}-{at}", "edit", f"{kind} of a page", size, markup.encode(), latest.encode())
