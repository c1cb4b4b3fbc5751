"""Write pairs of versions of pages: `python -m benchmarks.pairs FOLDER [--seed N] [--unseen | --of PAGES]`."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pairs.mutations import mutate
from benchmarks.pairs.plan import COUNT, pairs

SEED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Write each pair into a folder of its own, and the index `pairs.csv`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to; what is there of the same names is written over")
    parser.add_argument("--seed", type=int, default=SEED, help=f"the same seed makes the same pairs; {SEED} by default")
    parser.add_argument("--count", type=int, default=COUNT, help=f"how many pairs; {COUNT} by default")
    parser.add_argument("--unseen", action="store_true", help="sites and languages that the comparing was not tried on")
    parser.add_argument("--of", type=Path, help="edits of all pages below this folder, instead of pages made up")
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as stream:
        index = csv.writer(stream)
        index.writerow(("name", "label", "kind", "size"))
        made = pairs(options.seed, options.count, unseen=options.unseen)
        for pair in made if options.of is None else mutate(options.of, options.seed):
            place = folder / pair.name
            place.mkdir(exist_ok=True)
            (place / "old.html").write_bytes(pair.old)
            (place / "new.html").write_bytes(pair.new)
            index.writerow((pair.name, pair.label, pair.kind, pair.size))
    return 0


if __name__ == "__main__":
    sys.exit(main())
