"""Bytes to state: what reading a page costs, beside the whole parse of it and beside other parsers.

The others are spared what they are not measured for: each is given the page as it likes it best, decoded, where that
is needed, before the time is taken. Our way is all that the service does with a page's bytes, its digest included.
"""

from __future__ import annotations

import gc
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import html5lib
from lxml import html as lxml_html  # type: ignore[import-untyped]  # has no stubs
from lxml.etree import ParserError  # type: ignore[import-untyped]  # has no stubs
from selectolax.lexbor import LexborHTMLParser

from benchmarks.bench.adversarial import adversarial_pages
from benchmarks.bench.corpus import documents
from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from tocsin.engine.judging.assess import assess
from tocsin.errors import FetchRefused, TooComplex
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.document import Meta
from tocsin.spec.html.page import find_encoding
from tocsin.spec.topper.state import PageState, read_state

TYPE = "text/html"
SUFFIXES = frozenset({".html", ".htm"})
OURS, WHOLE = "our way", "whole parse, lexbor"
AIM = Aim("<=", 0.3)
SLOW = "html5lib"
"""Takes its turn in the first round only: a hundred times as long as the others, it would take most of the time."""
_ATTRIBUTES = ("name", "http-equiv", "property", "content", "charset")
_TINY_PAGES = 3


class NoPages(ValueError):
    """There is nothing to measure."""


class Page(NamedTuple):
    """A page as it came, and as the others are given it."""

    body: bytes
    text: str
    utf8: bytes

    @classmethod
    def of(cls, body: bytes) -> Page:
        """Decode a body."""
        text = decode(body, find_encoding(body, TYPE))
        return cls(body, text, text.encode())


def our_way(page: Page) -> PageState:
    """As the service reads a page: kind, encoding, as much of the tree as can hold meta elements."""
    return assess("http://127.0.0.1/", page.body, TYPE, None, None).state


def whole_parse(page: Page) -> PageState:
    """The same parser, given the whole page."""
    tree = LexborHTMLParser(page.utf8)
    return _to_state(node.attributes for node in tree.tags("meta"))


def with_lxml(page: Page) -> PageState:
    """libxml2's parser of HTML, which is older than the standard."""
    tree = lxml_html.document_fromstring(page.utf8, parser=lxml_html.HTMLParser(encoding="utf-8"))
    return _to_state(node.attrib for node in tree.iter("meta"))


def with_html5lib(page: Page) -> PageState:
    """The standard's algorithm in Python."""
    tree = html5lib.parse(page.text, namespaceHTMLElements=False)
    return _to_state(node.attrib for node in tree.iter("meta"))


CONTENDERS: dict[str, Callable[[Page], PageState]] = {
    WHOLE: whole_parse,
    OURS: our_way,
    "lxml": with_lxml,
    SLOW: with_html5lib,
}


async def measure(sizes: Sizes, folder: Path | None = None) -> list[Figure]:
    """Measure on the pages of a folder, or on those made from a seed.

    The contenders take turns, and what each has read of every page is compared: our way must see what the whole parse
    sees, the others are counted where they see something else. That holds of adversarial pages, too, for which no time
    is taken.
    """
    bodies = read_folder(folder) if folder is not None else [b"".join(made.parts(0)) for made in documents()]
    if sizes.rounds == 1:
        bodies = bodies[:_TINY_PAGES]
    timed = [Page.of(body) for body in bodies]
    pages = timed + [Page.of(body) for body in adversarial_pages()]
    samples: dict[str, list[float]] = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # html5lib warns of names that XML does not know
        states = {name: [_state(read, page) for page in pages] for name, read in CONTENDERS.items()}
        if states[OURS] != states[WHOLE]:
            unlike = [str(place) for place, _ in enumerate(pages) if states[OURS][place] != states[WHOLE][place]]
            raise RuntimeError(f"our way sees another state than the whole parse on page {', '.join(unlike[:9])}")
        for number in range(sizes.rounds):
            for name, seconds in _round(timed, but=frozenset({SLOW} if number else ())).items():
                samples[name].append(seconds / len(timed) * 1e6)
    kib = sum(map(len, bodies)) / len(bodies) / 1024
    lines = []
    for name, values in samples.items():
        beside, aim = (WHOLE, AIM) if name == OURS else (OURS, None)
        differ = sum(mine != theirs for mine, theirs in zip(states[OURS], states[name], strict=True))
        note = f"another state on {differ} of {len(pages)} pages, {len(pages) - len(timed)} of them adversarial"
        if name == WHOLE:
            note = f"{len(bodies)} pages of {kib:.0f} KiB"
        what = f"bytes to state, {name}"
        lines.append(figure(what, values, "us CPU/page", beside=beside, reference=samples[beside], note=note, aim=aim))
    return lines


def read_folder(folder: Path) -> list[bytes]:
    """Read the HTML files below a folder, in the order of their names."""
    found = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES]
    if not found:
        raise NoPages(f"{folder}: no page in it; name a folder that holds .html files")
    return found


def _round(pages: Sequence[Page], *, but: frozenset[str]) -> dict[str, float]:
    """Read all pages with one contender after the other; returns seconds of processor time by contender.

    but  these are left out
    """
    spent: dict[str, float] = {}
    for name, read in CONTENDERS.items():
        if name in but:
            continue
        gc.collect()
        gc.disable()  # what one of them leaves behind is not to be swept up in the time of another
        began = time.process_time()
        try:
            for page in pages:
                _state(read, page)
        finally:
            spent[name] = time.process_time() - began
            gc.enable()
    return spent


def _state(read: Callable[[Page], PageState], page: Page) -> PageState | None:
    try:
        return read(page)
    except (TooComplex, FetchRefused, ParserError):
        return None


def _to_state(elements: Iterable[Mapping[str, str | None]]) -> PageState:
    return read_state([Meta(*(element.get(name) or None for name in _ATTRIBUTES)) for element in elements])
