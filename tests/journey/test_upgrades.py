"""Stores of earlier versions and a program of today, whose newer migrations are made up: the journey of an update."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.adapters.sqlite.older_stores import FIRST, NEWEST, add_migrations, make_store
from tests.cli.calling import Installation
from tests.journey.running import RARELY, Home, Service
from tests.origin import Origin, Page

_LEARN = """
from pathlib import Path
from tocsin.adapters.stores.sqlite import store
store.shipped = lambda _: Path({folder!r})
"""
A, B = "https://one.example/a", "https://one.example/b"


@pytest.fixture(autouse=True)
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the migrations that the program knows."""
    return add_migrations(tmp_path / "program", monkeypatch)


@pytest.fixture(params=range(FIRST, NEWEST), ids="version {}".format)
def version(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def old(tmp_path: Path, version: int) -> Installation:
    """An installation whose store is of that version."""
    made = Installation(tmp_path)
    made.configure("")
    make_store(tmp_path / "tocsin.db", version, A, B)
    return made


def test_an_old_store_is_named_with_the_mend_and_stays_as_it_is(old: Installation, version: int) -> None:
    listed, doctor = old.call("watch", "list"), old.call("doctor", "--no-settings")

    assert (listed.status, doctor.status) == (3, 1)
    assert f"the store is of version {version}, this program needs {NEWEST}; run `tocsin store migrate`" in listed.err
    assert any("tocsin store migrate" in f"{record['finding']} {record['mend']}" for record in doctor.records)
    with closing(sqlite3.connect(old.folder / "tocsin.db")) as db:
        assert db.execute("pragma user_version").fetchone() == (version,)


def test_migrating_keeps_all_pages_and_a_copy_of_the_store_as_it_was(old: Installation, version: int) -> None:
    answer = old.call("store", "migrate")

    (record,) = answer.records
    listed = [(page["url"], page["text"], page["settings"]) for page in old.call("watch", "list").records]
    assert (answer.status, record["migrations"]) == (0, NEWEST - version)
    assert listed == [(A, "mine", {"tell": "major"}), (B, None, {})]
    assert old.call("store", "check").status == 0
    with closing(sqlite3.connect(record["kept"][0])) as db:
        assert db.execute("pragma user_version").fetchone() == (version,)
        assert db.execute("select count(*) from pages").fetchone() == (2,)


def test_no_copy_is_kept_where_that_is_asked_for(old: Installation) -> None:
    answer = old.call("store", "migrate", "--no-backup")

    assert answer.records[0]["kept"] == []
    assert not list(old.folder.glob("*.before-*"))


def test_without_room_for_the_copy_nothing_is_migrated(old: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))

    answer = old.call("store", "migrate")

    assert answer.status == 3
    assert "--no-backup" in answer.err
    assert old.call("watch", "list").status == 3


def test_a_backup_of_an_old_version_is_restored_and_migrated(old: Installation, version: int) -> None:
    (old.folder / "tocsin.db").rename(old.folder / "old.db")
    before = (old.folder / "old.db").read_bytes()

    answer = old.call("store", "restore", str(old.folder / "old.db"))

    assert answer.records[0]["migrated_from"] == version
    assert old.call("watch", "export").out == f"{A}\n{B}\n"
    assert (old.folder / "old.db").read_bytes() == before


async def test_the_service_of_today_runs_on_a_store_of_the_first_version(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]], known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The service is a process of its own: it learns the made-up migrations when its interpreter starts.
    (known / "sitecustomize.py").write_text(_LEARN.format(folder=str(known.parent)), "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(known))
    site.pages["/a"] = Page("<meta name=created content=2026-01-01><title>A</title>")
    make_store(home.folder / "tocsin.db", FIRST, site.url("/a"))
    home.configure(RARELY)

    service = await start()
    await home.hears("engine.started")

    assert await home.outcome(site.url("/a"), "first") == "first"
    assert await service.stop() == 0
    kept = list(home.folder.glob(f"tocsin.db.before-{NEWEST}.v{FIRST}"))
    assert len(kept) == 1
    told = await home.hears("store.migrating")
    assert (told["before"], told["after"], told["copy"]) == (FIRST, NEWEST, str(kept[0]))
