"""The channel that appends alerts to a file as lines of JSON."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from tocsin.adapters.channels.context import ChannelContext
from tocsin.errors import DeliveryError, SettingsError, shortage_of
from tocsin.ports import ChannelFinding, Notification
from tocsin.settings import ChannelSettings, FileName

# The file is readable by its owner alone: the watch list is private data (T64).
_MODE = 0o600
_OUR_START = b'{"specversion":'
# How far back the end of the last whole line is looked for after a crash.
_LONGEST_LINE = 2**20


class FileSettings(ChannelSettings, frozen=True, kw_only=True):
    """A file that alerts are appended to."""

    path: Annotated[FileName, Meta(description="the file; one alert a line")] = ""

    def address(self) -> str:
        """Give the path."""
        return self.path


class FileType:
    """Alerts as lines of a file; implements `ChannelType`."""

    Settings = FileSettings
    example = """\
type = "file"
path = "alerts.jsonl"        # one alert a line
"""

    def open(self, name: str, settings: FileSettings, _context: ChannelContext) -> FileChannel:
        """Build a file channel; raises SettingsError for a path that cannot be a file."""
        if not settings.path:
            raise SettingsError(f"channels.{name}.path: a file channel needs the path of the file that it writes")
        path = Path(settings.path).expanduser()
        if path.is_dir():
            raise SettingsError(f"channels.{name}.path: {path} is a folder; name a file in it")
        if path.exists() and not path.is_file():
            raise SettingsError(
                f"channels.{name}.path: {path} is no regular file; name one, or use type 'stdout' for standard output"
            )
        if not path.parent.is_dir():
            raise SettingsError(f"channels.{name}.path: the folder {path.parent} does not exist; create it")
        return FileChannel(name, path)

    async def probe(self, _name: str, _settings: FileSettings, _context: ChannelContext) -> Sequence[ChannelFinding]:
        """Find nothing: opening it finds what is wrong."""
        return ()


class FileChannel:
    """Appends each event as one line, which is on disk before the event counts as accepted.

    The file is opened again after it was rotated away.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.at_once, self.takes_messages = 1, False
        self._path = path
        self._file: int | None = None
        self._turn = asyncio.Lock()

    async def deliver(self, notification: Notification) -> None:
        """Append the event and wait for the disk; raises DeliveryError that blames the channel, or a shortage."""
        line = notification.event.json + b"\n"
        async with self._turn:
            try:
                await asyncio.to_thread(self._append, line)
            except OSError as exc:
                if (shortage := shortage_of(exc)) is not None:
                    raise DeliveryError(self.name, "ours", str(shortage)) from exc
                raise DeliveryError(self.name, "channel", f"{self._path}: {exc.strerror or exc}") from exc

    async def close(self) -> None:
        """Close the file."""
        async with self._turn:
            self._let_go()

    def _append(self, line: bytes) -> None:
        if self._file is not None and self._is_rotated(self._file):
            self._let_go()
        if self._file is None:
            self._file = self._open()
        size = os.fstat(self._file).st_size
        try:
            _write_whole(self._file, line)
            os.fsync(self._file)
        except OSError:
            # A part of a line must not stay before the next line.
            os.ftruncate(self._file, size)
            raise

    def _open(self) -> int:
        is_new = not self._path.exists()
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _MODE)
        try:
            _heal(file)
            if is_new:
                _sync_folder(self._path.parent)
        except OSError:
            os.close(file)
            raise
        return file

    def _is_rotated(self, file: int) -> bool:
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return True
        here = os.fstat(file)
        return (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino)

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _heal(file: int) -> None:
    """Make the file end with a line end: remove a line that a crash cut, or complete one that lacks only its end."""
    # The event of a cut line was never accepted: it is delivered again.
    size = os.fstat(file).st_size
    start = max(size - _LONGEST_LINE, 0)
    tail = os.pread(file, size - start, start)
    if not tail or tail.endswith(b"\n"):
        return
    torn = tail[tail.rfind(b"\n") + 1 :]
    if torn.startswith(_OUR_START[: len(torn)]) and not _is_json(torn):
        os.ftruncate(file, size - len(torn))
    else:
        # A line of another program, or a whole event without its line end: it stays.
        os.write(file, b"\n")


def _write_whole(file: int, line: bytes) -> None:
    if os.write(file, line) != len(line):
        raise OSError(None, "the disk took only a part of the line")


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
