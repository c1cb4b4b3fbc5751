"""A simulated year of adaptive checking beside a fixed interval: `python -m benchmarks.freshness [--pages N]`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.freshness.plot import draw
from benchmarks.freshness.report import table
from benchmarks.freshness.simulation import simulate


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, print the tables, and draw the plot where one is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.freshness", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same pages")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="they change the time it takes only")
    parser.add_argument("--svg", type=Path, help="where to draw the plot")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    result = simulate(given.pages, given.days, given.seed, processes=given.processes)
    print(table(result))
    print(f"\n{time.monotonic() - began:.0f} s", file=sys.stderr)
    if given.svg is not None:
        given.svg.write_text(draw(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
