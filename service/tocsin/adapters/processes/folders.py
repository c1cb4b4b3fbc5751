"""Folders for what processes write: removed at their end, and where that was a kill, by the next that makes one."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tocsin.adapters.processes.cell import UNPRIVILEGED


@contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """Make a folder that lasts as long as the context, and remove those that processes which were killed have left.

    It belongs to the user as which a cell runs that is never root. A lock says that its process is alive.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with _locked(left) as is_ours:
            if is_ours:
                shutil.rmtree(left, ignore_errors=True)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        with _locked(folder) as is_ours:
            # Another process may have taken it for one that was left.
            if not is_ours:
                continue
            if _owner() != os.geteuid():
                os.chown(folder, _owner(), _owner())
            try:
                yield str(folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder; False: it is another process's or user's, or gone."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        yield _is_ours(descriptor)
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    found = os.fstat(descriptor)
    # One without links was removed meanwhile.
    return found.st_nlink > 0 and found.st_uid in {os.geteuid(), _owner()}


def _owner() -> int:
    """Give the user as which a browser runs."""
    return os.geteuid() or UNPRIVILEGED
