"""`copy_store`: a whole store goes from SQLite to PostgreSQL and back, or nothing does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from tests.claiming import claim_all
from tests.contract.desk import DAY, LEASE, NOW, Desk, new_page, url_of
from tests.contract.neighbours import furnish
from tests.postgres import postgres
from tocsin.adapters.stores import copy_store, is_there, open_store
from tocsin.adapters.stores.copying import StoreCopier
from tocsin.errors import StoreError, StoreLocked, UsageError
from tocsin.model import PageFilter

# Rights of a running engine; and what SQLite itself keeps.
APART: Final = frozenset({"nodes", "parts", "leases", "sqlite_sequence"})
# What the two halves have nothing in, where a row of ones would not do.
REST: Final = {
    "words": "insert into words values (1369, x'00')",
    "saved_entries": "insert into saved_entries values ('route', 'r', 1, '{}', 1, 5, 'ops')",
    "channel_mutes": "insert into channel_mutes values ('one', null, 5, 'ops')",
    "sightings": "insert into sightings values (1, x'01', 1, 5, 9, 1)",
    "audit": "insert into audit values (7, 5, 'ops', 'what', '{}', 'r')",
    "activity": "insert into activity values (300, '{}', 1, 2, 3, 4, '{}', 5, 6)",
}


ONES: Final = {"INTEGER": "1", "TEXT": "'{}'", "BLOB": "x'01'"}


@pytest.fixture
async def furnished(tmp_path: Path) -> Desk:
    """A store on SQLite with something in every table; no engine works on it."""
    desk = await Desk.at(tmp_path)
    await furnish(desk)
    for name, rows in rows_of(desk).items():
        if not rows:
            kinds = desk.behind.look("select type from pragma_table_info(?)", name)
            ones = ", ".join(ONES[kind] for (kind,) in kinds)
            desk.behind.alter(REST.get(name) or f"insert into {name} values ({ones})")  # noqa: S608 - our own names
    await desk.store.close()
    return desk


@pytest.fixture
def empty() -> Iterator[str]:
    """A database without a store."""
    server = postgres()
    server.command("create database copied")
    yield server.url("copied")
    server.command("drop database copied with (force)")


async def copy(source: str, target: str) -> dict[str, int]:
    """Copy a store; returns the rows of each table."""
    steps = [step async for step in copy_store(source, target)]
    return steps[-1].tables


def rows_of(desk: Desk) -> dict[str, list[tuple[Any, ...]]]:
    """All that a store on SQLite holds, by table."""
    names = [name for (name,) in desk.behind.look("select name from sqlite_schema where type = 'table'")]
    query = "select * from "
    return {name: sorted(desk.behind.look(query + name), key=repr) for name in names if name not in APART}


async def test_a_store_goes_to_postgresql_and_back_without_losing_a_value(
    furnished: Desk, empty: str, tmp_path: Path
) -> None:
    before = rows_of(furnished)
    assert [name for name, rows in before.items() if not rows] == []

    there = await copy(furnished.behind.url, empty)
    (tmp_path / "back").mkdir()
    back = await copy(empty, url_of(tmp_path / "back"))

    assert there == back == {name: len(rows) for name, rows in before.items()}
    assert rows_of(Desk(furnished.store, furnished.claim, tmp_path / "back")) == before


async def test_an_engine_goes_on_with_the_copy_and_gives_no_number_twice(furnished: Desk, empty: str) -> None:
    # Numbers of removed pages are not given again: alerts name them.
    async with await open_store(furnished.behind.url, engine=True) as store:
        (last,) = await store.add_pages([new_page("https://gone.example/")], NOW)
        await store.remove_pages([last or 0])
    await copy(furnished.behind.url, empty)

    async with await open_store(empty, engine=True) as store:
        claim = await claim_all(store, "engine")
        assert claim is not None
        hosts = [host async for host, _ in await store.host_agenda(claim, since_revision=None)]
        due = await store.due_pages(claim, hosts, NOW + 9 * DAY, per_host=100)
        page = await store.page("https://one.example/page")
        added = await store.add_pages([new_page("https://new.example/")], NOW)
        assert await store.check() == []

    assert len(due) > 1
    assert page is not None
    assert (added, last) == ([(last or 0) + 1], 15)


async def test_a_text_that_postgresql_cannot_keep_is_changed_and_counted(furnished: Desk, empty: str) -> None:
    furnished.behind.alter("update pages set text = 'a' || char(0) || 'b' where id in (1, 2)")

    steps = [step async for step in copy_store(furnished.behind.url, empty)]

    assert steps[-1].replaced == 2
    with psycopg.connect(empty) as db:
        assert db.execute("select distinct text from pages where id < 3").fetchall() == [("a\ufffdb",)]


async def test_the_schedule_is_that_of_the_source(furnished: Desk, empty: str) -> None:
    due = furnished.behind.look("select host_id, next_at, id from pages where next_at is not null and paused = 0")

    await copy(furnished.behind.url, empty)

    with psycopg.connect(empty) as db:
        assert sorted(db.execute("select host_id, next_at, id from due").fetchall()) == sorted(due)


async def test_a_target_that_is_not_empty_is_refused_and_stays_as_it_is(furnished: Desk, empty: str) -> None:
    async with await open_store(empty, engine=False) as store:
        await store.add_pages([new_page("https://mine.example/")], NOW)

    for source, target in ((furnished.behind.url, empty), (empty, furnished.behind.url)):
        with pytest.raises(StoreError, match="there is a store already; a copy needs an empty place"):
            await copy(source, target)

    async with await open_store(empty, engine=False) as store:
        assert await store.count_pages(PageFilter()) == 1
    assert len(rows_of(furnished)["pages"]) > 1


async def test_the_log_of_a_store_that_is_gone_is_no_empty_place(furnished: Desk, empty: str, tmp_path: Path) -> None:
    await copy(furnished.behind.url, empty)
    (tmp_path / "back.db-wal").write_bytes(b"log")

    with pytest.raises(StoreError, match="there is a store already"):
        await copy(empty, f"sqlite:{tmp_path / 'back.db'}")


async def test_a_database_of_another_program_is_no_empty_place(furnished: Desk, empty: str) -> None:
    with psycopg.connect(empty) as db:
        db.execute("create table invoices (id int)")

    with pytest.raises(StoreError, match="a database of another program"):
        await copy(furnished.behind.url, empty)


@pytest.mark.parametrize("way", ["to PostgreSQL", "to SQLite"])
async def test_a_copy_that_is_interrupted_leaves_nothing(
    furnished: Desk, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    there, back = (furnished.behind.url, empty), (empty, f"sqlite:{tmp_path / 'back.db'}")
    if way == "to SQLite":
        await copy(*there)
    source, target = there if way == "to PostgreSQL" else back

    def give_up(copier: StoreCopier, found: dict[str, int]) -> None:
        assert found["pages"] == copier.tables["pages"]
        copier.give_up()
        copier._note(1, 2)

    with monkeypatch.context() as patch:
        patch.setattr(StoreCopier, "_compare", give_up)
        with pytest.raises(StoreError, match="the copy was given up; nothing of it is left"):
            await copy(source, target)

    assert not is_there(target)
    assert not list(tmp_path.glob("back.db*"))
    assert (await copy(source, target))["pages"] == 14


async def test_a_copy_whose_server_is_killed_leaves_nothing_and_can_be_made_again(
    furnished: Desk, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(_copier: StoreCopier, _found: dict[str, int]) -> None:
        postgres().restart()

    with monkeypatch.context() as patch:
        patch.setattr(StoreCopier, "_compare", kill)
        with pytest.raises(StoreError):
            await copy(furnished.behind.url, empty)

    assert not is_there(empty)
    assert (await copy(furnished.behind.url, empty))["pages"] == 14


async def test_what_a_copy_that_was_killed_left_goes_with_the_next(furnished: Desk, empty: str, tmp_path: Path) -> None:
    await copy(furnished.behind.url, empty)
    for name in ("back.db.123.part", "back.db.lock"):
        (tmp_path / name).touch()

    await copy(empty, f"sqlite:{tmp_path / 'back.db'}")

    assert {file.name for file in tmp_path.glob("back.db*")} == {"back.db", "back.db.lock"}


async def test_a_store_that_an_engine_works_on_is_not_copied(furnished: Desk, empty: str) -> None:
    async with await open_store(furnished.behind.url, engine=True):
        with pytest.raises(StoreLocked, match="stop it first"):
            await copy(furnished.behind.url, empty)

    assert not is_there(empty)


async def test_a_store_whose_nodes_are_alive_is_not_copied(furnished: Desk, empty: str, tmp_path: Path) -> None:
    await copy(furnished.behind.url, empty)
    async with await open_store(empty, engine=False) as store:
        me = await store.enter("one", LEASE, {})
        assert me is not None
        (tmp_path / "back").mkdir()
        with pytest.raises(StoreLocked):
            await copy(empty, url_of(tmp_path / "back"))
        await store.leave(me)

        assert (await copy(empty, url_of(tmp_path / "back")))["pages"] == 14


async def test_a_copy_has_the_parts_that_are_asked_for(furnished: Desk, empty: str) -> None:
    async for _ in copy_store(furnished.behind.url, empty, parts=16):
        pass

    async with await open_store(empty, engine=True, parts=16) as store:
        assert await store.parts_alone() == 16


async def test_a_store_that_is_not_sound_is_not_copied(furnished: Desk, empty: str) -> None:
    furnished.behind.alter("update groups set pages = 77 where id = 1")

    with pytest.raises(StoreError, match=r"would not be sound, so nothing is kept of it: group main: it has not 77"):
        await copy(furnished.behind.url, empty)

    assert not is_there(empty)


async def test_two_stores_of_one_kind_are_left_to_their_own_tools(furnished: Desk, empty: str) -> None:
    for url in (furnished.behind.url, empty):
        with pytest.raises(UsageError, match="one of the two must be"):
            await copy(url, url)


async def test_a_place_without_a_store_is_named(empty: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store to copy"):
        await copy(f"sqlite:{tmp_path / 'none.db'}", empty)
    with pytest.raises(StoreError, match="there is no store yet"):
        await copy(empty, f"sqlite:{tmp_path / 'none.db'}")

    assert not list(tmp_path.iterdir())
