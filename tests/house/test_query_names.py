"""Queries are found by their names: each has one, and each is used."""

from __future__ import annotations

import re
from typing import Final

from tests.house.sources import ROOT
from tocsin.adapters.stores.sql.statements import areas, queries

CODE: Final = ROOT / "service/tocsin/adapters/stores"


def test_every_query_is_used() -> None:
    code = "".join(path.read_text("utf-8") for path in CODE.rglob("*.py"))
    sql = "".join(path.read_text("utf-8") for path in CODE.rglob("*.sql"))
    # Names that are put together in the code: by_FILTER, covered_by_SCOPE, forget_WHAT, and the invariants' own.
    composed = re.compile(r"by_\w+|covered_by_\w+|forget_\w+|in_\w+|of_\w+")

    unused = [
        f"{area}.{name}"
        for area in areas()
        for name in queries(area)
        if f'"{name}"' not in code
        and f"'{name}'" not in code
        and f"{{{name}}}" not in sql
        and not composed.fullmatch(name)
    ]

    assert unused == []


def test_every_query_is_named_once_in_its_file() -> None:
    for path in CODE.rglob("*.sql"):
        names = re.findall(r"^-- name: (\w+)$", path.read_text("utf-8"), re.MULTILINE)
        assert len(names) == len(set(names)), path.name
