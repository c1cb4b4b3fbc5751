"""What things cost, beside what people would use instead: `./dev bench [--size] [--json] [--pages [DIR]] [ROW...]`.

Figures are medians of rounds that alternate with what they are compared with, in one run; see docs/speed.md. The table
is for people; the same, with what one must know of machine and tools, is written to build/bench.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import uvloop

from benchmarks.bench import nginx, pages, report, signals, silent
from benchmarks.bench.measure import LARGE, TINY, WHOLE, Figure, NotMeasured, Sizes
from benchmarks.bench.rows import ROWS


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows named, or all of the run; print a table, or a line of JSON for each figure."""
    options = _options(arguments)
    sizes = TINY if options.tiny else LARGE if options.size else WHOLE
    rows = {name: row.measure for name, row in ROWS.items()}
    if options.pages is not None:
        folder = Path(options.pages) if options.pages else None
        of_a_folder = {
            "pages": partial(pages.measure, folder=folder),
            "signals": partial(signals.measure, folder=folder),
            "silent": partial(silent.measure, folder=folder),
        }
        rows |= of_a_folder
        options.rows = [name for name in options.rows if name in of_a_folder] or ["pages"]
    meant = {name: row for name, row in ROWS.items() if not (options.others and row.is_own)}
    whole = [name for name, row in meant.items() if options.tiny or row.budget(size=options.size) is not None]
    chosen = options.rows or whole
    told = report.Report(as_json=options.json, verbose=options.verbose)
    if nginx.find() is None:
        told.note(f"nginx is not there: the site is an origin of our own, in Python; {nginx.HOW_TO_GET}")
    for name in chosen:
        began = time.monotonic()
        try:
            figures = uvloop.run(_measure(rows[name], sizes))
        except NotMeasured as why:
            told.note(f"{name} was not measured: {why}")
            continue
        budget_s = ROWS[name].budget(size=options.size)
        if options.tiny:
            # They mean nothing, so nothing is to be held against them.
            figures, budget_s = [line._replace(aim=None) for line in figures], None
        told.row(name, figures, time.monotonic() - began, budget_s)
    told.close(None if options.tiny else Path(options.out))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--size", action="store_true", help="the rows with up to 1,000,000 pages; an hour at most")
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--verbose", action="store_true", help="also how the programs of others are set")
    parser.add_argument("--out", default="build/bench.json", metavar="FILE", help="where everything is written as JSON")
    parser.add_argument(
        "--pages",
        nargs="?",
        const="",
        metavar="DIR",
        help="only bytes to state, on the .html files below DIR; the rows signals and silent too, if named",
    )
    parser.add_argument(
        "--tiny", action="store_true", help="just enough of every row to see that it works; the figures mean nothing"
    )
    parser.add_argument(
        "--others", action="store_true", help="the rows that need programs of others; each of the rest is a test"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    return options


async def _measure(row: Callable[[Sizes], Awaitable[list[Figure]]], sizes: Sizes) -> list[Figure]:
    return await row(sizes)


if __name__ == "__main__":
    sys.exit(main())
