"""The content of answers that are no pages: JSON by its values' paths, documents by paragraphs, other text by lines."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec
from xxhash import xxh3_64_intdigest

from tocsin.spec.documents import read_document
from tocsin.spec.html.blocks import CELL, Blocks
from tocsin.spec.html.content_type import MediaType, read_content_types
from tocsin.spec.html.decoding import BOMS, decode, encoding_for
from tocsin.spec.html.sniffing import sniff

JSON: Final = "JSON"
TEXT: Final = "text"
PDF: Final = "PDF"

_UNITS: Final = {JSON: "value", TEXT: "line", PDF: "paragraph"}
_MOST_LETTERS: Final = 10_000_000
# Further lines are compared together: each takes about 10 µs.
_MOST_LINES: Final = 50_000
_MOST_PATH: Final = 200
_MOST_KEY: Final = 80
# An element of a list that is not longer is one line, so that values of two elements cannot change places unnoticed.
_MOST_ELEMENT: Final = 200
_MOST_MEMBERS: Final = 20
_PATH_BITS: Final = 0xFFFF_FFFF
_PLAIN: Final = "text/plain"
_BINARY: Final = "application/octet-stream"
# Text, though their names do not say so.
_TEXTS: Final = frozenset(
    f"application/{name}"
    for name in ("json-seq", "jsonl", "jsonlines", "ndjson", "sql", "toml", "x-ndjson", "x-yaml", "yaml")
)

# Numbers stay as they are written: they may have more digits than any type of number.
_decode = msgspec.json.Decoder(float_hook=str).decode
_encode = msgspec.json.Encoder(order="sorted").encode


class PlainContent(NamedTuple):
    """What an answer that is no page says.

    kind    "JSON", "PDF" or "text"
    blocks  a line each
    """

    kind: str
    blocks: Blocks

    @property
    def summary(self) -> str:
        """What was read, in words."""
        count, unit = len(self.blocks.texts), _UNITS[self.kind]
        return f"read as {self.kind} of {count} {unit if count == 1 else f'{unit}s'}"


def read_plain(body: bytes, content_type: str | None) -> PlainContent | None:
    """Read the lines of JSON, XML or plain text; None for anything else. Never raises.

    A line of JSON is the path of a value and the value, without the places of elements in their lists: what is added
    at the beginning of a list must not change the lines of all others. JSON that is not valid is read as text.
    A PDF is read by the text that was taken from it.
    """
    if (document := read_document(body)) is not None:
        return PlainContent(PDF, _to_blocks(document[1]))
    headers = () if content_type is None else (content_type,)
    media_type = read_content_types(headers).media_type or MediaType(sniff((), body))
    if not _is_text(media_type) or sniff((_PLAIN,), body) == _BINARY:
        return None
    text = decode(body, _encoding_of(body, media_type))
    if len(text) > _MOST_LETTERS:
        return None
    if "JSON" in media_type.groups():
        try:
            return PlainContent(JSON, _read_json(_decode(text)))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass
    return PlainContent(TEXT, _to_blocks([line for line in text.split("\n") if line and not line.isspace()]))


def _to_blocks(lines: list[str]) -> Blocks:
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], "\n".join(lines[_MOST_LINES:])]
    return Blocks(lines, [0] * len(lines), [0] * len(lines))


def _is_text(media_type: MediaType) -> bool:
    groups = media_type.groups()
    return (
        media_type.essence.startswith("text/")
        or media_type.essence in _TEXTS
        or bool(groups & {"JSON", "XML", "JavaScript"} and "image" not in groups)
    )


def _encoding_of(body: bytes, media_type: MediaType) -> str:
    for bom, name in BOMS:
        if body.startswith(bom):
            return name
    told = encoding_for(media_type.parameter("charset"))
    if told is not None:
        return told
    try:
        body.decode()
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _read_json(value: Any) -> Blocks:
    """Write each value as a line; a loop, because values can be nested as deep as the interpreter allows."""
    texts: list[str] = []
    paths: list[int] = []
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, each = waiting.pop()
        if len(texts) >= _MOST_LINES:
            waiting.append((path, each))
            texts.append(_encode([left for _, left in reversed(waiting)]).decode(errors="replace"))
            paths.append(0)
            break
        if isinstance(each, dict) and each:
            below = [(_below(path, f".{key[:_MOST_KEY]}" if path else key[:_MOST_KEY]), each[key]) for key in each]
        elif isinstance(each, list) and each:
            inner = _below(path, "[]")
            below = [(inner, element if (line := _as_line(element)) is None else line) for element in each]
        else:
            shown = each if isinstance(each, str) else _encode(each).decode()
            texts.append(f"{path}: {shown}" if path else shown)
            paths.append(xxh3_64_intdigest(path.encode(errors="replace")) & _PATH_BITS)
            continue
        waiting += reversed(below)
    return Blocks(texts, [CELL] * len(texts), paths)


def _below(path: str, step: str) -> str:
    """Extend a path; of a long one its end is kept, so that deep values take no more than others."""
    return f"{path}{step}" if len(path) + len(step) <= _MOST_PATH else f"…{path[len(step) - _MOST_PATH :]}{step}"


def _as_line(element: Any) -> str | None:
    """Return a short element of a list as one line; None where it is a single value, long, or holds others."""
    if not isinstance(element, dict | list) or not 0 < len(element) <= _MOST_MEMBERS:
        return None
    members = element.values() if isinstance(element, dict) else element
    if any(isinstance(member, dict | list) and member for member in members):
        return None
    line = _encode(element).decode(errors="replace")
    return line if len(line) <= _MOST_ELEMENT else None
