"""What a page costs, beside bare requests: `./dev bench [--json] [--pages [DIR]] [ROW...]`.

Figures are medians of rounds that alternate with what they are compared with, in one run; see docs/speed.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from benchmarks.bench import alerting, backing, checking, listing, pages, storing, way
from benchmarks.bench.measure import TINY, WHOLE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from benchmarks.bench.measure import Figure, Sizes

ROWS: dict[str, Callable[[Sizes], Awaitable[list[Figure]]]] = {
    "check": checking.measure,
    "way": way.measure,
    "pages": pages.measure,
    "import": listing.measure,
    "store": storing.measure,
    "backup": backing.measure,
    "alerts": alerting.measure,
}
_COLUMNS = "{:<66} {:>10} {:<11} {:>7} {:<26} {}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows named, or all; print a table, or a line of JSON for each figure."""
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument(
        "--pages", nargs="?", const="", metavar="DIR", help="only bytes to state, on the .html files below DIR"
    )
    parser.add_argument(
        "--tiny", action="store_true", help="just enough to see that it works; the figures mean nothing"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    rows = dict(ROWS)
    if options.pages is not None:
        rows["pages"] = partial(pages.measure, folder=Path(options.pages) if options.pages else None)
        options.rows = ["pages"]
    began = time.monotonic()
    if not options.json:
        print(_COLUMNS.format("what", "median", "", "ratio", "beside", "lowest to highest").rstrip())
    for name in options.rows or rows:
        for line in uvloop.run(_measure(rows[name], TINY if options.tiny else WHOLE)):
            print(_to_json(name, line) if options.json else _to_text(line), flush=True)
    if not options.json:
        print(f"{time.monotonic() - began:.0f} s")
    return 0


async def _measure(row: Callable[[Sizes], Awaitable[list[Figure]]], sizes: Sizes) -> list[Figure]:
    return await row(sizes)


def _to_json(row: str, line: Figure) -> str:
    return json.dumps({"row": row, **line._asdict(), "ratio": line.ratio})


def _to_text(line: Figure) -> str:
    ratio = f"{line.ratio:.2f} x" if line.ratio is not None else ""
    spread = f"{_number(line.spread[0])} to {_number(line.spread[1])}" if line.spread else ""
    beside = f"{line.beside} ({_number(line.reference)})" if line.reference is not None else ""
    end = "  ".join(part for part in (spread, line.note) if part)
    return _COLUMNS.format(line.what, _number(line.value), line.unit, ratio, beside, end).rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
