"""What settings would have made of the texts that are kept of a page. Pure."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from tocsin.engine.judging.replay import ReplayedHost, ReplayedPage
from tocsin.errors import FetchRefused
from tocsin.model import CheckOutcome
from tocsin.spec.signals.content import to_compared_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.model import Instant
    from tocsin.ports import Chance
    from tocsin.settings import PageSettings

# Of all texts together: they are parsed once for each of two settings.
MOST_LETTERS: Final = 2**21
# No line is one of these.
_START, _END = b"\n<", b"\n>"


class TextOutcomes(Struct, frozen=True):
    """How many changes settings report of some texts."""

    major: int
    minor: int


def judge_texts(
    texts: Sequence[tuple[Instant, str]], left_out: Iterable[str], url: str, policy: PageSettings, chance: Chance
) -> TextOutcomes:
    """Judge kept texts one after the other, as checks with these settings judge pages.

    texts     the oldest first; a line is a part
    left_out  parts of today's page that the settings leave out. A text does not say what was where, so its lines are
              recognised by their words, but for figures, and by the lines around them
    Declared dates are not in the texts, so that only their words are judged.
    """
    # The texts hold what selectors left of the page.
    policy = msgspec.structs.replace(policy, look_at="", ignore="", mode="on")
    page, found = ReplayedPage(url, policy, chance, ReplayedHost(0)), Counter[str]()
    for at, lines in _without(texts, left_out):
        body = "".join([f"<p>{escape(line, quote=False)}" for line in lines])
        try:
            result = page.check(f"<!doctype html><meta charset=utf-8><main>{body}".encode(errors="replace"), at)
        except FetchRefused:
            continue
        found[result.report.outcome] += 1
    return TextOutcomes(found[CheckOutcome.MAJOR], found[CheckOutcome.MINOR])


def _without(texts: Sequence[tuple[Instant, str]], left_out: Iterable[str]) -> list[tuple[Instant, list[str]]]:
    """Take the lines that are left out away from each text."""
    keys, places = set(_keys(left_out)), set[tuple[bytes, bytes]]()
    found = []
    # Backwards, since it is today's page that is known: what was in the place of a line is left out, too.
    for at, text in reversed(texts):
        lines = text.split("\n")
        own = _keys(lines)
        kept = []
        for line, key, place in zip(lines, own, zip([_START, *own], [*own[1:], _END], strict=False), strict=True):
            if key in keys or place in places:
                keys.add(key)
                places.add(place)
            else:
                kept.append(line)
        found.append((at, kept))
    return found[::-1]


def _keys(lines: Iterable[str]) -> list[bytes]:
    """Return what each line is recognised by: its letters without figures."""
    text = "\n".join([" ".join(line.split()) for line in lines])
    return [masked or data for data, masked in to_compared_lines(text)]
