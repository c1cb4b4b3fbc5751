"""Which type a resource really is of: by what its server calls it, and by its first bytes.

Source  infrastructure 2.7.2 to 2.7.6 (SNF-01 to SNF-17), with the readings C-32 to C-35; MIME Sniffing for what
        today's rules add.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from tocsin.spec.html.content_type import MediaType, Profile, read_content_types
from tocsin.spec.html.search import next_attribute

# Signatures of audio and video that no mask can tell.
#
# Source  MIME Sniffing, signatures for MP4, WebM and MP3 without ID3.


_WEBM_HEADER = b"\x1a\x45\xdf\xa3"
_WEBM_REACH = 38  # bytes within which the document type must begin
_SHORTEST_MP4 = 12
_HEADER_BYTES = 4  # of an MP3 frame
# Bits per second by the index in a frame's header; the first of MPEG 1, the second of MPEG 2 and 2.5.
_RATES = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
_SAMPLES_PER_S = (44100, 48000, 32000)
_RESERVED, _LAYER_3, _NO_RATE, _NO_SAMPLES = 1, 1, 15, 3


def is_mp4(head: bytes) -> bool:
    """Return whether the bytes begin as MP4 does: a box `ftyp` that names a brand of it."""
    box = int.from_bytes(head[:4], "big")
    if len(head) < max(_SHORTEST_MP4, box) or box % 4 or head[4:8] != b"ftyp":
        return False
    return head[8:11] == b"mp4" or any(head[place : place + 3] == b"mp4" for place in range(16, box, 4))


def is_webm(head: bytes) -> bool:
    """Return whether the bytes begin as WebM does: EBML of the document type `webm`."""
    if not head.startswith(_WEBM_HEADER):
        return False
    kind = head.find(b"\x42\x82", len(_WEBM_HEADER), _WEBM_REACH + 1)
    if kind < 0 or kind + 2 >= len(head):
        return False
    # The length of the name is a number of as many bytes as its first byte has leading zeros, and one.
    name = kind + 2 + 9 - max(head[kind + 2].bit_length(), 1)
    return head[name:].lstrip(b"\0").startswith(b"webm")


def is_mp3(head: bytes) -> bool:
    """Return whether the bytes begin with two frames of MP3, without an ID3 tag before them."""
    size = _frame_bytes(head, 0)
    return size is not None and _HEADER_BYTES <= size <= len(head) and _frame_bytes(head, size) is not None


def _frame_bytes(head: bytes, place: int) -> int | None:
    """Return the length of the MP3 frame whose header is at this place; None for other bytes."""
    header = head[place : place + _HEADER_BYTES]
    if len(header) < _HEADER_BYTES or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:  # noqa: PLR2004 - eleven set bits
        return None
    version, layer, rate, samples = header[1] >> 3 & 3, header[1] >> 1 & 3, header[2] >> 4, header[2] >> 2 & 3
    if layer != _LAYER_3 or rate == _NO_RATE or samples == _NO_SAMPLES:
        return None
    bits_per_s = _RATES[0 if version & 1 else 1][rate] * 1000
    scale = 72 if version == _RESERVED else 144
    return bits_per_s * scale // _SAMPLES_PER_S[samples] + (header[2] >> 1 & 1)


# How much of a resource the text looks at, and today's rules.
TEXT_BYTES, SNIFFED_BYTES = 512, 1445

# The image types told apart where none are named.
IMAGES = frozenset({"image/png", "image/gif", "image/jpeg", "image/bmp", "image/vnd.microsoft.icon"})

_UNKNOWN = frozenset({"unknown/unknown", "application/unknown"})
# What Apache sends for any file that it does not know, byte for byte (SNF-04).
_MAYBE_BINARY = frozenset(
    {"text/plain", *(f"text/plain; charset={name}" for name in ("ISO-8859-1", "iso-8859-1", "UTF-8"))}
)
_BOMS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
_TEXT_BOM_BYTES = 4  # in the text, a shorter resource is not looked at for a BOM (C-52)
# A byte that no text has (SNF-09).
BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")

_SPACE = b"\t\n\f\r "
_RSS_NAMESPACES = {b"http://www.w3.org/1999/02/22-rdf-syntax-ns#", b"http://purl.org/rss/1.0/"}


class Row(NamedTuple):
    """One signature: the bytes that the mask leaves are the pattern.

    leads          white space before it is skipped (`WS` in the text)
    ends           a space or `>` must follow, as a tag's name ends
    is_scriptable  never guessed where the server forbids sniffing
    """

    mask: int
    pattern: int
    length: int
    type: str
    leads: bool = False
    ends: bool = False
    is_scriptable: bool = False

    def matches(self, head: bytes) -> bool:
        """Return whether the bytes begin with the signature."""
        start = len(head) - len(head.lstrip(_SPACE)) if self.leads else 0
        data = head[start : start + self.length]
        # C-32: a resource shorter than the pattern does not match.
        if len(data) < self.length or int.from_bytes(data, "big") & self.mask != self.pattern:
            return False
        return not self.ends or head[start + self.length : start + self.length + 1] in (b" ", b">")


def _row(mask: str, pattern: str, type_: str) -> Row:
    """Make a row as the text writes it, in hexadecimal; in a row with WS the first byte of the mask belongs to that."""
    leads = pattern.startswith("WS ")
    masks, patterns = bytes.fromhex(mask)[leads:], bytes.fromhex(pattern.removeprefix("WS "))
    bits, wanted = int.from_bytes(masks, "big"), int.from_bytes(patterns, "big")
    return Row(bits, wanted, len(patterns), type_, leads=leads)


def _exactly(signature: bytes, type_: str) -> Row:
    return _row("FF" * len(signature), signature.hex(), type_)


def _tag(name: bytes) -> Row:
    """Make one of today's rows for the start of an HTML page: `<` and a name in any case."""
    mask = "".join("DF" if byte in range(0x41, 0x5B) else "FF" for byte in name)
    return _row("FFFF" + mask, "WS 3C " + name.hex(), "text/html")._replace(ends=True, is_scriptable=True)


_IMAGES = (
    _exactly(b"GIF87a", "image/gif"),
    _exactly(b"GIF89a", "image/gif"),
    _exactly(b"\x89PNG\r\n\x1a\n", "image/png"),
    _exactly(b"\xff\xd8\xff", "image/jpeg"),
    _exactly(b"BM", "image/bmp"),
    _exactly(b"\0\0\1\0", "image/vnd.microsoft.icon"),
)
_HTML_ROWS = (
    _row("FF FF DF DF DF DF DF DF DF FF DF DF DF DF", "3C 21 44 4F 43 54 59 50 45 20 48 54 4D 4C", "text/html"),
    _row("FF FF DF DF DF DF", "WS 3C 48 54 4D 4C", "text/html"),
    _row("FF FF DF DF DF DF", "WS 3C 48 45 41 44", "text/html"),
    _row("FF FF DF DF DF DF DF DF", "WS 3C 53 43 52 49 50 54", "text/html"),
)
_ROWS = (
    *(row._replace(is_scriptable=True) for row in _HTML_ROWS),
    _exactly(b"%PDF-", "application/pdf")._replace(is_scriptable=True),
    _exactly(b"%!PS-Adobe-", "application/postscript"),
    *_IMAGES,
)
# Today's rows follow those of the text, which they widen (SNF-12): Tocsin runs no scripts.
_TAGS = b"HTML HEAD SCRIPT IFRAME H1 DIV FONT TABLE A STYLE TITLE B BODY BR P !--".split()
_LIVING_IMAGES = (
    _exactly(b"\0\0\2\0", "image/x-icon"),
    _row("FF FF FF FF 00 00 00 00 FF FF FF FF FF FF", "52 49 46 46 00 00 00 00 57 45 42 50 56 50", "image/webp"),
)
_LIVING_ROWS = (
    _tag(b"!DOCTYPE HTML"),
    *map(_tag, _TAGS),
    _row("FF FF FF FF FF FF", "WS 3C 3F 78 6D 6C", "text/xml")._replace(is_scriptable=True),
    _row("FF FF 00 00", "FE FF 00 00", "text/plain"),
    _row("FF FF 00 00", "FF FE 00 00", "text/plain"),
    _row("FF FF FF 00", "EF BB BF 00", "text/plain"),
    *_LIVING_IMAGES,
    _exactly(b".snd", "audio/basic"),
    _row("FF FF FF FF 00 00 00 00 FF FF FF FF", "46 4F 52 4D 00 00 00 00 41 49 46 46", "audio/aiff"),
    _exactly(b"ID3", "audio/mpeg"),
    _exactly(b"OggS\0", "application/ogg"),
    _exactly(b"MThd\0\0\0\6", "audio/midi"),
    _row("FF FF FF FF 00 00 00 00 FF FF FF FF", "52 49 46 46 00 00 00 00 41 56 49 20", "video/avi"),
    _row("FF FF FF FF 00 00 00 00 FF FF FF FF", "52 49 46 46 00 00 00 00 57 41 56 45", "audio/wave"),
)
_MEDIA: tuple[tuple[Callable[[bytes], bool], str], ...] = (
    (is_mp4, "video/mp4"),
    (is_webm, "video/webm"),
    (is_mp3, "audio/mpeg"),
)
_ARCHIVES = (
    _exactly(b"\x1f\x8b\x08", "application/x-gzip"),
    _exactly(b"PK\x03\x04", "application/zip"),
    _exactly(b"Rar \x1a\x07\0", "application/x-rar-compressed"),
)


def sniff(
    headers: Sequence[str],
    body: bytes,
    *,
    protocol: str = "http",
    strict: bool = False,
    supported_images: Collection[str] = IMAGES,
    profile: Profile = "living",
    nosniff: bool = False,
) -> str:
    """Find the type of a resource, in lower case and without parameters. A labelled type never becomes HTML.

    headers   the values of all its Content-Type headers; of a file, the type that the file system tells
    body      the resource, or its first 1,445 bytes at least: it is never read further (SNF-17)
    protocol  it came by; all but http, https and file have no types (CT-02)
    strict    take the server at its word (SNF-03)
    profile   `living` adds today's rows after those of the text, and `*/*`
    nosniff   the server forbids to sniff, which today's rules honour
    """
    told = read_content_types(headers if protocol in {"http", "https", "file"} else ())
    head = body[: TEXT_BYTES if profile == "text" else SNIFFED_BYTES]
    official = told.essence
    is_forbidden = nosniff and profile == "living"
    is_any = official == "*/*" and profile == "living"
    if official is None or (not strict and (official in _UNKNOWN or is_any)):
        return _sniff_unknown(head, profile, nosniff=is_forbidden)
    if strict or is_forbidden:
        return official
    if protocol != "file" and told.value in _MAYBE_BINARY:
        return _text_or_binary(head, profile)
    return _sniff_labelled(head, official, supported_images, profile)


def feed_or_html(head: bytes) -> str:
    """Distinguish a feed from a page by the first bytes of a body labelled text/html.

    Returns text/html wherever the bytes end too early to tell (SNF-15).
    Source  infrastructure 2.7.6 (SNF-14 to SNF-16).
    """
    place = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    while True:
        start = _after_space(head, place)
        if head[start : start + 1] != b"<":
            return "text/html"
        place = start + 1
        if head.startswith(b"!--", place):
            end, length = head.find(b"-->", place + 3), 3
        elif head.startswith(b"!", place):
            end, length = head.find(b">", place + 1), 1
        elif head.startswith(b"?", place):
            end, length = head.find(b"?>", place + 1), 2  # C-35: both bytes are passed
        else:
            return _feed_by_name(head, place)
        if end < 0:
            return "text/html"
        place = end + length


def _sniff_labelled(head: bytes, official: str, supported: Collection[str], profile: Profile) -> str:
    if MediaType(official).is_xml():
        return official
    if official in supported:
        rows = _IMAGES if profile == "text" else (*_IMAGES, *_LIVING_IMAGES)
        return next((row.type for row in rows if row.type in supported and row.matches(head)), official)
    return feed_or_html(head) if official == "text/html" else official


def _after_space(head: bytes, place: int) -> int:
    while head[place : place + 1] in (b"\t", b"\n", b"\r", b" "):
        place += 1
    return place


def _feed_by_name(head: bytes, place: int) -> str:
    if head.startswith(b"rss", place):
        return "application/rss+xml"
    if head.startswith(b"feed", place):
        return "application/atom+xml"
    end = head.find(b">", place)
    if not head.startswith(b"rdf:RDF", place) or end < 0:
        return "text/html"
    tag, place, found = head[:end], place + len(b"rdf:RDF"), set()
    while (attribute := next_attribute(tag, place)) is not None:
        place = attribute.end
        if tag.startswith(b"xmlns", attribute.start):
            found.add(tag[attribute.value_start : attribute.value_end])
    return "application/rss+xml" if found >= _RSS_NAMESPACES else "text/html"


def _text_or_binary(head: bytes, profile: Profile) -> str:
    if (profile == "living" or len(head) >= _TEXT_BOM_BYTES) and head.startswith(_BOMS):
        return "text/plain"
    return "application/octet-stream" if BINARY.search(head) else "text/plain"


def _sniff_unknown(head: bytes, profile: Profile, *, nosniff: bool) -> str:
    if profile == "text":
        return next((row.type for row in _ROWS if row.matches(head)), None) or _text_or_binary(head, profile)
    for row in (*_ROWS, *_LIVING_ROWS):
        if not (nosniff and row.is_scriptable) and row.matches(head):
            return row.type
    for is_of, type_ in _MEDIA:
        if is_of(head):
            return type_
    return next((row.type for row in _ARCHIVES if row.matches(head)), None) or _text_or_binary(head, profile)
