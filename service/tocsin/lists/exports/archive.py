"""The backup archive of changedetection.io, which is read without being extracted.

Only members with known names are read, into memory, each of them and all together within limits. So a name that leads
out of the archive has no effect (CVE-2026-29065, GHSA-8757-69j2-hx56).
"""

from __future__ import annotations

import io
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import IO, Final

from tocsin.errors import TocsinError, UsageError
from tocsin.lists.entries import ListItem, RefusedLine
from tocsin.lists.exports.changedetection import Watches, read_application
from tocsin.lists.exports.values import repeated_key

LARGEST_ARCHIVE: Final = 256 * 2**20
LARGEST_MEMBER: Final = 10 * 2**20
LARGEST_LIST: Final = 64 * 2**20
LARGEST_TOTAL: Final = 256 * 2**20
_LARGEST_INDEX: Final = 16 * 2**20
_HIGHEST_RATIO: Final = 200
_MOST_REFUSED: Final = 100
_SMALL: Final = 64 * 1024
_PIECE: Final = 2**20

_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_LONGEST_COMMENT: Final = 65_535
_ID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_WATCH: Final = re.compile(rf"({_ID})/watch\.json")
_TAG: Final = re.compile(rf"({_ID})/tag\.json")
_LEGACY: Final = "url-watches.json"
_APPLICATION: Final = "changedetection.json"
_DRIVE: Final = re.compile(r"[A-Za-z]:")


def read_archive(stream: IO[bytes], *, name: str) -> Iterator[ListItem]:
    """Read the watches of a backup: in place if the stream is seekable, else from a copy on disk.

    Raises UsageError if it is not such a backup, cut off, or too large; TocsinError if there is no room for the copy. A
    problem with one watch is an item.
    """
    with ExitStack() as stack:
        whole = stream if stream.seekable() else stack.enter_context(_copied(stream, name))
        total = whole.seek(0, io.SEEK_END)
        _demand_size(total, name)
        _demand_index(whole, total, name)
        try:
            with zipfile.ZipFile(whole) as archive:
                yield from _BackupArchive(archive, name).items()
        except (zipfile.BadZipFile, ValueError, OSError) as exc:
            raise UsageError(f"{name}: the archive is damaged or cut off ({exc}); get the file again") from exc


def _copied(stream: IO[bytes], name: str) -> IO[bytes]:
    """Copy a stream to an unnamed file, so that memory stays flat."""
    total = 0
    with ExitStack() as stack:
        copy = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_PIECE))
        while piece := stream.read(_PIECE):
            total += len(piece)
            _demand_size(total, name)
            try:
                copy.write(piece)
                copy.flush()
            except OSError as exc:
                with suppress(OSError):  # Closing writes the rest of the piece, for which there is no room either.
                    copy.close()
                raise TocsinError(
                    f"{name}: no room for a copy of the archive in {tempfile.gettempdir()} ({exc.strerror or exc}); "
                    "free some there, set TMPDIR to a folder with room, or give the archive as a file, not compressed"
                ) from exc
        stack.pop_all()
    return copy


def _demand_size(total: int, name: str) -> None:
    if total > LARGEST_ARCHIVE:
        raise UsageError(f"{name}: larger than {LARGEST_ARCHIVE // 2**20} MiB; export the list of URLs instead")


def _demand_index(spooled: IO[bytes], total: int, name: str) -> None:
    """Refuse an archive whose list of names alone would fill the memory, before zipfile reads it."""
    tail = min(total, _END_BYTES + _LONGEST_COMMENT)
    spooled.seek(total - tail)
    found = spooled.read(tail)
    place = found.rfind(_END)
    if place < 0 or len(found) - place < _END_BYTES:
        raise UsageError(f"{name}: the archive is cut off; get the file again")
    (size,) = struct.unpack("<L", found[place + 12 : place + 16])
    if size > _LARGEST_INDEX:
        raise UsageError(f"{name}: the archive has more files than a backup; export the list of URLs instead")
    spooled.seek(0)


class _BackupArchive:
    """The known members of a backup."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        self._read = 0
        self._refused: list[RefusedLine] = []

    def items(self) -> Iterator[ListItem]:
        members = self._known()
        yield from self._refused
        if not members:
            raise UsageError(
                f"{self._name}: no backup of changedetection.io: there is neither {_LEGACY} nor a watch.json in it; "
                "make a backup there anew, or export the list of URLs"
            )
        watches = Watches()
        is_split = any(_WATCH.fullmatch(key) for key in members)
        for number, (key, info) in enumerate(members.items(), 1):
            body = self._content(info, LARGEST_LIST if key in {_LEGACY, _APPLICATION} else LARGEST_MEMBER)
            if isinstance(body, str):
                yield RefusedLine(number, f"{key}: {body}")
            elif (twice := repeated_key(body)) is not None:
                yield RefusedLine(
                    number, f"{key}: the key {twice!a} is there twice in one object; leave one of them out"
                )
            elif key == _LEGACY and not is_split:
                yield from watches.from_list(body, name=key)
            elif key in {_APPLICATION, _LEGACY}:
                # Beside watches in files of their own, the old list is a leftover.
                watches.tags |= read_application(body, watches.left_out)
            elif match := _TAG.fullmatch(key):
                watches.add_tag(match[1], body)
            elif match := _WATCH.fullmatch(key):
                yield from watches.from_one(body, match[1])
        yield from watches.left_out.told()

    def _known(self) -> dict[str, zipfile.ZipInfo]:
        """Choose the members to read, with tags before the watches that have them."""
        found: dict[str, zipfile.ZipInfo] = {}
        for number, info in enumerate(self._archive.infolist(), 1):
            reason = _hostile(info)
            if reason is not None:
                self._refuse(number, info.filename, reason)
            elif info.filename not in {_LEGACY, _APPLICATION} and not (
                _WATCH.fullmatch(info.filename) or _TAG.fullmatch(info.filename)
            ):
                continue
            elif info.filename in found:
                self._refuse(number, info.filename, "is there twice; the first one is read")
            else:
                found[info.filename] = info
        rank = {_APPLICATION: 0, _LEGACY: 1}
        return dict(sorted(found.items(), key=lambda item: rank.get(item[0], 2 if _TAG.fullmatch(item[0]) else 3)))

    def _refuse(self, number: int, member: str, reason: str) -> None:
        if len(self._refused) == _MOST_REFUSED:
            raise UsageError(f"{self._name}: {_MOST_REFUSED} files that no backup has, and more; make the backup anew")
        self._refused.append(RefusedLine(number, f"{member[:120]!a}: {reason}"))

    def _content(self, info: zipfile.ZipInfo, largest: int) -> bytes | str:
        """Read one member; returns what is wrong with it as text."""
        if info.flag_bits & 1:
            return "encrypted; make the backup without a password"
        if info.file_size > largest:
            return f"larger than {largest // 2**20} MiB; no watch is"
        if info.file_size > _SMALL and info.file_size > _HIGHEST_RATIO * max(info.compress_size, 1):
            return f"compressed more than {_HIGHEST_RATIO} times; no watch is"
        if self._read + info.file_size > LARGEST_TOTAL:
            raise UsageError(
                f"{self._name}: more than {LARGEST_TOTAL // 2**20} MiB of watches; export the list of URLs instead"
            )
        body = io.BytesIO()
        try:
            with self._archive.open(info) as member:
                # The sizes in an archive are claims, so the bytes are counted.
                while piece := member.read(_SMALL):
                    body.write(piece)
                    self._read += len(piece)
                    if body.tell() > largest or self._read > LARGEST_TOTAL:
                        return "larger than the archive says it is"
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as exc:
            return f"cannot be read ({exc}); make the backup again"
        return body.getvalue()


def _hostile(info: zipfile.ZipInfo) -> str | None:
    """Return what is wrong with a member that no backup has."""
    name = info.orig_filename
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link; it is not followed"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "a name from the root of a disk; it is not read"
    if ".." in re.split(r"[/\\]", name) or "\0" in name:
        return "a name that leads out of the archive; it is not read"
    return None
