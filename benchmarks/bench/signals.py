"""All that a first check reads of a silent page, beside turbohtml's bare parse: `./dev bench signals [--pages DIR]`.

Each part is timed on its own, too, and so is the bare parse of the decoded text, by three parsers. For each page the
best of the rounds counts, since what else the machine does only ever adds.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import turbohtml
from lxml import html as lxml_html  # type: ignore[import-untyped]  # has no stubs
from selectolax.lexbor import LexborHTMLParser

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.pages import Page, read_folder
from benchmarks.pairs.plan import pairs
from tocsin.engine.judging.assess import assess
from tocsin.engine.judging.contents import find_copies
from tocsin.engine.judging.reading import ReadingContext
from tocsin.errors import TooComplex
from tocsin.settings import PageSettings
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.reading import ContentSelectors, read_signals
from tocsin.spec.signals.texts import pack_text
from tocsin.spec.suspicion.kinds import find_suspicion

_T = TypeVar("_T")

BARE, LEXBOR, LXML = "bare parse, turbohtml", "bare parse, lexbor", "bare parse, lxml"
PARSED, SIGNALS, SUSPICION, PACKED = "parsed whole", "signals and content", "suspicion", "text packed"
ALL = "all that a first check reads"
AIM = Aim("<=", 3.5)
_URL, _TYPE = "https://site.example/", "text/html"
_SEED, _MADE, _TINY = 3, 200, 4
_HEADERS = (("content-type", _TYPE), ("last-modified", "Sat, 01 Nov 2025 08:00:00 GMT"), ("etag", '"5f3a-64b1c"'))
_ROUNDS = 3


async def measure(sizes: Sizes, folder: Path | None = None) -> list[Figure]:
    """Measure on the pages of a folder, or on pages made as those of the pairs are."""
    bodies = read_folder(folder) if folder is not None else [pair.new for pair in pairs(_SEED, _MADE)]
    if sizes.rounds == 1:
        bodies = bodies[:_TINY]
    pages = [Page.of(body) for body in bodies if _is_read(body)]
    best: dict[str, list[float]] = defaultdict(list)
    for page in pages:
        spent: dict[str, float] = {}
        for _ in range(sizes.rounds * _ROUNDS):
            _read(page, spent)
        for what, seconds in spent.items():
            best[what].append(seconds * 1e6)
    mean = {what: [sum(values) / len(values)] for what, values in best.items()}
    kib = sum(len(page.body) for page in pages) / len(pages) / 1024
    note = f"{len(pages)} pages of {kib:.0f} KiB"
    return [
        figure(what, values, "us/page", beside=BARE, reference=mean[BARE], aim=AIM if what == ALL else None, note=note)
        for what, values in mean.items()
    ]


def _is_read(body: bytes) -> bool:
    try:
        return parse_whole(body, _TYPE) is not None
    except TooComplex:
        return False


def _read(page: Page, spent: dict[str, float]) -> None:
    """Read a page part by part, and as a check does; keeps the least that each has taken so far."""

    def timed(what: str, do: Callable[[], _T]) -> _T:
        began = time.perf_counter()
        done = do()
        spent[what] = min(spent.get(what, 1.0), time.perf_counter() - began)
        return done

    body = page.body
    gc.collect()
    gc.disable()  # what one of them leaves behind is not to be swept up in the time of another
    try:
        timed(ALL, lambda: _read_all(body))
        timed(BARE, lambda: turbohtml.parse(page.text, positions=False))
        whole = timed(PARSED, lambda: parse_whole(body, _TYPE))
        if whole is None:
            return
        readings = timed(SIGNALS, lambda: read_signals(whole, _HEADERS, {}, ContentSelectors(), _URL))
        timed(
            SUSPICION,
            lambda: find_suspicion(whole, body=body, status=200, url=_URL, final_url=_URL, headers=_HEADERS),
        )
        if readings.content is not None:
            text = readings.content.text
            timed(PACKED, lambda: pack_text(text))
        timed(LEXBOR, lambda: LexborHTMLParser(page.utf8))
        timed(LXML, lambda: lxml_html.document_fromstring(page.utf8, parser=lxml_html.HTMLParser(encoding="utf-8")))
    finally:
        gc.enable()


def _read_all(body: bytes) -> None:
    wanted = ReadingContext(PageSettings(), None, _URL, 200)
    assessed = assess(_URL, body, _TYPE, None, None, headers=_HEADERS, wanted=wanted)
    if assessed.readings is not None and assessed.readings.content is not None:
        pack_text(assessed.readings.content.text)
    find_copies(_URL, _URL, body, _TYPE, _HEADERS)
