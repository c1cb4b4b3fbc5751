"""What reading a page's signals costs, beside parsing the page whole: `./dev bench signals [--pages DIR]`.

Reading is all that a check does with a parsed page: every signal, its content, and the comparison with the content
before, of which one paragraph was another one; and once more where only markup differs, so that the text is the one
before. Each page is read right after it was parsed, as a check does it. lexbor takes turns with that.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from benchmarks.bench.measure import Aim, figure
from benchmarks.bench.pages import Page, read_folder
from benchmarks.pairs.plan import pairs
from tocsin.errors import TooComplex
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.content import compare_contents
from tocsin.spec.signals.reading import ContentSelectors, read_signals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.bench.measure import Figure, Sizes
    from tocsin.spec.html.whole import Whole

READING, SAME = "signals read and compared", "… where markup alone differs"
OURS, LEXBOR = "whole parse, turbohtml", "whole parse, lexbor"
BOTH = "whole parse and signals"
AIM = Aim("<=", 1.0)
_URL = "https://site.example/"
_SEED, _MADE, _TINY = 3, 200, 4
_HEADERS = (("last-modified", "Sat, 01 Nov 2025 08:00:00 GMT"), ("etag", '"5f3a-64b1c"'))


async def measure(sizes: Sizes, folder: Path | None = None) -> list[Figure]:
    """Measure on the pages of a folder, or on pages made as those of the pairs are."""
    bodies = read_folder(folder) if folder is not None else [pair.new for pair in pairs(_SEED, _MADE)]
    if sizes.rounds == 1:
        bodies = bodies[:_TINY]
    read = [Page.of(body) for body in bodies if _parse(body) is not None]
    before = [_fingerprint(page.body) for page in read]
    samples: dict[str, list[float]] = defaultdict(list)
    for _ in range(sizes.rounds):
        _round(samples, read, before)
    samples[BOTH] = [sum(pair) for pair in zip(samples[OURS], samples[READING], strict=True)]
    kib = sum(len(page.body) for page in read) / len(read) / 1024
    note = f"{len(read)} pages of {kib:.0f} KiB"
    return [
        figure(READING, samples[READING], "us CPU/page", beside=OURS, reference=samples[OURS], aim=AIM, note=note),
        figure(READING, samples[READING], "us CPU/page", beside=LEXBOR, reference=samples[LEXBOR]),
        figure(SAME, samples[SAME], "us CPU/page", beside=OURS, reference=samples[OURS]),
        figure(BOTH, samples[BOTH], "us CPU/page", beside=LEXBOR, reference=samples[LEXBOR]),
    ]


def _parse(body: bytes) -> Whole | None:
    try:
        return parse_whole(body, None)
    except TooComplex:
        return None


def _fingerprint(body: bytes) -> bytes:
    """Give the fingerprint of a page's content as it was before its first paragraph was edited."""
    whole = _parse(body.replace(b"</p>", b" Once more.</p>", 1))
    content = None if whole is None else read_signals(whole, _HEADERS, {}, ContentSelectors(), _URL).content
    return b"" if content is None else content.fingerprint


def _round(samples: dict[str, list[float]], pages: Sequence[Page], before: Sequence[bytes]) -> None:
    """Let each contender go through all pages once; adds microseconds of processor time a page."""
    spent = dict.fromkeys((LEXBOR, OURS, READING, SAME), 0.0)
    gc.collect()
    gc.disable()  # what one of them leaves behind is not to be swept up in the time of another
    try:
        for page in pages:
            began = time.process_time()
            LexborHTMLParser(page.utf8)
            spent[LEXBOR] += time.process_time() - began
        for page, fingerprint in zip(pages, before, strict=True):
            _read(spent, page.body, fingerprint)
    finally:
        gc.enable()
    for name, seconds in spent.items():
        samples[name].append(seconds / len(pages) * 1e6)


def _read(spent: dict[str, float], body: bytes, before: bytes) -> None:
    """Parse a page and read it; then parse it anew, and read it as one whose text is known."""
    began = time.process_time()
    whole = _parse(body)
    parsed = time.process_time()
    if whole is None:
        return
    readings = read_signals(whole, _HEADERS, {}, ContentSelectors(), _URL)
    if readings.content is not None:
        compare_contents(before, readings.content, ())
    read = time.process_time()
    spent[OURS] += parsed - began
    spent[READING] += read - parsed
    if (again := _parse(body)) is not None:
        began = time.process_time()
        read_signals(again, _HEADERS, {}, ContentSelectors(), _URL, text=readings.text)
        spent[SAME] += time.process_time() - began
