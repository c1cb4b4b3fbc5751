"""Which pairs there are: for each a page, what was done to it, and what the two visits found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from random import Random
from typing import Literal, NamedTuple

from benchmarks.pairs import language as languages
from benchmarks.pairs import layouts
from benchmarks.pairs.edits import EDITS, PLACES, Spot
from benchmarks.pairs.language import chance, language
from benchmarks.pairs.layouts import LAYOUTS, render
from benchmarks.pairs.story import Story, write
from benchmarks.pairs.visit import NOISE, Page, Visit

COUNT = 600
SEVERAL, ALL = "several at once", "all at once"
_PAGES, _VISITS = 200, 8
_DECLARING = 0.4
"""The share of edits that a page declares, where it declares dates: the others must be seen in what it says."""


class Pair(NamedTuple):
    """Two versions of a page.

    label   edit or noise
    kind    a name of `EDITS` or `NOISE`, or that several kinds of noise came at once
    size    of an edit: word, number, sentence, paragraph or large; "" of noise
    stories what was written, before and after; the same for noise
    """

    name: str
    label: Literal["edit", "noise"]
    kind: str
    size: str
    page: Page
    old: bytes
    new: bytes
    stories: tuple[Story, Story]


def pairs(seed: int, count: int = COUNT, *, unseen: bool = False) -> Iterator[Pair]:
    """Make pairs, half of them edits; the same seed makes the same ones.

    unseen  of sites and in languages that the comparing of contents was not tried on while it was written
    """
    for number in range(count):
        yield (_edited if number % 2 else _visited)(seed, number // 2, unseen=unseen)


def _visited(seed: int, number: int, *, unseen: bool) -> Pair:
    """Make a pair of noise: nobody wrote anything between the two visits."""
    kinds = list(NOISE)
    kind = (ALL, SEVERAL, *[kinds[(number // 5 * 3 + place) * 7 % len(kinds)] for place in range(3)])[number % 5]
    for page, story, by in _pages(f"noise-{seed}-{number:04d}", number, unseen=unseen):
        old = render(Visit(page, {}), story)
        for version in range(1, _VISITS):
            chosen = kinds if kind == ALL else by.sample(kinds, 5) if kind == SEVERAL else [kind]
            new = render(Visit(page, dict.fromkeys(chosen, version)), story)
            if new != old:
                return Pair(page.name, "noise", kind, "", page, old, new, (story, story))
    raise RuntimeError(f"no page has what is changed by {kind}")


def _edited(seed: int, number: int, *, unseen: bool) -> Pair:
    """Make a pair of an edit, every second one with noise beside it."""
    kind = list(EDITS)[number * 7 % len(EDITS)]
    edit = EDITS[kind]
    for page, story, by in _pages(f"edit-{seed}-{number:04d}", number, unseen=unseen):
        after = edit.do(story, Spot(language(page.language), by, PLACES[number % len(PLACES)]))
        if after is None or after == story:
            continue
        if by.random() < _DECLARING:
            after = after._replace(modified=after.modified + timedelta(days=by.randrange(1, 40)))
        beside = dict.fromkeys(by.sample(list(NOISE), 12), 1) if by.random() < 0.5 else {}
        old, new = render(Visit(page, {}), story), render(Visit(page, beside), after)
        return Pair(page.name, "edit", kind, edit.size, page, old, new, (story, after))
    raise RuntimeError(f"no page has a place for {kind}")


def _pages(name: str, number: int, *, unseen: bool) -> Iterator[tuple[Page, Story, Random]]:
    """Give pages of one name, one of which will have what is looked for: each of another layout than the one before."""
    kinds: Sequence[str] = list(layouts.UNSEEN if unseen else LAYOUTS)
    first = number * 5 + number // len(kinds)
    for try_ in range(_PAGES):
        by = chance(name, try_)
        layout = kinds[(first + try_) % len(kinds)]
        skins = layouts.UNSEEN[layout] if unseen else LAYOUTS[layout].skins
        spoken = languages.UNSEEN if unseen else languages.NAMES
        page = Page(name, f"{name}/{try_}", layout, by.choice(skins), by.choice(spoken))
        yield page, write(LAYOUTS[layout].story, language(page.language), chance(name, try_, "story")), by
