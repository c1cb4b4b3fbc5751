from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tocsin.spec.topper.table import RECORD_0

if TYPE_CHECKING:
    from tests.cli.calling import Installation

ABSENT = " ".join([""] * 49)
TABLE = f'{RECORD_0}1 https://example.org/a {ABSENT}2026-11-21T09:00:00Z "mine"\n'


def test_pruning_tells_what_it_forgot_by_kind(installation: Installation) -> None:
    installation.call("table", "import", installation.write("states.txt", TABLE))
    with closing(sqlite3.connect(installation.folder / "tocsin.db")) as db, db:
        db.execute(
            "insert into states (page_id, first_at, last_at, storings, in_table, fields) "
            "select page_id, 1, 2, 1, 0, fields from states"
        )

    first = installation.call("store", "prune", "--older", "1d", "--yes").records[0]
    again = installation.call("store", "prune", "--older", "1d", "--yes").records[0]

    assert (first["rows"], first["forgotten"]["states"], first["forgotten"]["alerts"]) == (1, 1, 0)
    assert (again["rows"], again["forgotten"]) == (0, {})
