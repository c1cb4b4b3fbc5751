"""What reading a page's microdata costs, beside parsing the same bytes: `./dev bench items`.

A page of 10,000 items with four properties each, half of whose values are URLs and dates; the same with as many
items that get half of their properties by itemref; and a tenth of the first, which tells whether time grows with the
page or with its square. Reading is all, from bytes: kind, encoding, guards and parse too. Beside it stand the parse
alone, as the same parser does it, and lexbor's.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import turbohtml
from selectolax.lexbor import LexborHTMLParser

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from tocsin.spec.microdata.formats.items_json import to_json
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.values import Microdata

Made = TypeVar("Made")

MANY, SHARED, TENTH, JSON = "items read", "… half of whose properties are elsewhere", "a tenth of them", "… as JSON"
OURS, LEXBOR = "parse alone, turbohtml", "parse alone, lexbor"
AIM = Aim("<=", 200)
_ITEMS, _TINY = 10_000, 20
_URL, _TYPE = "https://site.example/program", "text/html; charset=utf-8"
_ROUNDS = 2


async def measure(sizes: Sizes) -> list[Figure]:
    """Measure in turns; in milliseconds of processor time a page."""
    count = _TINY if sizes.rounds == 1 else _ITEMS
    page, shared, tenth = _page(count), _page(count, is_shared=True), _page(count // 10)
    samples: dict[str, list[float]] = defaultdict(list)
    for _ in range(sizes.rounds * _ROUNDS):
        _take(samples[LEXBOR], lambda: LexborHTMLParser(page))
        _take(samples[OURS], lambda: turbohtml.parse(page.decode(), positions=False))
        data = _take(samples[MANY], lambda: _read(page, count))
        _take(samples[JSON], partial(to_json, data))
        _take(samples[SHARED], lambda: _read(shared, count))
        _take(samples[TENTH], lambda: _read(tenth, count // 10))
    note = f"{count} items, {len(page) / 2**20:.1f} MiB"
    return [
        figure(f"{count:,} {MANY}", samples[MANY], "ms CPU", aim=AIM, note=note),
        figure(MANY, samples[MANY], "ms CPU", beside=OURS, reference=samples[OURS]),
        figure(MANY, samples[MANY], "ms CPU", beside=LEXBOR, reference=samples[LEXBOR]),
        figure(SHARED, samples[SHARED], "ms CPU", beside=OURS, reference=samples[OURS]),
        figure(MANY, samples[MANY], "ms CPU", beside=TENTH, reference=samples[TENTH]),
        figure(JSON, samples[JSON], "ms CPU", beside=MANY, reference=samples[MANY]),
    ]


def _page(count: int, *, is_shared: bool = False) -> bytes:
    items = "".join(map(_shared_item if is_shared else _item, range(count)))
    return f"<!DOCTYPE html><html lang=en><title>Program</title><body>{items}</body></html>".encode()


def _item(number: int) -> str:
    return (
        '<div class="event" itemscope itemtype="http://microformats.org/profile/hcalendar#vevent">'
        f'<h2 itemprop="summary">Evening {number}</h2><a itemprop="url" href="/program/{number}">more</a>'
        f'<p>On <time itemprop="dtstart" datetime="2026-11-{number % 28 + 1:02}T19:00:00Z">a day</time> in '
        f'<span itemprop="location">Hall {number % 7}</span></p></div>\n'
    )


def _shared_item(number: int) -> str:
    return (
        f'<div itemscope itemtype="http://microformats.org/profile/hcalendar#vevent" itemref="a{number} b{number}">'
        f'<h2 itemprop="summary">Evening {number}</h2></div><p><a id="a{number}" itemprop="url" '
        f'href="/program/{number}">more</a> in <span id="b{number}" itemprop="location">Hall {number % 7}</span></p>\n'
    )


def _read(page: bytes, count: int) -> Microdata:
    data = read_items(page, _TYPE, address=_URL)
    assert len(data.items) == count
    assert all(len(item.properties) >= 3 for item in data.items)
    return data


def _take(samples: list[float], act: Callable[[], Made]) -> Made:
    gc.collect()
    began = time.process_time()
    made = act()
    samples.append((time.process_time() - began) * 1e3)
    return made
