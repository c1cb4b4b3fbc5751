"""The same rows written bare: what one store has and another has not, as statements for `executemany`.

Nothing here knows the schema, so that it compares whatever the store writes.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tocsin.adapters.stores.sqlite.connection import transaction

Row = tuple[Any, ...]

# Whose turn it is to write: no part of what is written.
_LEFT_OUT = ("nodes", "parts")


class Statement(NamedTuple):
    """One statement, and the values that it is executed for."""

    text: str
    rows: list[Row]


class Table(NamedTuple):
    """A table: its columns, those that name a row, and the place of the one that names its page, if any does."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    page: int | None


def tables(db: sqlite3.Connection) -> list[Table]:
    """All tables of a store but those of leases."""
    names = db.execute("select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name")
    return [_table(db, name) for (name,) in names.fetchall() if name not in _LEFT_OUT]


def _table(db: sqlite3.Connection, name: str) -> Table:
    info = db.execute(f"pragma table_info({name})").fetchall()
    columns = tuple(row[1] for row in info)
    keys = tuple(row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]) or ("rowid",)
    page = "id" if name == "pages" else "page_id"
    return Table(name, columns, keys, columns.index(page) if page in columns else None)


def differences(
    ours: sqlite3.Connection, bare: sqlite3.Connection, batches: Sequence[Sequence[int]]
) -> list[list[Statement]]:
    """What makes the rows of `bare` those of `ours`, for each batch of pages: new rows, and the columns that changed.

    What belongs to no page of a batch stands in the first one.
    """
    found: list[list[Statement]] = [[] for _ in batches]
    place_of = {page_id: place for place, batch in enumerate(batches) for page_id in batch}
    for table in tables(ours):
        wanted, there = _rows(ours, table, list(place_of)), _rows(bare, table, list(place_of))
        for place, keys in _by_batch(table, {**there, **wanted}, place_of).items():
            found[place] += _statements(
                table,
                {key: wanted[key] for key in keys if key in wanted},
                {key: there[key] for key in keys if key in there},
            )
    return found


def write_bare(db: sqlite3.Connection, statements: Iterable[Statement], *, durable: bool) -> None:
    """Write them in one transaction, with nothing read and nothing decided."""
    with transaction(db, durable=durable):
        for statement in statements:
            db.executemany(statement.text, statement.rows)


def demand_equal(ours: sqlite3.Connection, bare: sqlite3.Connection) -> None:
    """Raise unless every row of every table is the same in both."""
    for table in tables(ours):
        query = f"select {', '.join(table.columns)} from {table.name} order by {', '.join(table.keys)}"  # noqa: S608 - names are the schema's
        if any(a != b for a, b in zip(ours.execute(query), bare.execute(query), strict=True)):
            raise RuntimeError(f"the rows of {table.name} are others than the bare ones")


def _rows(db: sqlite3.Connection, table: Table, page_ids: Sequence[int]) -> dict[Row, Row]:
    """Rows by key: those of these pages; all of a table that does not say which page a row belongs to: it is small."""
    query = f"select {', '.join((*table.keys, *table.columns))} from {table.name}"  # noqa: S608 - names are the schema's
    place: tuple[str, ...] = ()
    if table.page is not None:
        query += f" where {table.columns[table.page]} in (select value from json_each(?))"  # noqa: S608 - names are the schema's
        place = (json.dumps(page_ids),)
    keys = len(table.keys)
    return {row[:keys]: row[keys:] for row in db.execute(query, place)}


def _by_batch(table: Table, rows: Mapping[Row, Row], place_of: Mapping[int, int]) -> dict[int, list[Row]]:
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for key, row in rows.items():
        found[place_of.get(row[table.page], 0) if table.page is not None else 0].append(key)
    return found


def _statements(table: Table, wanted: Mapping[Row, Row], there: Mapping[Row, Row]) -> list[Statement]:
    name, key = table.name, " and ".join(f"{key} = ?" for key in table.keys)
    other = {key: row for key, row in wanted.items() if key in there and there[key] != row}
    places = [at for at in range(len(table.columns)) if any(row[at] != there[key][at] for key, row in other.items())]
    settings = ", ".join(f"{table.columns[at]} = ?" for at in places)
    names, marks = ", ".join(table.columns), ", ".join("?" * len(table.columns))
    found = [
        Statement(
            f"update {name} set {settings} where {key}",  # noqa: S608 - names are the schema's
            [(*(row[at] for at in places), *which) for which, row in other.items()],
        ),
        Statement(
            f"insert into {name} ({names}) values ({marks})",  # noqa: S608 - names are the schema's
            [row for which, row in wanted.items() if which not in there],
        ),
        Statement(
            f"delete from {name} where {key}",  # noqa: S608 - names are the schema's
            [which for which in there if which not in wanted],
        ),
    ]
    return [statement for statement in found if statement.rows]
