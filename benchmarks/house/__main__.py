"""How large and how tangled the code is: `./dev house [--json]`.

Nothing here passes or fails. The figures show where reading takes longer than it should, and whether a change made that
better: run it before and after. Lines and words come from the source text, the files of a way from a traced run of it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.house import text, ways

_ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Measure this checkout; print a table, or a line of JSON for each figure."""
    parser = argparse.ArgumentParser(prog="./dev house", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--no-ways", action="store_true", help="leave out what takes a run of the program")
    options = parser.parse_args()
    for name, value in _figures(with_ways=not options.no_ways):
        print(json.dumps({"figure": name, "value": value}) if options.json else f"{name:<58} {value:>10,}")


def _figures(*, with_ways: bool) -> Iterator[tuple[str, float]]:
    service = text.read(_ROOT / "service")
    tests = text.read(_ROOT / "tests")
    yield "service: lines", sum(file.lines for file in service)
    yield "service: files", len(service)
    yield "service: median lines of a file", text.median_lines(service)
    yield "service: largest file, lines", max(file.lines for file in service)
    yield "service: longest function, lines", max(file.longest_function for file in service)
    yield "service: # comments, % of code lines", text.comment_share(service)
    yield "service: modules with one importer, in their own folder", len(text.splinters(service))
    yield "service: class names in more than one file", len(text.repeated_classes(service))
    yield "tests: lines", sum(file.lines for file in tests)
    yield (
        "tests: lines for each line of service",
        round(sum(file.lines for file in tests) / sum(file.lines for file in service), 2),
    )
    yield "benchmarks: lines", sum(file.lines for file in text.read(_ROOT / "benchmarks"))
    yield "whoever, nobody, somebody, anybody: service", text.count_vague(_ROOT, "service")
    yield "whoever, nobody, somebody, anybody: docs and the like", text.count_vague(_ROOT, "docs", "config", "*.md")
    if with_ways:
        with tempfile.TemporaryDirectory(prefix="tocsin-house-") as folder:
            for name, files in ways.follow(Path(folder)).items():
                yield f"files entered: {name}", len(files)


if __name__ == "__main__":
    main()
