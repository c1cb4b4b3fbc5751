"""Secrets of channels: made, and written into the file that the configuration names, the newest first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tocsin.adapters.channels.signing import new_secret
from tocsin.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

# A secret is for its owner alone.
_MODE: Final = 0o600
_LONGEST_BYTES: Final = 65_536


def make_secret(name: str, file: Path | None, *, replace: bool) -> str:
    """Make a secret for a channel, and write it into its file.

    file     that the configuration names; None: it is only given back
    replace  the file holds one already: the new one comes before it, so that both sign until the old one is taken out
    Raises UsageError where the file holds a secret that is not to be replaced, SettingsError where it cannot be
    written.
    """
    secret = new_secret()
    if file is None:
        if replace:
            raise UsageError(f"channels.{name} has no secret_file: put the new secret before the old one, a line each")
        return secret
    try:
        before = _newest_of(file)
        if before and not replace:
            raise UsageError(f"{file}: holds a secret already; --replace puts a new one before it, and both sign")
        _write(file, f"{secret}\n{before}\n" if before else f"{secret}\n")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "not UTF-8"
        raise SettingsError(
            f"{file}: the secret cannot be written ({reason}); make the folder, let this user write there, or mend "
            f"channels.{name}.secret_file"
        ) from exc
    return secret


def _newest_of(file: Path) -> str | None:
    """Give the first secret in a file; older ones are not kept any longer."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_LONGEST_BYTES).decode()
    except FileNotFoundError:
        return None
    return next((line for line in text.splitlines() if line.strip()), None)


def _write(file: Path, text: str) -> None:
    """Write a whole file beside the one that is in force, and put it in its place."""
    # A link keeps its place: what it leads to is replaced.
    file = file.resolve()
    beside = file.with_name(f".{file.name}.new")
    beside.unlink(missing_ok=True)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
