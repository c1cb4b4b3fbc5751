"""The mutants of statements: each breaks one thing, and is a statement still."""

from __future__ import annotations

import sqlite3

import pytest

from benchmarks.sql_mutants.mutate import mutants
from tocsin.adapters.stores.sql.statements import areas, queries


def test_each_condition_is_dropped_once() -> None:
    sql = "select a from t join u on u.t = t.id where t.id = :id and (t.b = 1 or t.c = 2) order by t.id limit 1"

    dropped = [mutant.what for mutant in mutants(sql) if mutant.what.startswith("dropped")]

    assert dropped == ["dropped: u.t = t.id", "dropped: t.id = :id", "dropped: (t.b = 1 or t.c = 2)"]


def test_a_between_is_one_condition() -> None:
    found = [mutant.sql for mutant in mutants("delete from t where a between 1 and 2 and b = 3")]

    assert "delete from t where true and b = 3" in [" ".join(sql.split()) for sql in found]
    assert all("between 1 and 2" in sql or "between" not in sql for sql in found)


def test_an_order_is_reversed_in_its_first_key() -> None:
    assert [mutant.sql for mutant in mutants("select a from t order by a, b limit 1")] == [
        "select a from t order by a desc, b limit 1"
    ]
    assert [mutant.sql for mutant in mutants("select a from t order by a desc, b")] == [
        "select a from t order by a asc, b"
    ]


def test_comparisons_are_moved_and_turned() -> None:
    found = {mutant.sql for mutant in mutants("update t set a = 1 where b <= :c and d is null")}

    assert "update t set a = 1 where b < :c and d is null" in found
    assert "update t set a = 1 where b <= :c and d is not null" in found
    assert not any("set a <> 1" in sql for sql in found)


def test_a_clause_for_conflicts_is_no_condition() -> None:
    assert mutants("insert into t values (1) on conflict do nothing") == []


@pytest.mark.parametrize("area", areas())
def test_mutants_of_the_store_are_whole_statements(area: str) -> None:
    broken = [mutant for sql in queries(area).values() for mutant in mutants(sql)]

    assert [mutant.what for mutant in broken if not sqlite3.complete_statement(f"{mutant.sql};")] == []
