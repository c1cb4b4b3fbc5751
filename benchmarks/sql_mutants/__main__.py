"""Mutation tests of the store's named statements: `./dev mutants sql [AREA...]`.

The tests of the store run once to record which of them use which statement. Then each mutant runs against the tests of
its statement. Survivors are printed: conditions that no test needs, or whose effect cannot be seen from outside.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.sql_mutants.mutate import mutants
from tocsin.adapters.stores.sql.statements import areas, queries

_ROOT = Path(__file__).resolve().parents[2]
_TESTS = ("tests/contract", "tests/adapters/sqlite")
# Mutants are of SQLite's statements: PostgreSQL finds its own by them.
_CHOSEN = ("-k", "not postgresql")
_OPTIONS = (
    "-q", "-x", "-p", "benchmarks.sql_mutants.plugin", "-p", "no:cacheprovider", "--hypothesis-profile=again", *_CHOSEN
)  # fmt: skip
_DEADLINE_S = 900
_PASSED, _FAILED = 0, 1
_ALWAYS = "always"
"""Stands for all tests: the statement is looked up when its module is imported; see the plugin."""


class Trial(NamedTuple):
    """One mutant to be tried."""

    area: str
    name: str
    number: int
    what: str

    @property
    def query(self) -> str:
        """Which query it breaks."""
        return f"{self.area}:{self.name}"


def main() -> int:
    """Try the mutants; returns 1 if the tests fail without any."""
    parser = argparse.ArgumentParser(prog="./dev mutants sql", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"files of queries: {', '.join(areas())}")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try only N mutants, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    unknown = set(options.areas) - set(areas())
    if unknown:
        parser.error(f"no queries of {', '.join(sorted(unknown))}; choose of {', '.join(areas())}")
    users = _record(_ROOT / "build" / "sql-users.json")
    if users is None:
        return 1
    trials = [trial for area in options.areas or areas() for trial in _trials(area)]
    if options.sample:
        trials = Random(options.seed).sample(trials, min(options.sample, len(trials)))  # noqa: S311 - a sample
    unused = {trial.query for trial in trials if not users.get(trial.query)}
    with ThreadPoolExecutor(options.workers) as pool:
        tried = [trial for trial in trials if trial.query not in unused]
        survived = [
            trial
            for trial, is_killed in zip(tried, pool.map(partial(_is_killed, users), tried), strict=True)
            if not is_killed
        ]
    for trial in survived:
        print(f"survived  {trial.query:<34} {trial.what}")
    for query in sorted(unused):
        print(f"no test   {query}")
    killed = len(tried) - len(survived)
    print(f"{killed} of {len(trials)} mutants killed: {100 * killed / max(len(trials), 1):.1f} %")
    return 0


def _trials(area: str) -> list[Trial]:
    return [
        Trial(area, name, number, mutant.what)
        for name, sql in queries(area).items()
        if sql.lower().startswith(("select", "update", "delete", "insert", "with"))
        for number, mutant in enumerate(mutants(sql))
    ]


def _record(out: Path) -> dict[str, list[str]] | None:
    out.parent.mkdir(exist_ok=True)
    if _pytest(_TESTS, {"SQL_RECORD": str(out)}) != _PASSED:
        print("the tests fail without any mutant; mend them first: ./dev test " + " ".join(_TESTS))
        return None
    found: dict[str, list[str]] = json.loads(out.read_text("utf-8"))
    return found


def _is_killed(users: dict[str, list[str]], trial: Trial) -> bool:
    tests = users[trial.query]
    chosen = _TESTS if _ALWAYS in tests else tuple(tests)
    status = _pytest(chosen, {"SQL_MUTANT": f"{trial.query}:{trial.number}"})
    print("." if status != _PASSED else "S", end="", flush=True, file=sys.stderr)
    return status != _PASSED


def _pytest(tests: tuple[str, ...], environ: dict[str, str]) -> int:
    command = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
    try:
        return subprocess.run(  # noqa: S603 - our own command
            command, cwd=_ROOT, env=os.environ | environ, timeout=_DEADLINE_S, check=False, capture_output=True
        ).returncode
    except subprocess.TimeoutExpired:
        # A mutant that loops forever counts as killed.
        return _FAILED


if __name__ == "__main__":
    sys.exit(main())
