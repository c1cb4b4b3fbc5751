"""Opening a store on PostgreSQL: what is made, what is refused, and in which words."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest

from tests.postgres import postgres
from tocsin.adapters.stores import is_there, migrate, open_store
from tocsin.adapters.stores.postgres import connection
from tocsin.errors import StoreError, StoreLocked, StoreTooNew, UsageError
from tocsin.model import NewPage, PageFilter

PAGE = NewPage("https://one.example/", "https://one.example/", "one.example", 7)


@pytest.fixture
def empty() -> Iterator[str]:
    """A database without a store."""
    server = postgres()
    server.command("create database empty")
    yield server.url("empty")
    server.command("drop database empty with (force)")


def run(url: str, *commands: str) -> None:
    """Run commands in a database, as no part of the program does."""
    with psycopg.connect(url, autocommit=True) as db:
        for command in commands:
            db.execute(command.encode())


async def test_a_store_is_made_by_the_first_who_writes_and_two_at_once_make_one(empty: str) -> None:
    assert not is_there(empty)

    stores = await asyncio.gather(open_store(empty, engine=False), open_store(empty, engine=False))
    added = [await store.add_pages([PAGE], 0) for store in stores]
    for store in stores:
        await store.close()

    assert is_there(empty)
    assert added == [[1], [None]]
    assert [step async for step in migrate(empty)] == [(0, 0)]


async def test_where_there_is_no_store_none_is_made_for_a_reader(empty: str) -> None:
    with pytest.raises(StoreError, match="there is no store yet; `tocsin watch add URL` makes one"):
        await open_store(empty, engine=False, create=False)


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (["create table invoices (id int)"], "a database of another program; name another one"),
        (["alter database empty set default_transaction_read_only = on"], "the server is read-only; name the primary"),
        (["revoke create on schema public from public", "alter schema public owner to plain"], "make it the owner"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_the_mend(empty: str, commands: list[str], said: str) -> None:
    run(empty, "create role plain", *[command.replace("to plain", "to pg_database_owner") for command in commands])
    url = empty
    if "revoke" in commands[0]:
        run(empty, "create role poor login")
        url = empty.replace("tocsin@", "poor@")
    try:
        with pytest.raises(StoreError, match=said):
            await open_store(url, engine=True)
    finally:
        for role in ("plain", "poor"):
            postgres().command(f"drop role if exists {role}")


async def test_a_store_has_the_parts_that_it_was_made_with(empty: str) -> None:
    async with await open_store(empty, engine=True, parts=16) as store:
        me = await store.enter("a", timedelta(seconds=10), {})
        assert me is not None
        assert len(await store.take_parts(me, 100, expired=False)) == 16

    with pytest.raises(StoreError, match=r"made with 16 parts, not 64; set store\.parts = 16"):
        await open_store(empty, engine=True)
    # Who does not share the parts need not know their number.
    async with await open_store(empty, engine=False):
        pass


async def test_a_newer_store_is_left_alone(empty: str) -> None:
    async with await open_store(empty, engine=False):
        run(empty, "update store_version set version = 999")

    with pytest.raises(StoreTooNew, match="the store is of version 999"):
        await open_store(empty, engine=True)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://kim@127.0.0.1:1/none", r"127\.0\.0\.1:1/none: the server cannot be reached; is it running"),
        ("postgresql://kim:s3cret@127.0.0.1:1/none", r"^postgresql://kim@127"),
        ("postgresql://[", "cannot be read; write postgresql://USER@HOST"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_without_a_password(url: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as caught:
        await open_store(url, engine=False)

    assert "s3cret" not in str(caught.value)


async def test_a_database_that_is_not_there_and_one_in_another_encoding_are_named_with_the_mend() -> None:
    with pytest.raises(StoreError, match="there is no such database; make it: create database"):
        await open_store(postgres().url("nowhere"), engine=False)

    postgres().command("create database latin encoding 'LATIN1' locale 'C' template template0")
    try:
        with pytest.raises(StoreError, match="the encoding of the database is LATIN1; make one in UTF8"):
            await open_store(postgres().url("latin"), engine=False)
    finally:
        postgres().command("drop database latin")


def test_a_password_goes_to_the_server_and_into_no_message() -> None:
    place = connection.PostgresPlace("postgresql://kim@db.example/tocsin", timedelta(), password="s3cret")

    assert psycopg.conninfo.conninfo_to_dict(place.conninfo)["password"] == "s3cret"
    assert place.name == "postgresql://kim@db.example/tocsin"


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tocsin.adapters.stores.postgres.store", None)
    monkeypatch.delattr("tocsin.adapters.stores.postgres.store", raising=False)

    with pytest.raises(StoreError, match=r"PostgreSQL needs psycopg.*pip install 'tocsin\[postgresql\]'"):
        is_there("postgresql://kim@db.example/tocsin")


async def test_a_server_that_is_too_old_is_refused(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "OLDEST", 99)

    with pytest.raises(StoreError, match=r"PostgreSQL \d+ is too old; Tocsin needs 99 or later"):
        await open_store(empty, engine=False)


async def test_a_store_goes_on_after_its_server_was_killed_and_started_again(empty: str) -> None:
    async with await open_store(empty, engine=True, busy=timedelta(seconds=5)) as store:
        await store.add_pages([PAGE], 0)
        assert await store.count_pages(PageFilter()) == 1
        await asyncio.to_thread(postgres().restart)

        with pytest.raises(StoreError):
            await store.count_pages(PageFilter())

        assert await store.count_pages(PageFilter()) == 1
        assert not await store.keep_place()


async def test_backups_are_left_to_the_tools_of_postgresql(empty: str) -> None:
    async with await open_store(empty, engine=False) as store:
        with pytest.raises(UsageError, match="pg_dump"):
            await store.backup("copy.db")


async def test_several_engines_work_on_one_database(empty: str) -> None:
    async with await open_store(empty, engine=True) as first, await open_store(empty, engine=True) as second:
        assert not await second.is_held()
        me = await first.enter("a", timedelta(seconds=60), {})
        assert me is not None
        assert await second.is_held()

        # What changes the schema works alone.
        with pytest.raises(StoreLocked, match="another process is working on this store"):
            [step async for step in migrate(empty)]
