"""What runs within pytest: notes which tests use which named query, or breaks one of them.

SQL_RECORD  a file: write there which tests looked up which query
SQL_MUTANT  area:name:number: the nth mutant of this query stands in its place
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import tocsin
from benchmarks.sql_mutants.mutate import mutants

ALWAYS = "always"
"""Stands for all tests: the statement is looked up when its module is imported."""

_MODULE = "tocsin.adapters.stores.sql.statements"


def _load_alone() -> ModuleType:
    """Load the module before its package, which reads queries as soon as it is imported."""
    spec = spec_from_file_location(_MODULE, Path(tocsin.__file__).parent / "adapters/stores/sql/statements.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[_MODULE] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


module = _load_alone()
_read = module.queries
_users: dict[str, set[str]] = defaultdict(set)
_current = ALWAYS


class Noted(dict[str, str]):
    """Queries of an area that note who looks them up."""

    def __init__(self, area: str, found: dict[str, str]) -> None:
        super().__init__(found)
        self._area = area

    def __getitem__(self, name: str) -> str:
        _users[f"{self._area}:{name}"].add(_current)
        return super().__getitem__(name)


def _recorded(area: str, *dialect: object) -> dict[str, str]:
    return Noted(area, _read(area, *dialect))


def _broken(area: str, *dialect: object) -> dict[str, str]:
    found = dict(_read(area, *dialect))
    broken_area, name, number = os.environ["SQL_MUTANT"].split(":")
    if area == broken_area:
        found[name] = mutants(found[name])[int(number)].sql
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note which test runs."""
    global _current  # noqa: PLW0603 - pytest gives its plugins no other place
    _current = item.nodeid
    try:
        return (yield)
    finally:
        _current = ALWAYS


def pytest_sessionfinish() -> None:
    """Write what was noted."""
    if out := os.environ.get("SQL_RECORD"):
        Path(out).write_text(json.dumps({name: sorted(users) for name, users in sorted(_users.items())}), "utf-8")


if "SQL_RECORD" in os.environ:
    module.queries = _recorded  # type: ignore[attr-defined]  # a module that was loaded by hand
elif "SQL_MUTANT" in os.environ:
    module.queries = _broken  # type: ignore[attr-defined]  # the same
