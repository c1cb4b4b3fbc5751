"""Labels of encodings, the declarations in the first bytes of a page, and decoding, which never fails."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import webencodings  # type: ignore[import-untyped]  # has no stubs
from turbohtml._html import _decode

from tocsin.spec.html.content_type import extract_encoding
from tocsin.spec.html.search import PLAIN_TAG, is_cut_off, next_attribute

# The decoders of the Encoding standard; Python's own of these names are others. `turbohtml.detect`, which is the public
# way to them, registers codecs for the whole process when it is imported.

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
# Encodings in which `<`, `>` and quotation marks may be bytes of something else; in all others they never are.
NOT_ASCII = frozenset({"utf-16le", "utf-16be", "iso-2022-jp", "replacement"})

_OFTEN_ASKED = 64  # letters; longer texts are not worth caching
_UNICODE = frozenset({"utf-8", "utf-16le", "utf-16be"})


def encoding_for(label: str | None) -> str | None:
    """Return the encoding's name for a label of the Encoding standard, None for any other text (CT-05)."""
    if label is None or not label.isascii():
        return None
    return _often_asked(label) if len(label) <= _OFTEN_ASKED else _look_up(label)


def _look_up(label: str) -> str | None:
    found = webencodings.lookup(label)
    return None if found is None else str(found.name)


_often_asked = lru_cache(maxsize=256)(_look_up)


def decode(body: bytes, encoding: str) -> str:
    """Decode a page, its BOM left out; bytes that mean nothing become U+FFFD and nothing is raised.

    encoding  as `find_encoding` names it; an unknown name is read as windows-1252
    Source    the Encoding standard.
    """
    for bom, name in BOMS:
        if name == encoding and body.startswith(bom):
            body = body[len(bom) :]
    if encoding in _UNICODE:
        return body.decode(encoding, "replace")
    return _decode(body, encoding if encoding_for(encoding) == encoding else "windows-1252")


def load_decoders() -> None:
    """Load the decoders of all encodings, which are modules in files: later, this process may be short of files."""
    for name in frozenset(webencodings.LABELS.values()):
        found = encoding_for(name)
        if found is not None and found not in _UNICODE:
            decode(b"\x81\x40", found)


PRESCAN_BYTES = 1024

_TAG = re.compile(rb"</?[A-Za-z][^\t\n\f\r >]*")
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
# Text and tags of no interest that are written as most are; the others are read attribute by attribute.
_DULL = re.compile(
    rb"""(?:[^<]++|<!doctype[^>]*+>|<!(?=--)(?s:.*?)-->|</?(?!meta[\t\n\f\r /])[a-z][^\t\n\f\r "'<>/=]*+"""
    rb"""(?:[\t\n\f\r ]++[^\t\n\f\r "'<>/=]++(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"""
    rb"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r "'<>=/]++))?+)*+[\t\n\f\r ]*+/?+>)*+""",
    re.IGNORECASE,
)
_PLAIN_CHARSET = re.compile(
    rb"""<meta[\t\n\f\r ]++(?:charset=(?:"([a-z0-9_-]++)"[\t\n\f\r /]*+|([a-z0-9_-]++))"""
    rb"""|http-equiv=(?:"content-type"|content-type)[\t\n\f\r ]++"""
    rb"""content="text/html;[ ]?charset=([a-z0-9_-]++)"[\t\n\f\r /]*+)>""",
    re.IGNORECASE,
)
_XML = re.compile(rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\">]*)\"|'([^'>]*)')")


def prescan(body: bytes) -> str | None:
    """Find the encoding that a meta element declares within the first 1,024 bytes, by its name; None if none does.

    None too where these bytes end before the tag or comment that is being read: its rest may say something else.
    Source  HTML, prescan a byte stream to determine its encoding: abort when there are no more bytes.
    """
    head = body[:PRESCAN_BYTES]
    if b"charset" not in head.lower():
        return None
    place = 0
    while True:
        dull = _DULL.match(head, place)
        place = dull.end() if dull else place
        plain = _PLAIN_CHARSET.match(head, place)
        if plain is not None and (told := encoding_for(plain[plain.lastindex or 0].decode())) is not None:
            return told
        tag = PLAIN_TAG.match(head, place) if _META.match(head, place) else None
        if tag is None or b"charset" in tag[0].lower():
            return _prescan_from(head, head.find(b"<", place))
        place = tag.end()


def _prescan_from(head: bytes, place: int) -> str | None:
    while place >= 0:
        if head.startswith(b"<!--", place):
            # The two hyphens that open a comment may be those that close it.
            end = head.find(b"-->", place + 2)
            if end < 0:
                return None
            place = end + 3
        elif _META.match(head, place):
            found, place = _read_meta(head, place + len(b"<meta"))
            if found is not None:
                return found
        elif tag := _TAG.match(head, place):
            place = _skip_attributes(head, tag.end())
        elif head[place + 1 : place + 2] in (b"!", b"/", b"?"):
            end = head.find(b">", place)
            if end < 0:
                return None
            place = end + 1
        else:
            place += 1
        place = head.find(b"<", place)
    return None


def xml_declaration(body: bytes) -> str | None:
    """Find the label in an XML declaration at the start of the bytes; None if there is none."""
    if not body.startswith(b"<?xml"):
        return None
    match = _XML.match(body[:PRESCAN_BYTES])
    if match is None:
        return None
    return (match[1] if match[1] is not None else match[2]).decode("latin-1")


def _read_meta(head: bytes, place: int) -> tuple[str | None, int]:
    seen: set[bytes] = set()
    is_pragma, needs_pragma, found = False, False, None
    while (attribute := next_attribute(head, place)) is not None:
        place = attribute.end
        if (name := attribute.name) in seen:
            continue
        seen.add(name)
        value = head[attribute.value_start : attribute.value_end].decode("latin-1").lower()
        if name == b"http-equiv":
            is_pragma = value == "content-type"
        elif name == b"content" and b"charset" not in seen:
            found = encoding_for(extract_encoding(value))
            needs_pragma = True
        elif name == b"charset":
            found, needs_pragma = encoding_for(value), False
    if is_cut_off(head, place):
        return None, len(head)
    return found if is_pragma or not needs_pragma else None, place


def _skip_attributes(head: bytes, place: int) -> int:
    while (attribute := next_attribute(head, place)) is not None:
        place = attribute.end
    return len(head) if is_cut_off(head, place) else place
