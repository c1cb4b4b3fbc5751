"""How figures are shown: a table for people, lines of JSON for programs, and one file with everything."""

from __future__ import annotations

import json
import os
import platform
import textwrap
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.bench import nginx
from benchmarks.bench.measure import Figure

_COLUMNS = "{:<60} {:>9} {:<11} {:>8} {:<34} {:<16} {}"
_LIBRARIES = ("aiohttp", "uvloop", "selectolax", "httptools", "lxml", "html5lib")


class Report:
    """Takes the figures row by row, shows each at once, and writes all of them in the end."""

    def __init__(self, *, as_json: bool, verbose: bool = False) -> None:
        self._as_json, self._verbose = as_json, verbose
        self._began = time.monotonic()
        self._figures: list[dict[str, Any]] = []
        self._took: dict[str, float] = {}
        self._notes: list[str] = []
        if not as_json:
            print(_COLUMNS.format("what", "median", "", "ratio", "beside", "aim", "lowest to highest").rstrip())

    def note(self, text: str) -> None:
        """Keep something that one must know; it stands below the table."""
        self._notes.append(text)

    def row(self, name: str, figures: Sequence[Figure], took_s: float, budget_s: float | None) -> None:
        """Show a row's figures; say so where it took longer than it may."""
        self._took[name] = round(took_s, 1)
        if budget_s is not None and took_s > budget_s:
            self.note(f"{name} took {took_s:.0f} s, and should take {budget_s:.0f} s at most")
        for figure in figures:
            told = to_json(name, figure)
            self._figures.append(told)
            print(json.dumps(told) if self._as_json else to_text(figure), flush=True)
            if self._verbose and figure.settings and not self._as_json:
                print(textwrap.indent(figure.settings.rstrip(), "    "))

    def close(self, path: Path | None) -> None:
        """Tell what else there is to know, and write everything to a file."""
        seconds = time.monotonic() - self._began
        if not self._as_json:
            for note in self._notes:
                print(note)
            missed = [told["what"] for told in self._figures if told["met"] is False]
            print(f"{seconds:.0f} s; aims missed: {len(missed)} of {sum(t['met'] is not None for t in self._figures)}")
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            told = {"machine": machine(), "tools": {"nginx": nginx.version()}}
            whole = {**told, "seconds": self._took, "notes": self._notes, "figures": self._figures}
            path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def to_json(row: str, figure: Figure) -> dict[str, Any]:
    """A figure as an object."""
    aim = str(figure.aim) if figure.aim else None
    return {"row": row, **figure._asdict(), "aim": aim, "ratio": figure.ratio, "met": figure.is_met}


def to_text(figure: Figure) -> str:
    """A figure as a line of the table."""
    ratio = f"{figure.ratio:.2f} x" if figure.ratio is not None else ""
    spread = f"{_number(figure.spread[0])} to {_number(figure.spread[1])}" if figure.spread else ""
    beside = f"{figure.beside} ({_number(figure.reference)})" if figure.reference is not None else ""
    aim = f"{figure.aim} {'met' if figure.is_met else 'MISSED'}" if figure.aim else ""
    end = "  ".join(part for part in (spread, figure.note) if part)
    return _COLUMNS.format(figure.what, _number(figure.value), figure.unit, ratio, beside, aim, end).rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
