"""Break pure code on purpose, and see that a test notices: `./dev mutants [topper|engine] [--sample N]`.

mutmut wants the package beside its tests and leaves broken copies of both, so it works in a folder of its own below
build/. What survives is printed with the share of mutants that were killed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

_ROOT: Final = Path(__file__).resolve().parents[1]
_COPIED: Final = ("benchmarks", "config", "docs", "migrations")
# mutmut's exit codes of tests that noticed a mutant: failed, or a mutant that loops or crashes.
_KILLED: Final = {1, 3, -24, 24, 36, 152, 255, -11, -9}
_NOT_TRIED: Final = None
_NO_TESTS: Final = 33


class Area(NamedTuple):
    """Pure code, and the tests that must notice its mutants."""

    code: tuple[str, ...]
    tests: tuple[str, ...]


_AREAS: Final = {
    "topper": Area(("tocsin/spec/topper/*",), ("tests/spec/topper",)),
    "engine": Area(
        (
            "tocsin/engine/judging/*",
            "tocsin/engine/alerting/backoff.py",
            "tocsin/engine/fetchers/suspects.py",
            "tocsin/engine/rendering/awareness.py",
            "tocsin/engine/scheduling/agenda.py",
        ),
        (
            "tests/cli/test_sequences_command.py",
            "tests/engine/judging",
            "tests/engine/rendering",
            "tests/engine/visiting/test_conditions.py",
            "tests/engine/visiting/test_standing_in.py",
            "tests/engine/visiting/test_visit.py",
            "tests/engine/alerting/test_alert_receivers.py",
            "tests/engine/alerting/test_backoff.py",
            "tests/engine/fetchers/test_suspects.py",
            "tests/engine/scheduling/test_agenda.py",
            "tests/engine/scheduling/test_host_capacity.py",
        ),
    ),
    "routing": Area(("tocsin/engine/alerting/routing.py",), ("tests/engine/alerting/test_routing.py",)),
}


def main() -> int:
    """Try the mutants of an area; returns 1 if its tests fail without any."""
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__)
    parser.add_argument("area", nargs="?", choices=_AREAS, default="topper")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only N mutants, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="processes; default: one per CPU")
    options = parser.parse_args()
    folder = _ROOT / "build" / "mutants"
    _prepare(folder, _AREAS[options.area])
    children = ("--max-children", str(options.workers)) if options.workers else ()
    names: list[str] = []
    if options.sample:
        # mutmut makes all mutants before it complains that this pattern matches none of them.
        _mutmut(folder, *children, "*no such mutant*")
        known = sorted(_exit_codes(folder))
        names = Random(options.seed).sample(known, min(options.sample, len(known)))  # noqa: S311 - a sample
    status = _mutmut(folder, *children, *names)
    return _report(folder, names) or status


def _prepare(folder: Path, area: Area) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(_ROOT / "service" / "tocsin", folder / "tocsin")
    for name in (*_COPIED, "tests"):
        shutil.copytree(_ROOT / name, folder / name)
    settings = (_ROOT / "pyproject.toml").read_text("utf-8")
    for key, values in (
        ("only_mutate", area.code),
        ("also_copy", _COPIED),
        ("pytest_add_cli_args_test_selection", area.tests),
    ):
        settings = re.sub(rf"^{key} = .*$", f"{key} = {json.dumps(values)}", settings, flags=re.MULTILINE)
    (folder / "pyproject.toml").write_text(settings, "utf-8")


def _mutmut(folder: Path, *arguments: str) -> int:
    command = [sys.executable, "-m", "mutmut", "run", *arguments]
    return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603 - our own command


def _exit_codes(folder: Path) -> dict[str, int | None]:
    """Return each mutant's exit code by its name, None for one that was not tried."""
    found: dict[str, int | None] = {}
    for path in (folder / "mutants").rglob("*.meta"):
        found |= json.loads(path.read_text("utf-8"))["exit_code_by_key"]
    return found


def _report(folder: Path, names: list[str]) -> int:
    codes = _exit_codes(folder)
    tried = {name: codes[name] for name in names or codes if codes[name] is not _NOT_TRIED}
    survived = sorted(name for name, code in tried.items() if code not in _KILLED)
    for name in survived:
        print(f"{'no test ' if tried[name] == _NO_TESTS else 'survived'}  {name}")
    print(f"show one: cd {folder.relative_to(_ROOT)} && ../../.venv/bin/python -m mutmut show NAME")
    killed = len(tried) - len(survived)
    print(f"{killed} of {len(tried)} mutants killed: {100 * killed / max(len(tried), 1):.1f} %")
    return 0 if tried else 1


if __name__ == "__main__":
    sys.exit(main())
