"""Where a store may lie, and who holds it."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tocsin.adapters.stores import note_backup
from tocsin.adapters.stores.sqlite.place import (
    EngineLock,
    StoreFiles,
    demand_no_remains,
    file_system_of,
    is_held,
    is_network,
    make_file,
    refuse_network,
)
from tocsin.errors import StoreError, StoreLocked

MOUNTS = r"""22 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 28 0:35 / /mnt/office rw shared:20 - nfs4 server:/export rw
41 40 0:36 / /mnt/office/local rw shared:21 - tmpfs tmpfs rw
42 28 0:37 / /mnt/my\040share rw - cifs //server/share rw
43 28 0:38 / /mnt/over rw - ext4 /dev/vdb rw
44 43 0:39 / /mnt/over rw master:3 propagate_from:2 - fuse.sshfs me@server: rw
a line that nobody understands
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "ext4"),
        ("/var/lib/tocsin", "ext4"),
        ("/mnt/office", "nfs4"),
        ("/mnt/office/a/b", "nfs4"),
        ("/mnt/officer", "ext4"),
        ("/mnt/office/local", "tmpfs"),
        ("/mnt/my share/deep", "cifs"),
        ("/mnt/over/there", "fuse.sshfs"),
    ],
)
def test_a_folders_file_system_is_that_of_its_nearest_mount(folder: str, kind: str) -> None:
    assert file_system_of(folder, MOUNTS) == kind


def test_without_a_mount_nothing_is_known() -> None:
    assert file_system_of("/srv", "") == ""


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuse.glusterfs", "ceph"])
def test_network_file_systems_are_known(kind: str) -> None:
    assert is_network(kind)


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuse.fuse-overlayfs", "fuseblk", ""]
)
def test_local_file_systems_are_known(kind: str) -> None:
    assert not is_network(kind)


def test_a_store_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"40 28 0:35 / {tmp_path} rw - nfs4 server:/export rw\n")
    monkeypatch.setattr("tocsin.adapters.stores.sqlite.place._MOUNTS", mounts)

    with pytest.raises(StoreError, match="a nfs4 file system, whose locks cannot be relied on; name a file on a local"):
        refuse_network(str(tmp_path / "tocsin.db"))


def test_without_proc_a_place_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.adapters.stores.sqlite.place._MOUNTS", tmp_path / "nothing")

    refuse_network(str(tmp_path / "tocsin.db"))


def test_a_lock_names_its_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "tocsin.db")
    lock = EngineLock(path)

    with pytest.raises(StoreLocked) as refused:
        EngineLock(path)

    assert refused.value.holder == os.getpid()
    lock.release()


def test_a_lock_that_was_released_can_be_taken(tmp_path: Path) -> None:
    path = str(tmp_path / "tocsin.db")
    assert not is_held(path)
    lock = EngineLock(path)
    assert is_held(path)

    lock.release()
    lock.release()

    assert not is_held(path)
    EngineLock(path).release()


def test_a_look_at_the_lock_keeps_no_engine_out(tmp_path: Path) -> None:
    path = str(tmp_path / "tocsin.db")
    EngineLock(path).release()
    for _ in range(50):
        assert not is_held(path)
        EngineLock(path).release()


def test_a_lock_in_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file or directory; make the folder writable"):
        EngineLock(str(tmp_path / "nowhere" / "tocsin.db"))


if Path("/dev/full").exists():  # it stands in for a disk without a free byte

    def test_a_lock_on_a_full_disk_says_so_and_lets_go(tmp_path: Path) -> None:
        lock = tmp_path / "tocsin.db.lock"
        lock.symlink_to("/dev/full")

        with pytest.raises(StoreError, match=r"tocsin\.db\.lock: No space left on device; free some space"):
            EngineLock(str(tmp_path / "tocsin.db"))

        assert "/dev/full" not in open_files()


def open_files() -> set[str]:
    """What this process has open, by where it leads; how much that is may change at any moment."""
    found = set()
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(str(each.readlink()))
    return found


def test_a_lock_holds_this_pid_and_nothing_of_a_longer_one_before(tmp_path: Path) -> None:
    file = tmp_path / "tocsin.db.lock"
    file.write_text("99999999999999\n")

    lock = EngineLock(str(tmp_path / "tocsin.db"))

    assert file.read_text() == f"{os.getpid()}\n"
    lock.release()


def test_a_store_that_cannot_be_made_is_named_with_the_mend() -> None:
    # A folder in which nobody may make a file, whoever runs this.
    with pytest.raises(StoreError, match=r"/proc/tocsin\.db: .*; make the folder writable for this user"):
        make_file("/proc/tocsin.db")


def test_a_lock_file_that_was_removed_lets_no_second_engine_in(tmp_path: Path) -> None:
    path = str(tmp_path / "tocsin.db")
    make_file(path)
    lock = EngineLock(path)
    Path(f"{path}.lock").unlink()

    with pytest.raises(StoreLocked):
        EngineLock(path)

    lock.release()
    EngineLock(path).release()


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_second_name_of_a_store_lets_no_second_engine_in(tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    path, other = tmp_path / "tocsin.db", tmp_path / "other.db"
    make_file(str(path))
    link(path, other)
    lock = EngineLock(str(path))

    with pytest.raises(StoreLocked):
        EngineLock(str(other))

    lock.release()


def test_a_lock_file_that_was_removed_or_replaced_is_made_anew(tmp_path: Path) -> None:
    path, file = str(tmp_path / "tocsin.db"), tmp_path / "tocsin.db.lock"
    make_file(path)
    lock = EngineLock(path)
    assert not lock.renew()

    file.unlink()
    assert lock.renew()
    assert file.read_text() == f"{os.getpid()}\n"
    file.rename(tmp_path / "aside")
    file.touch()
    assert lock.renew()

    assert not lock.renew()
    assert is_held(path)
    lock.release()


def test_a_lock_file_that_another_process_holds_for_a_moment_is_left_to_it(tmp_path: Path) -> None:
    path, file = str(tmp_path / "tocsin.db"), tmp_path / "tocsin.db.lock"
    make_file(path)
    lock = EngineLock(path)
    file.unlink()
    with file.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not lock.renew()

    assert lock.renew()
    lock.release()


def test_a_lock_of_a_store_that_never_came_to_be_can_be_forgotten(tmp_path: Path) -> None:
    lock = EngineLock(str(tmp_path / "tocsin.db"))

    lock.release(forget=True)

    assert list(tmp_path.iterdir()) == []


def store_files(path: Path) -> StoreFiles:
    """Files as those of an open store."""
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").write_text("here")
    return StoreFiles(str(path))


def test_files_that_stay_are_no_fault_whatever_is_written_into_them(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    files = store_files(path)
    path.write_text("more")

    assert files.fault() is None


@pytest.mark.parametrize(
    ("gone", "told", "keeps_log"),
    [
        (("",), "tocsin.db: the store was moved or removed while in use; put back the file", True),
        (("", "-wal"), "tocsin.db: the store was moved or removed", True),
        (("", "-wal", "-shm"), "tocsin.db: the store was moved or removed", False),
        (("-wal",), "tocsin.db-wal: removed while the store was in use", True),
        (("-shm",), "tocsin.db-shm: removed while the store was in use", False),
        (("-wal", "-shm"), "tocsin.db-shm: removed while the store was in use", False),
    ],
)
def test_files_that_are_gone_are_named(tmp_path: Path, gone: tuple[str, ...], told: str, *, keeps_log: bool) -> None:
    path = tmp_path / "tocsin.db"
    files = store_files(path)
    for ending in gone:
        Path(f"{path}{ending}").rename(tmp_path / f"aside{ending}")

    fault = files.fault()

    assert fault is not None
    assert told in str(fault)
    assert fault.keeps_log is keeps_log


@pytest.mark.parametrize(("ending", "keeps_log"), [("", True), ("-wal", False), ("-shm", False)])
def test_files_that_were_replaced_are_named(tmp_path: Path, ending: str, *, keeps_log: bool) -> None:
    path = tmp_path / "tocsin.db"
    files = store_files(path)
    new = tmp_path / "new"
    new.write_text("here")
    new.rename(f"{path}{ending}")

    fault = files.fault()

    assert fault is not None
    assert f"tocsin.db{ending}: " in str(fault)
    assert "replaced" in str(fault)
    assert fault.keeps_log is keeps_log


def test_a_place_without_remains_is_fit_for_a_new_store(tmp_path: Path) -> None:
    demand_no_remains(str(tmp_path / "tocsin.db"))


@pytest.mark.parametrize("is_empty", [True, False])
@pytest.mark.parametrize("beside", [".lock", "-wal", ".before-7.v6", ".replaced-20260101T000000Z", ".backup"])
def test_a_store_that_is_gone_is_told_from_one_that_never_was(tmp_path: Path, beside: str, *, is_empty: bool) -> None:
    path = tmp_path / "tocsin.db"
    Path(f"{path}{beside}").write_text("something")
    if is_empty:
        path.touch()

    with pytest.raises(StoreError, match=rf"there was one: .*{re.escape(beside)} is beside it; .* restore a backup"):
        demand_no_remains(str(path))


def test_the_last_backup_is_named_where_a_store_is_gone(tmp_path: Path) -> None:
    path, backup = tmp_path / "tocsin.db", tmp_path / "elsewhere" / "monday.db"
    backup.parent.mkdir()
    backup.touch()
    note_backup(f"sqlite:{path}", str(backup), 1)

    with pytest.raises(StoreError, match=f"tocsin store restore {backup}"):
        demand_no_remains(str(path))
