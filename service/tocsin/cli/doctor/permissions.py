"""Whether files are open to others who should not write or read them; what the doctor says of permissions.

urlwatch's rule, and further: whoever can write the configuration decides where alerts go and what is believed, and
whoever can read the store has the credentials of pages.
"""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tocsin.cli.doctor.finding import Finding
from tocsin.configuration.layers import from_environ, from_tree
from tocsin.configuration.secrets import SECRETS
from tocsin.configuration.tree import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.configuration import Loaded

_WRITE_BY_OTHERS: Final = 0o022
_READ_BY_OTHERS: Final = 0o044
_GIVEN_BY_THE_RUNTIME: Final = ("/run/secrets/", "/var/run/secrets/")
"""Where container engines put secrets, with modes that nobody can choose."""


def examine_files(loaded: Loaded, store: Path) -> list[Finding]:
    """Say which files are open to others."""
    findings: list[Finding] = []
    if loaded.file is not None:
        findings += _of_writing(loaded.file, "The configuration")
        findings += _of_writing(loaded.file.absolute().parent, "The configuration's folder")
        findings += _of_secrets(loaded.file)
    for item in from_environ(os.environ):
        if item.by_file and isinstance(item.value, str):
            findings += _of_reading(Path(item.value), "A file with a secret")
    for file in (store, store.with_name(f"{store.name}-wal")):
        findings += _of_reading(file, "The store")
    if store.exists():
        findings += _of_writing(store.absolute().parent, "The store's folder")
    return findings


def _of_secrets(file: Path) -> Iterator[Finding]:
    """Look at a file with secrets in it, and at those that it names."""
    try:
        given = list(from_tree(tomllib.loads(file.read_text("utf-8-sig")), str(file)))
    except (OSError, ValueError):
        # A pipe that was read once, for instance: what was in it is nobody else's to read.
        return
    held = [".".join(item.path) for item in given if not item.by_file and item.value and pattern(item.path) in SECRETS]
    if held:
        # The address of a webhook is one, too: which setting is meant is not plain to see.
        yield from _of_reading(file, f"The configuration, which has a secret in it ({', '.join(held)}),")
    for item in given:
        if item.by_file and isinstance(item.value, str):
            yield from _of_reading(file.parent / item.value, "A file with a secret")


def _of_writing(path: Path, what: str) -> Iterator[Finding]:
    status = _status(path)
    if status is None:
        return
    is_shared_safely = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if status.st_mode & _WRITE_BY_OTHERS and not is_shared_safely:
        yield Finding(f"{what} can be written by others: {path}.", f"chmod go-w {path}")
    if status.st_uid not in {0, os.geteuid()} and os.geteuid() != 0:
        yield Finding(f"{what} belongs to another user: {path}.", f"Own it yourself, or let root: chown root {path}")


def _of_reading(path: Path, what: str) -> Iterator[Finding]:
    status = _status(path)
    if status is None or str(path.absolute()).startswith(_GIVEN_BY_THE_RUNTIME):
        return
    if status.st_mode & (_READ_BY_OTHERS | _WRITE_BY_OTHERS):
        yield Finding(f"{what} can be read by others: {path}.", f"chmod 600 {path}")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
