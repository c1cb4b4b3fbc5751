"""Opens a list: decompresses and decodes it, and recognises its format."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

from tocsin.errors import UsageError
from tocsin.lists.entries import CHANGEDETECTION, DISTILL, ListItem
from tocsin.lists.formats.markup import read_opml, read_sitemap
from tocsin.lists.formats.text import find_separator, read_lines, read_separated

FORMATS: Final = ("list", "csv", "opml", "sitemap", CHANGEDETECTION, DISTILL)

_GZIP: Final = b"\x1f\x8b"
_PEEKED_BYTES: Final = 8192
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ARCHIVE: Final = (b"PK\x03\x04", b"PK\x05\x06")
_JSON: Final = re.compile(r"\s*\{")
_MARKUP: Final = re.compile(r"\s*<")
_OPML: Final = re.compile(r"<(?:[\w.-]{1,80}:)?opml[\s/>]")


def open_list(stream: IO[bytes], *, name: str, kind: str | None = None) -> tuple[str, Iterator[ListItem]]:
    """Read a list of pages.

    stream  its bytes, perhaps compressed with gzip
    name    for messages
    kind    one of FORMATS; None: recognised by the beginning
    Returns the format and an iterator of the items in order, which raises UsageError for a file that is not of the
            format; a problem with one line is an item.
    """
    with _readable(name):
        may_be_archive = kind in {None, CHANGEDETECTION}
        is_in_place = may_be_archive and _begins_an_archive(stream)
        source = _decompressed(stream, name)
        if is_in_place or (may_be_archive and source.peek(4).startswith(_ARCHIVE)):
            from tocsin.lists.exports.reading import read_archive  # noqa: PLC0415 - few lists are one

            return CHANGEDETECTION, _guarded(read_archive(stream if is_in_place else source, name=name), name)
        bom, encoding = next(
            ((mark, found) for mark, found in _BOMS if source.peek(4).startswith(mark)), (b"", "utf-8")
        )
        # Bytes that are invalid in this encoding become surrogates, so that each line can be refused by itself.
        beginning = source.peek(_PEEKED_BYTES)[len(bom) : _PEEKED_BYTES].decode(encoding, "replace")
    is_markup = kind is None and _MARKUP.match(beginning)
    if kind == "opml" or (is_markup and _OPML.search(beginning)):
        return "opml", _guarded(read_opml(source, name=name), name)
    if kind == "sitemap" or is_markup:
        return "sitemap", _guarded(read_sitemap(source, name=name, expected=kind), name)
    source.read(len(bom))
    if kind == DISTILL or (kind in {None, CHANGEDETECTION} and _JSON.match(beginning)):
        from tocsin.lists.exports.reading import read_export  # noqa: PLC0415 - the same

        found, items = read_export(source, name=name, expected=kind)
        return found, _guarded(items, name)
    text = io.TextIOWrapper(source, encoding=encoding, errors="surrogateescape", newline="")
    if kind == "csv" or (kind is None and find_separator(beginning) is not None):
        return "csv", _guarded(read_separated(text, name=name, beginning=beginning), name)
    return kind or "list", _guarded(read_lines(text), name)


def _begins_an_archive(stream: IO[bytes]) -> bool:
    """Say whether a stream is an archive that can be read in place."""
    if not stream.seekable():
        return False
    begin = stream.tell()
    found = stream.read(4).startswith(_ARCHIVE)
    stream.seek(begin)
    return found and begin == 0


def _decompressed(stream: IO[bytes], name: str) -> io.BufferedReader[_Raw]:
    source = io.BufferedReader(_Raw(stream.read), _PEEKED_BYTES)
    for _ in range(2):  # Compressed twice is a mistake that is forgiven; more is an attack.
        if not source.peek(2).startswith(_GZIP):
            return source
        source = io.BufferedReader(_Raw(gzip.GzipFile(fileobj=source).read), _PEEKED_BYTES)
    if source.peek(2).startswith(_GZIP):
        raise UsageError(f"{name}: compressed more than twice; decompress it first")
    return source


class _Raw(io.RawIOBase):
    """A read function as a binary stream."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        view = memoryview(target).cast("B")
        piece = self._read(len(view))
        view[: len(piece)] = piece
        return len(piece)


def _guarded(items: Iterator[ListItem], name: str) -> Iterator[ListItem]:
    """Translate errors while items are read: compression may break anywhere."""
    with _readable(name):
        yield from items


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError, zlib.error) as exc:
        raise UsageError(f"{name}: cannot be read to its end ({exc}); get the file again") from exc
