"""The files of a store: where they may lie, the lock that one engine holds on them, and what their errors mean."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import sqlite3
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.errors import StoreError, StoreLocked, StoreLost

if TYPE_CHECKING:
    from collections.abc import Iterator


_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4"}
    | {"ocfs2", "pvfs2", "smb2", "smb3", "smbfs"}
)
# Most FUSE file systems are on another machine; these are on local disks.
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs", "fuse.bindfs", "fuse.mergerfs", "fuse.gocryptfs", "fuse.ntfs-3g"})
_ESCAPE = re.compile(r"\\([0-7]{3})")
_LOOKS, _LOOK_S = 20, 0.005
_MOUNT_POINT = 4  # the field of a line before its " - "


def refuse_network(path: str) -> None:
    """Raise StoreError if the store would lie on a network file system, where locks do not hold what they promise."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # no Linux, or no /proc: nothing to go by
        return
    kind = file_system_of(str(Path(path).resolve().parent), mounts)
    if is_network(kind):
        raise StoreError(
            f"{path}: a {kind} file system, whose locks cannot be relied on; name a file on a local disk in store.url"
        )


def is_network(kind: str) -> bool:
    """Tell whether files of this type of file system lie on another machine, as far as one can know."""
    return kind in _NETWORK or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE)


def file_system_of(folder: str, mountinfo: str) -> str:
    """Name the type of the file system that a folder lies on.

    mountinfo  as in proc(5)
    Returns    "" if no mount point fits.
    """
    longest, kind = "", ""
    for line in mountinfo.splitlines():
        mount, separator, system = line.partition(" - ")
        fields = mount.split(" ")
        if not separator or len(fields) <= _MOUNT_POINT:
            continue
        point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[_MOUNT_POINT])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        # Of two mounts on one point the later one is seen.
        if inside and len(point) >= len(longest):
            longest, kind = point, system.split(" ", 1)[0]
    return kind


def demand_no_remains(path: str) -> None:
    """Raise StoreError if a store is gone, or its file is empty, and what lies beside shows that there was one.

    A service that made a new one would go on with an empty list. SQLite itself removes the log of an empty file.
    """
    with reached(path):
        if size_of(path):
            return
        log = [f"{path}-wal"] if size_of(f"{path}-wal") else []
        copies = sorted((file for file in _copies_of(path) if file.is_file()), key=lambda file: file.stat().st_mtime)
        marks = [mark for mark in (lock_file(path), f"{path}.backup") if Path(mark).exists()]
        remains = [*log, *marks, *(str(copy) for copy in copies if copy.name.startswith(Path(path).name))]
    if not remains:
        return
    is_what = "empty (0 bytes)" if Path(path).exists() else "gone"
    copy = copies[-1] if copies else "FILE"
    raise StoreError(
        f"{path}: the store is {is_what}, but there was one: {', '.join(remains)} "
        f"{'is' if len(remains) == 1 else 'are'} beside it; put its file back, or restore a backup: "
        f"tocsin store restore {copy}; to begin with an empty list, move these files away first"
    )


def _copies_of(path: str) -> list[Path]:
    """Find what may be a copy of a store: those that Tocsin keeps beside it, and the last backup."""
    from tocsin.adapters.stores import kept_copies, last_backup  # noqa: PLC0415 - that package opens this one

    url = f"sqlite:{path}"
    noted = last_backup(url)
    return [*kept_copies(url), *([Path(noted[1])] if noted else [])]


def size_of(path: str) -> int:
    """The bytes of a file; 0 if there is none."""
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0


def make_file(path: str) -> None:
    """Make an empty file for a store, unless there is one; raises StoreError where none can be made."""
    with reached(path):
        # The watch list and its credentials are private (T64).
        Path(path).touch(0o600)


def identity_of(path: str) -> tuple[int, int] | None:
    """Return what tells a file from later ones of the same name; None if there is none."""
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


class StoreFiles:
    """The files of an open store: itself, its write-ahead log, and the index of that log.

    SQLite keeps using a file that was removed or replaced under it: what it writes from then on is lost, and another
    process that opens the store by name damages it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        with reached(path):
            self._known = {ending: identity_of(path + ending) for ending in ("", "-wal", "-shm")}

    def fault(self) -> StoreLost | None:
        """Return what happened to the files since, or None if all are the ones that were opened."""
        try:
            now = {ending: identity_of(self._path + ending) for ending in self._known}
        except OSError as exc:
            return StoreLost(f"{self._path}: cannot be reached any more: {exc.strerror}; {_AS_IT_WAS}", keeps_log=False)
        changed = [ending for ending, known in self._known.items() if known is not None and now[ending] != known]
        if not changed:
            return None
        # Where no other process can have written since, the log still goes into the store's file, wherever that is now.
        keeps_log = "-shm" not in changed and now["-wal"] in (None, self._known["-wal"])
        if "" in changed:
            did = "replaced by another file" if now[""] else "moved or removed"
            return StoreLost(f"{self._path}: the store was {did} while in use; {_AS_IT_WAS}", keeps_log=keeps_log)
        names = " and ".join(f"{self._path}{ending}" for ending in changed)
        did = "replaced" if any(now[ending] for ending in changed) else "removed"
        return StoreLost(
            f"{names}: {did} while the store was in use, of which it is a part; "
            "leave these files alone, start again, and run `tocsin store check`",
            keeps_log=keeps_log,
        )


_AS_IT_WAS = "put back the file that was there and start again, or restore a backup: tocsin store restore FILE"


class EngineLock:
    """The right to be the one engine of a store.

    It is an flock on a file beside the store, with the holder's pid inside, and another one on the store itself: the
    file beside it can be removed, and a store can have a second name. Both end with the process, however that ends.
    """

    def __init__(self, path: str) -> None:
        self._path, self._file = path, lock_file(path)
        self._fd = self._opened()
        # Closing any descriptor of the store ends SQLite's own locks in this process: this one is closed last of all.
        self._store_fd = -1
        try:
            self._take()
        except BaseException:
            self._close()
            raise

    def renew(self) -> bool:
        """Take the lock file again where it was removed or replaced; returns whether that was done."""
        with reached(self._file):
            if self._is_ours():
                return False
            fd = self._opened()
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Of another process that is about to find the store itself locked.
                os.close(fd)
                return False
            os.close(self._fd)
            self._fd = fd
            self._write_pid()
        return True

    def release(self, *, forget: bool = False) -> None:
        """Give it up; twice is once. Comes after all connections of this process to the store are closed.

        forget  remove the file, too: no store came to be there
        """
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            if forget and self._is_ours():
                Path(self._file).unlink()
            self._close()

    def _take(self) -> None:
        try:
            while not self._flock():
                # Removed while we waited for it: another process may hold its successor.
                os.close(self._fd)
                self._fd = self._opened()
            self._lock_store()
        except OSError as exc:
            raise StoreError(
                f"{self._file}: cannot be locked: {exc.strerror}; name a file on a local disk in store.url"
            ) from exc
        with reached(self._file):
            self._write_pid()

    def _flock(self) -> bool:
        """Lock the file beside the store; False if it is not the one of this name any more. Raises StoreLocked."""
        for _ in range(_LOOKS):
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if _is_alive(_read_pid(self._fd)):
                    break
                # A holder writes its pid at once: this is `is_held` having a look.
                time.sleep(_LOOK_S)
            else:
                return self._is_ours()
        raise StoreLocked(self._path, _read_pid(self._fd))

    def _lock_store(self) -> None:
        """Lock the store itself, if it is there. Raises StoreLocked."""
        try:
            self._store_fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            fcntl.flock(self._store_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreLocked(self._path, None) from None

    def _opened(self) -> int:
        with reached(self._file):
            return os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _is_ours(self) -> bool:
        held = os.fstat(self._fd)
        return identity_of(self._file) == (held.st_dev, held.st_ino)

    def _write_pid(self) -> None:
        os.ftruncate(self._fd, os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0))

    def _close(self) -> None:
        for fd in (self._fd, self._store_fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._store_fd = -1


def is_held(path: str) -> bool:
    """Tell whether an engine holds a store."""
    try:
        fd = os.open(lock_file(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # never held so far
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _is_alive(pid: int | None) -> bool:
    return pid is not None and Path(f"/proc/{pid}").exists()


def lock_file(path: str) -> str:
    """Name the file beside a store that its engine locks."""
    return f"{path}.lock"


def _read_pid(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).strip()
    return int(text) if text.isdigit() else None


# What SQLite and the system say when they cannot go on, in words that name the place and the mend.


# By the primary name of SQLite's result code; extended codes begin with it.
_MENDS = (
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "another process has kept it locked for too long; wait for it, or end it, and try again",
    ),
    (
        ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"),
        "it cannot be written; make the file and its folder writable for this user",
    ),
    (("SQLITE_NOTADB",), "this is not a database; name another file in store.url, or restore a backup"),
    (
        ("SQLITE_CORRUPT",),
        "the database is damaged; restore a backup (`tocsin store check` on a copy shows how far it goes)",
    ),
    (("SQLITE_FULL",), "the disk is full; free some space, nothing that was committed is lost"),
    (("SQLITE_IOERR",), "the disk cannot be read or written; see the system's log, and whether it is full"),
    (
        ("SQLITE_CANTOPEN",),
        "it cannot be opened; does the folder exist, may this user write there, and this process open more files?",
    ),
    (("SQLITE_NOMEM",), "there is not enough memory; free some and try again"),
)
_SYSTEM_MENDS = {
    errno.ENOSPC: "free some space, nothing that was committed is lost",
    errno.EDQUOT: "free some of this user's space, nothing that was committed is lost",
    errno.EMFILE: "raise the limit of open files of this process: ulimit -n, or LimitNOFILE= of a systemd unit",
    errno.ENFILE: "raise the limit of open files of the machine: fs.file-max",
    errno.EROFS: "name a file that can be written in store.url, or with --store",
}
_FAULT = "the program and this database do not agree; `tocsin store check` shows more, please report it"


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn the driver's errors into StoreError, naming the store and the mend."""
    try:
        yield
    except sqlite3.Error as exc:
        mend = _mend_of(exc)
        raise StoreError(f"{path}: {mend} (SQLite: {exc})", why=mend) from exc


@contextmanager
def reached(path: str) -> Iterator[None]:
    """Turn the system's errors about a file of the store into StoreError, naming the file and the mend."""
    try:
        yield
    except OSError as exc:
        mend = _SYSTEM_MENDS.get(
            exc.errno or 0, "make the folder writable for this user, or name another in store.url, or with --store"
        )
        raise StoreError(f"{path}: {exc.strerror}; {mend}", why=f"{exc.strerror}; {mend}") from exc


def _mend_of(exc: sqlite3.Error) -> str:
    name = getattr(exc, "sqlite_errorname", None) or ""
    return next((mend for codes, mend in _MENDS if name.startswith(codes)), _FAULT)
