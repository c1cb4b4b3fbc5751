"""`tocsin backup` and `tocsin restore`: everything comes back except the access of people."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Installation
from tocsin.adapters.stores.sqlite.place import EngineLock
from tocsin.spec.topper.table import RECORD_0

A, B = "https://example.org/a", "https://example.org/b"
ABSENT = " ".join([""] * 49)
TABLE = f'{RECORD_0}1 {A} {ABSENT}2026-11-21T09:00:00Z "mine"\n2 {B} {ABSENT}2026-11-21T10:00:00.5Z "yours"\n'


@pytest.fixture
def copy(installation: Installation) -> Path:
    """A backup of a store with two pages."""
    installation.call("table", "import", installation.write("states.txt", TABLE))
    file = installation.folder / "copy.db"
    assert installation.call("store", "backup", str(file)).status == 0
    return file


def exported(installation: Installation) -> tuple[str, str]:
    return installation.call("table", "export").out, installation.call("watch", "export", "--format", "csv").out


def folder_of(installation: Installation) -> set[str]:
    return {file.name for file in installation.folder.iterdir()}


def store_of(installation: Installation) -> Path:
    return installation.folder / "tocsin.db"


def test_a_backup_is_restored_to_an_identical_export(installation: Installation, copy: Path) -> None:
    before = exported(installation)
    installation.call("watch", "clear", "--yes")
    installation.call("watch", "add", "--no-check", "https://example.net/other")

    answer = installation.call("store", "restore", "--replace", "--yes", str(copy))

    (record,) = answer.records
    assert (answer.status, record["pages"], record["migrated_from"]) == (0, 2, None)
    assert exported(installation) == before
    assert installation.call("store", "check").status == 0


def test_the_store_that_was_replaced_is_kept_with_all_that_was_in_it(installation: Installation, copy: Path) -> None:
    installation.call("watch", "clear", "--yes")
    installation.call("watch", "add", "--no-check", "https://example.net/other")

    aside = installation.call("store", "restore", "--replace", "--yes", str(copy)).records[0]["aside"]

    kept = installation.call("--store", f"sqlite:{aside}", "watch", "export")
    assert kept.out == "https://example.net/other\n"


def test_where_there_is_no_store_one_is_made(tmp_path: Path, installation: Installation, copy: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = Installation(tmp_path / "elsewhere")
    other.configure("")

    answer = other.call("store", "restore", str(copy))

    assert (answer.status, answer.records[0]["aside"]) == (0, None)
    assert exported(other) == exported(installation)
    assert (store_of(other).stat().st_mode & 0o777) == 0o600


def test_a_restoring_that_failed_leaves_a_place_without_a_store_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = Installation(tmp_path / "elsewhere")
    other.configure("")
    (tmp_path / "bad.db").write_text("this is none")

    assert other.call("store", "restore", str(tmp_path / "bad.db")).status == 3

    assert other.call("watch", "add", "--no-check", "https://example.net/").status == 0


def test_what_a_restoring_that_was_killed_left_behind_goes_with_the_next(
    installation: Installation, copy: Path
) -> None:
    for name in ("tocsin.db.123.part", "tocsin.db.123.part-journal", "tocsin.db.mine.part"):
        (installation.folder / name).touch()

    installation.call("store", "restore", "--replace", "--yes", str(copy))

    assert {name for name in folder_of(installation) if ".part" in name} == {"tocsin.db.mine.part"}


def test_a_store_is_never_replaced_unasked(installation: Installation, copy: Path) -> None:
    before = store_of(installation).read_bytes()

    unsaid = installation.call("store", "restore", str(copy))
    unasked = installation.call("store", "restore", "--replace", str(copy))

    assert (unsaid.status, unasked.status) == (3, 2)
    assert "give --replace, which keeps it aside" in unsaid.err
    assert "--yes" in unasked.err
    assert store_of(installation).read_bytes() == before


def test_beside_an_engine_nothing_is_restored(installation: Installation, copy: Path) -> None:
    lock = EngineLock(str(store_of(installation)))
    try:
        answer = installation.call("store", "restore", "--replace", "--yes", str(copy))
    finally:
        lock.release()

    assert answer.status == 3
    assert f"process {os.getpid()} is working on this store" in answer.err


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def turn_bits(file: Path) -> None:
    body = bytearray(file.read_bytes())
    for place in range(4096 + 8, len(body), 4096):
        body[place : place + 40] = b"\xa5" * 40
    file.write_bytes(body)


def lose_a_row(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("delete from states where id = (select max(id) from states)")


def replace_by_text(file: Path) -> None:
    file.write_bytes(b"not a database at all" * 100)


def replace_by_another(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        db.execute("create table t (x)")
        db.commit()


def make_newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("pragma user_version = 999")


def make_empty(file: Path) -> None:
    file.write_bytes(b"")


DAMAGE = {
    truncate: "cut off",
    turn_bits: "damaged",
    lose_a_row: "the backup is damaged",
    replace_by_text: "no backup of a store; name another file",
    replace_by_another: "a database of another program",
    make_newer: "of version 999, this program knows",
    make_empty: "no backup of a store",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_backup_that_is_none_is_refused_and_nothing_is_changed(
    installation: Installation, copy: Path, damage: object
) -> None:
    before, names = exported(installation), folder_of(installation)
    assert callable(damage)
    damage(copy)

    checked = installation.call("store", "check", str(copy))
    answer = installation.call("store", "restore", "--replace", "--yes", str(copy))

    assert (answer.status, checked.status in {1, 3}) == (3, True)
    assert DAMAGE[damage] in answer.err
    assert exported(installation) == before
    assert folder_of(installation) <= names | {"tocsin.db-wal", "tocsin.db-shm", "tocsin.db.lock"}


def test_a_backup_that_is_not_there_is_refused(installation: Installation) -> None:
    answer = installation.call("store", "restore", str(installation.folder / "nothing.db"))

    assert answer.status == 3
    assert "nothing.db: No such file or directory" in answer.err


def test_the_store_itself_is_no_backup_of_it(installation: Installation, copy: Path) -> None:
    assert copy.exists()

    answer = installation.call("store", "restore", "--replace", "--yes", str(store_of(installation)))

    assert answer.status == 3
    assert "this is the store itself" in answer.err


@pytest.mark.usefixtures("copy")
def test_a_plain_copy_with_its_log_beside_it_is_restored_whole(installation: Installation) -> None:
    plain = installation.folder / "plain.db"
    with closing(sqlite3.connect(store_of(installation))) as db:
        db.execute("pragma wal_autocheckpoint = 0")
        db.execute("update pages set text = 'in the log' where id = 1")
        db.commit()
        for ending in ("", "-wal"):
            shutil.copy(f"{store_of(installation)}{ending}", f"{plain}{ending}")
    installation.call("watch", "clear", "--yes")

    installation.call("store", "restore", "--replace", "--yes", str(plain))

    assert "in the log" in exported(installation)[1]


def test_a_damaged_store_is_moved_aside_as_it_is(installation: Installation, copy: Path) -> None:
    before = exported(installation)
    replace_by_text(store_of(installation))

    answer = installation.call("store", "restore", "--replace", "--yes", str(copy))

    aside = answer.records[0]["aside"]
    assert (installation.folder / aside).read_bytes().startswith(b"not a database")
    assert exported(installation) == before


def test_a_store_that_somebody_has_open_is_not_replaced(installation: Installation, copy: Path) -> None:
    with closing(sqlite3.connect(store_of(installation), isolation_level=None)) as db:
        db.execute("begin")
        db.execute("select count(*) from pages").fetchone()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tocsin.adapters.stores.BUSY", timedelta())
            answer = installation.call("store", "restore", "--replace", "--yes", str(copy))

    assert answer.status == 3
    assert "another process has this store open" in answer.err


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond this, as a full disk would not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("command", [("backup", "other.db"), ("restore", "copy.db", "--replace", "--yes")])
def test_a_full_disk_leaves_everything_as_it_was(
    installation: Installation, copy: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy.parent)
    before = exported(installation)

    with at_most(64 * 1024):
        answer = installation.call("store", *command)

    assert answer.status == 3
    assert "disk" in answer.err or "space" in answer.err
    assert exported(installation) == before
    assert not [name for name in folder_of(installation) if name.endswith(".part") or name == "other.db"]


def test_a_backup_that_is_made_while_others_write_is_sound(installation: Installation, copy: Path) -> None:
    stopped = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(store_of(installation), timeout=10, isolation_level=None)) as db:
            while not stopped.is_set():
                db.execute("update pages set text = 'again' || random()")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        answer = installation.call("store", "backup", "--verify", str(copy.with_name("busy.db")))
    finally:
        stopped.set()
        writer.join()

    assert (answer.status, answer.records[0]["verified"], answer.records[0]["pages"]) == (0, True, 2)


def test_a_backup_into_a_folder_is_named_by_its_time(installation: Installation, copy: Path) -> None:
    (copy.parent / "backups").mkdir()

    (record,) = installation.call("store", "backup", str(copy.parent / "backups")).records

    (file,) = (copy.parent / "backups").iterdir()
    assert record["backup"] == str(file)
    assert file.match("tocsin-????????T??????Z.db")


def test_rotation_keeps_the_last_of_the_pattern_and_touches_nothing_else(
    installation: Installation, copy: Path
) -> None:
    folder = copy.parent / "backups"
    folder.mkdir()
    old = [f"day-202{year}-0{year}-01.db" for year in (3, 1, 2, 4)]
    others = ["day-2021-01-01.db.gz", "mine.db", "day-21-01-01.db"]
    for name in (*old, *others):
        (folder / name).write_bytes(b"x")
    (folder / "day-2020-01-01.db").mkdir()

    answer = installation.call("store", "backup", "--keep", "3", str(folder / "day-%Y-%m-%d.db"))

    (record,) = answer.records
    left = {file.name for file in folder.iterdir()}
    assert record["verified"]
    assert sorted(record["removed"]) == [str(folder / name) for name in sorted(old)[:2]]
    assert left == {*sorted(old)[2:], *others, "day-2020-01-01.db", record["backup"].rpartition("/")[2]}


def test_rotation_needs_a_name_that_says_when(installation: Installation, copy: Path) -> None:
    plain = installation.call("store", "backup", "--keep", "3", str(copy.with_name("x.db")))
    odd = installation.call("store", "backup", str(copy.with_name("x-%j.db")))

    assert (plain.status, odd.status) == (2, 2)
    assert "a name with the time" in plain.err
    assert "unknown part %j; use" in odd.err


def stands(installation: Installation) -> dict[str, Any]:
    return {record["name"]: record["state"] for record in installation.call("token", "list").records}


def backed_up(installation: Installation, folder: Path) -> str:
    file = str(folder / "copy.db")
    assert installation.call("store", "backup", file).status == 0
    return file


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_token_that_was_revoked_since_the_backup_stays_revoked(
    installation: Installation, tmp_path: Path, *, is_damaged: bool
) -> None:
    installation.call("token", "add", "left", "--scope", "admin")
    installation.call("token", "add", "stays", "--scope", "admin")
    copy = backed_up(installation, tmp_path)
    installation.call("token", "revoke", "left")
    if is_damaged:
        (installation.folder / "tocsin.db").write_bytes(b"no store at all" * 500)

    answer = installation.call("store", "restore", "--replace", "--yes", copy)

    assert answer.status == 0
    # Who was sent away is known only to the store that is replaced.
    assert stands(installation) == {"left": "in force" if is_damaged else "revoked", "stays": "in force"}


def test_a_backup_of_before_the_first_token_does_not_open_the_service(
    installation: Installation, tmp_path: Path
) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/")
    copy = backed_up(installation, tmp_path)
    installation.call("token", "add", "ops", "--scope", "admin")

    installation.call("store", "restore", "--replace", "--yes", copy)

    assert stands(installation) == {"ops": "in force"}


@pytest.fixture
def picture(installation: Installation) -> Path:
    """The file of a picture that is kept of a page of the store."""
    installation.call("table", "import", installation.write("states.txt", TABLE))
    png = b"a picture"
    name = sha256(png).hexdigest()
    with closing(sqlite3.connect(store_of(installation))) as db, db:
        db.execute(
            "insert into pictures (page_id, at, by_check, digest, width, height, bytes) values (1, 0, 0, ?, 1, 1, 9)",
            (name,),
        )
    folder = installation.folder / "tocsin.db.pictures"
    folder.mkdir()
    (folder / f"{name}.png").write_bytes(png)
    return folder / f"{name}.png"


def test_a_backup_says_how_many_pictures_are_not_in_it(installation: Installation, picture: Path) -> None:
    (record,) = installation.call("store", "backup", str(installation.folder / "copy.db")).records

    assert (record["pictures"], record["pictures_in"]) == (1, str(picture.parent))


def test_a_picture_whose_file_is_gone_is_found_by_the_check(installation: Installation, picture: Path) -> None:
    assert installation.call("store", "check").status == 0
    picture.unlink()

    answer = installation.call("store", "check")

    assert answer.status == 1
    assert "1 of 1 files are missing" in answer.records[0]["finding"]


def test_pruning_removes_the_files_of_pictures_that_no_page_has_any_more(
    installation: Installation, picture: Path
) -> None:
    orphan = picture.with_name(f"{'0' * 64}.png")
    orphan.write_bytes(b"of a page that was removed")
    os.utime(orphan, (1, 1))

    installation.call("store", "prune", "--yes")

    assert (picture.exists(), orphan.exists()) == (True, False)
