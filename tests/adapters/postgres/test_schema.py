"""What the schema of PostgreSQL promises: functions that agree with Python, and checks that touch no index."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.desk import DAY, Desk
from tests.postgres import postgres
from tocsin.adapters.stores.postgres.connection import PostgresPlace
from tocsin.adapters.stores.postgres.session import POSTGRES, PostgresSession, statement
from tocsin.adapters.stores.sql.statements import areas, queries
from tocsin.adapters.stores.sql.values import to_us
from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.adapters.stores.sqlite.store import apply_migrations
from tocsin.configuration.convert import parse_span
from tocsin.model import phase_of

CLUSTER = Path(__file__).parents[3] / "docs" / "cluster.md"
SQL_OF_DOCS = re.compile(r"```sql\n(.*?)```", re.DOTALL)
EXACT = 2**32 * 1_000_000
"""Spans in microseconds below this are exact where Python counts them in seconds."""


@pytest.fixture(scope="module")
def db() -> Iterator[psycopg.Connection[Any]]:
    """A connection to a new store."""
    url = postgres().take()
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection
    postgres().give_back(url)


# What PostgreSQL has beside, each with its reason in the migration.
ITS_OWN = {
    *(("due", column, True) for column in ("host_id", "next_at", "id")),
    *(("store_version", column, True) for column in ("one", "version")),
    ("pages", "is_off", True),
}


def test_both_databases_have_the_same_tables_columns_and_indexes(db: psycopg.Connection[Any]) -> None:
    columns = set(
        db.execute(
            "select table_name, column_name, is_nullable = 'NO' from information_schema.columns "
            "where table_schema = current_schema()"
        )
    )
    indexes = set(
        db.execute(
            "select relname from pg_class join pg_index on indexrelid = pg_class.oid "
            "where relnamespace = current_schema()::regnamespace "
            "and not exists (select 1 from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))"
        )
    )

    with closing(connect(":memory:", busy=timedelta(), writes=True)) as sqlite:
        list(apply_migrations(sqlite, ":memory:"))
        same = {
            (table, column, bool(is_set))
            for table, column, is_set in sqlite.execute(
                'select t.name, c.name, c."notnull" or c.pk > 0 from pragma_table_list t '
                "join pragma_table_xinfo(t.name) c where t.type = 'table' and t.name not like 'sqlite_%'"
            )
        }
        same_indexes = set(sqlite.execute("select name from sqlite_schema where type = 'index' and sql is not null"))

    assert columns ^ same == ITS_OWN
    assert indexes ^ same_indexes == {("pages_due",)}


@given(page=st.integers(1, 2**62))
def test_the_phase_of_a_page_is_that_of_the_model(db: psycopg.Connection[Any], page: int) -> None:
    assert db.execute("select phase_of(%s::bigint)", [page]).fetchone() == (phase_of(page),)


SPANS = st.one_of(
    st.lists(
        st.tuples(st.integers(0, 10**12), st.sampled_from(["ms", "s", "m", "h", "d", "w"])).map(
            lambda part: f"{part[0]}{part[1]}"
        ),
        max_size=4,
    ).map("".join),
    st.text(st.sampled_from("0123456789mswdh -.\n"), max_size=8),
)


@given(text=SPANS)
def test_a_duration_is_read_as_settings_are(db: psycopg.Connection[Any], text: str) -> None:
    try:
        us: int | None = to_us(parse_span(text))
    except ValueError:
        us = None

    (found,) = db.execute("select span_us(%s)", [text]).fetchone() or (None,)

    # Beyond that, what Python refuses is longer than any interval.
    assert found == us or max(found or EXACT, us or EXACT) >= EXACT


def test_the_server_understands_every_statement(db: psycopg.Connection[Any]) -> None:
    session = PostgresSession(db)
    whole = ("select", "insert", "update", "delete", "with")

    for area in areas():
        for text in queries(area, POSTGRES).values():
            if text.lstrip().startswith(whole):
                session.execute("select 1")
                session._prepare(text)


async def test_a_check_that_finds_nothing_new_writes_to_no_index_of_pages(desk: Desk) -> None:
    await desk.watch(*(f"https://h{number % 20}.example/{number}" for number in range(PAGES)))
    await _check_all(desk)
    # The second check says "unchanged" for the first time, which the lists of pages are by.
    await _check_all(desk)
    before = await _updates(desk)

    for _ in range(ROUNDS):
        await _check_all(desk)

    updated, hot = (now - then for now, then in zip(await _updates(desk), before, strict=True))
    assert updated == hot == PAGES * ROUNDS == 10_000


PAGES, ROUNDS, APART = 2000, 5, 40


async def _check_all(desk: Desk) -> None:
    """Check each page once, in batches as they come in life: seldom all neighbours at once."""
    desk.now += DAY
    tasks = sorted(await desk.due(per_host=PAGES), key=lambda task: task.page_id)
    assert len(tasks) == PAGES
    for first in range(APART):
        results = [desk.result(task, "1", next_at=desk.now + DAY) for task in tasks[first::APART]]
        await desk.store.commit(desk.claim, results)


async def _updates(desk: Desk) -> tuple[int, int]:
    """Count the updates of pages so far, and those of them that touched no index."""
    # A session has reported all that it did when it has ended.
    await desk.store.close()
    again = await desk.again()
    desk.store, desk.claim = again.store, again.claim
    ((updated, hot),) = desk.behind.look(
        "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'pages'"
    )
    return updated, hot


def test_pages_and_unchanged_checks_are_written_by_a_statement_for_a_batch() -> None:
    batches = {
        ("watchlist", "insert_page"),
        ("watchlist", "insert_host"),
        ("work", "note_same"),
        ("work", "note_same_anew"),
    }

    found = {(area, name) for area in areas() for name, text in queries(area).items() if statement(text).takes_columns}

    assert found == batches


# Tables as large as these are never read whole by what each check, or the screen of one page, needs.
HOT = {
    "due_by_host": "due_pkey",
    "due_of_hosts": "due_pkey",
    "tasks_of_parts": "pages_pkey",
    "note_same": "pages_pkey",
    "note_same_anew": "pages_pkey",
    "note_same_at_once": "pages_pkey",
    "note_same_anew_at_once": "pages_pkey",
    "standing": "pages_pkey",
    "known": "pages_by_key",
    "states": "states_pkey",
}


@pytest.mark.parametrize("pages", [0, 3000])
@pytest.mark.parametrize(("name", "index"), HOT.items())
async def test_a_hot_statement_uses_its_index_also_where_it_was_planned_before_there_were_pages(
    desk: Desk, name: str, index: str, pages: int
) -> None:
    await desk.watch(*(f"https://h{number % 20}.example/{number}" for number in range(pages)))
    place = PostgresPlace(desk.behind.url, timedelta(seconds=1))
    with place.connect(writes=True) as connection:
        if pages:
            connection.execute("analyze")
        session = PostgresSession(connection)
        all_of_them = {**queries("work", POSTGRES), **queries("work"), **queries("watchlist"), **queries("browsing")}
        prepared = session._prepare(all_of_them[name])
        nothing = ", ".join(["null"] * len(prepared.types))
        plan = connection.execute(f"explain execute {prepared.key.decode()} ({nothing})".encode()).fetchall()

    text = "\n".join(line for (line,) in plan)
    assert re.search(rf"using {index} on .*\n +Index Cond", text), text
    assert not re.search(r"Seq Scan on (pages|due|states|hosts)", text), text


async def test_a_page_without_its_place_in_the_schedule_is_found(desk: Desk) -> None:
    await desk.watch("https://one.example/", "https://two.example/")
    desk.behind.alter("update due set next_at = next_at + 1 where id = 2")

    found = await desk.store.check()
    desk.behind.alter("update due set next_at = next_at - 1 where id = 2")

    assert [line.partition(",")[0] for line in found] == ["page 2: its place in the schedule"] * 2


async def test_the_schedule_can_be_divided_by_host_as_the_documentation_says(desk: Desk) -> None:
    urls = [f"https://h{number}.example/{page}" for number in range(40) for page in range(2)]
    ids = await desk.watch(*urls)
    dividing = next(text for text in SQL_OF_DOCS.findall(CLUSTER.read_text("utf-8")) if "partition by hash" in text)
    with psycopg.connect(desk.behind.url, autocommit=True) as db:
        db.execute(textwrap.dedent(dividing))
        try:
            await desk.edit(ids[0], paused=True)
            await desk.store.remove_pages(ids[1:2])
            for _ in range(2):
                desk.now += DAY
                tasks = await desk.due()
                await desk.store.commit(desk.claim, [desk.result(task, "1") for task in tasks])
            divisions = db.execute("select count(distinct tableoid), count(*) from due").fetchone()
            found = await desk.store.check()
        finally:
            db.execute(_WHOLE)

    assert divisions is not None
    assert divisions[0] > 1
    assert divisions[1] == len(tasks) == len(urls) - 2
    assert found == []


_WHOLE = """
begin;
alter table due rename to due_divided;
create table due (host_id bigint not null, next_at bigint not null, id bigint not null)
  with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
insert into due select * from due_divided;
drop table due_divided;
alter table due add primary key (host_id, next_at, id);
commit;
"""
