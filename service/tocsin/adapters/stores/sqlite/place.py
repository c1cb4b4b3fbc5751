"""Where a store may lie, and the lock that one engine holds on it."""

from __future__ import annotations

import fcntl
import os
import re
import time
from pathlib import Path

from tocsin.adapters.stores.sqlite.faults import reached
from tocsin.errors import StoreError, StoreLocked

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4"}
    | {"ocfs2", "pvfs2", "smb2", "smb3", "smbfs"}
)
# What goes through FUSE is mostly somebody else's disk; these lie on the machine's own.
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


def make_file(path: str) -> None:
    """Make an empty file for a store, unless there is one; raises StoreError where none can be made."""
    with reached(path):
        # What is watched, and with which credentials, is nobody else's business (T64).
        Path(path).touch(0o600)


def identity_of(path: str) -> tuple[int, int] | None:
    """Tell a file from others that come to its name later; None if there is none."""
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def demand_same(path: str, identity: tuple[int, int] | None) -> None:
    """Raise StoreError unless the file of this name still is the one that was opened."""
    with reached(path):
        if identity_of(path) != identity:
            raise StoreError(
                f"{path}: the store was moved or deleted while in use; put it back, or stop and restore a backup"
            )


class EngineLock:
    """The right to be the one engine of a store: an flock on a file beside it, with the holder's pid inside.

    It ends with the process, however that ends; the file stays, for removing it would let two hold it.
    """

    def __init__(self, path: str) -> None:
        self._file = _lock_file(path)
        with reached(self._file):
            self._fd = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            taken, holder = self._take(), _read_pid(self._fd)
        except OSError as exc:
            os.close(self._fd)
            raise StoreError(
                f"{self._file}: cannot be locked: {exc.strerror}; name a file on a local disk in store.url"
            ) from exc
        if not taken:
            os.close(self._fd)
            raise StoreLocked(path, holder)
        try:
            with reached(self._file):
                os.ftruncate(self._fd, os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0))
        except StoreError:
            os.close(self._fd)
            raise

    def _take(self) -> bool:
        for _ in range(_LOOKS):
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if _is_alive(_read_pid(self._fd)):
                    return False
                # A holder writes its pid at once: this is `is_held` having a look.
                time.sleep(_LOOK_S)
            else:
                return True
        return False

    def release(self) -> None:
        """Give it up; twice is once."""
        if self._fd >= 0:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1


def is_held(path: str) -> bool:
    """Tell whether an engine holds a store."""
    try:
        fd = os.open(_lock_file(path), os.O_RDONLY | os.O_CLOEXEC)
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


def _lock_file(path: str) -> str:
    return f"{path}.lock"


def _read_pid(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).strip()
    return int(text) if text.isdigit() else None
