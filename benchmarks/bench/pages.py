"""Bytes to state: what reading a page costs, beside the whole parse of it and beside other parsers."""

from __future__ import annotations

import gc
import time
import warnings
from collections import defaultdict
from typing import TYPE_CHECKING

import html5lib
from lxml import html as lxml_html  # type: ignore[import-untyped]  # has no stubs
from selectolax.lexbor import LexborHTMLParser

from benchmarks.bench.corpus import documents
from benchmarks.bench.measure import figure
from tocsin.errors import TooComplex
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.encoding import find_encoding
from tocsin.spec.html.meta import Meta
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.state import PageState, read_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.bench.measure import Figure, Sizes

TYPE = "text/html"
SUFFIXES = frozenset({".html", ".htm"})
OURS, WHOLE = "our way", "whole parse, lexbor"
_ATTRIBUTES = ("name", "http-equiv", "property", "content", "charset")
_TINY_PAGES = 3


class NoPages(ValueError):
    """There is nothing to measure."""


def our_way(body: bytes) -> PageState:
    """As the service reads a page: kind, encoding, as much of the tree as can hold meta elements."""
    return read_state(read_page(body, TYPE).metas)


def whole_parse(body: bytes) -> PageState:
    """The same parser, given the whole page."""
    tree = LexborHTMLParser(_text(body))
    return _to_state(node.attributes for node in tree.tags("meta"))


def with_lxml(body: bytes) -> PageState:
    """libxml2's parser of HTML, which is older than the standard."""
    tree = lxml_html.document_fromstring(_text(body).encode(), parser=lxml_html.HTMLParser(encoding="utf-8"))
    return _to_state(node.attrib for node in tree.iter("meta"))


def with_html5lib(body: bytes) -> PageState:
    """The standard's algorithm in Python."""
    tree = html5lib.parse(_text(body), namespaceHTMLElements=False)
    return _to_state(node.attrib for node in tree.iter("meta"))


CONTENDERS: dict[str, Callable[[bytes], PageState]] = {
    WHOLE: whole_parse,
    OURS: our_way,
    "lxml": with_lxml,
    "html5lib": with_html5lib,
}


async def measure(sizes: Sizes, folder: Path | None = None) -> list[Figure]:
    """Measure on the pages of a folder, or on those made from a seed.

    The contenders take turns, and what each has read of every page is compared: our way must see what the whole parse
    sees, the others are counted where they see something else.
    """
    bodies = read_folder(folder) if folder is not None else [b"".join(made.parts(0)) for made in documents()]
    if sizes.rounds == 1:
        bodies = bodies[:_TINY_PAGES]
    samples: dict[str, list[float]] = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # html5lib warns of names that XML does not know
        states = {name: [_state(read, body) for body in bodies] for name, read in CONTENDERS.items()}
        if states[OURS] != states[WHOLE]:
            unlike = [str(place) for place, _ in enumerate(bodies) if states[OURS][place] != states[WHOLE][place]]
            raise RuntimeError(f"our way sees another state than the whole parse on page {', '.join(unlike[:9])}")
        for _ in range(sizes.rounds):
            for name, seconds in _round(bodies).items():
                samples[name].append(seconds / len(bodies) * 1e6)
    kib = sum(map(len, bodies)) / len(bodies) / 1024
    lines = []
    for name, values in samples.items():
        beside = WHOLE if name == OURS else OURS
        differ = sum(mine != theirs for mine, theirs in zip(states[OURS], states[name], strict=True))
        note = f"{len(bodies)} pages of {kib:.0f} KiB" if name == WHOLE else f"another state on {differ} pages"
        lines.append(
            figure(
                f"bytes to state, {name}", values, "us CPU/page", beside=beside, reference=samples[beside], note=note
            )
        )
    return lines


def read_folder(folder: Path) -> list[bytes]:
    """Read the HTML files below a folder, in the order of their names."""
    found = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES]
    if not found:
        raise NoPages(f"{folder}: no page in it; name a folder that holds .html files")
    return found


def _round(bodies: Sequence[bytes]) -> dict[str, float]:
    """Read all pages with one contender after the other; returns seconds of processor time by contender."""
    spent: dict[str, float] = {}
    for name, read in CONTENDERS.items():
        gc.collect()
        gc.disable()  # what one of them leaves behind is not to be swept up in the time of another
        began = time.process_time()
        try:
            for body in bodies:
                _state(read, body)
        finally:
            spent[name] = time.process_time() - began
            gc.enable()
    return spent


def _state(read: Callable[[bytes], PageState], body: bytes) -> PageState | None:
    try:
        return read(body)
    except TooComplex:
        return None


def _text(body: bytes) -> str:
    return decode(body, find_encoding(body, TYPE))


def _to_state(elements: Iterable[Mapping[str, str | None]]) -> PageState:
    return read_state([Meta(*(element.get(name) or None for name in _ATTRIBUTES)) for element in elements])
