"""URLs in a document: where a reference leads as browsers read it today, and whether it is written as it must be."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import webencodings  # type: ignore[import-untyped]  # has no stubs

from tocsin.spec.html import urls
from tocsin.spec.html.decoding import decode, encoding_for
from tocsin.spec.infrastructure import uri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# Encodings as URLs are written in them.


UNICODE = frozenset({"utf-8", "utf-16le", "utf-16be"})

# What the Encoding standard calls by these names holds more letters than Python's codecs of the same names.
_WIDER = {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}


def is_unicode(label: str) -> bool:
    """Say whether the label names UTF-8 or UTF-16."""
    return encoding_for(label) in UNICODE


def output_encoding(label: str) -> str:
    """Name the encoding that a document of this encoding writes with: UTF-8 for UTF-16, and for unknown labels."""
    found = encoding_for(label)
    return "utf-8" if found is None or found in UNICODE or found == "replacement" else found


def load_encoders() -> None:
    """Load the encoders of all encodings, which are modules in files: later, this process may be short of files."""
    for name in frozenset(webencodings.LABELS.values()):
        encode("\u4e00", name, lambda _letter: "?")


def encode(text: str, label: str, replace: Callable[[str], str]) -> bytes:
    """Encode a text without lone surrogates; never raises.

    label    of the encoding that the document is in
    replace  what to write, in ASCII, for a character that the encoding does not have
    """
    name = output_encoding(label)
    if name == "utf-8":
        return text.encode()
    codec = codecs.lookup(_WIDER[name]) if name in _WIDER else webencodings.lookup(name).codec_info
    # The text is encoded as one, since some encodings have a state.
    lacking = {ord(letter): replace(letter) for letter in set(text) if not _has(codec, name, letter)}
    encoded: bytes = codec.encode(text.translate(lacking))[0]
    return encoded


def _has(codec: codecs.CodecInfo, name: str, letter: str) -> bool:
    """Say whether the encoding has a letter: whether the bytes that Python writes mean that letter in it."""
    if letter.isascii():
        return True
    try:
        octets = codec.encode(letter)[0]
    except UnicodeEncodeError:
        return False
    return decode(octets, name) == letter


_SPECIAL = ("http:", "https:", "ftp:", "file:")
"""Schemes whose query is written in the document's encoding."""
_NO_BASE = ("data:", "javascript:")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TRIMMED = "".join(map(chr, range(0x21)))
_DROPPED = re.compile("[\t\n\r]")
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:")

_QUERY_KEEPS = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#'<>")
_ESCAPED = "%[0-9A-Fa-f]{2}"
_NAME = re.compile(rf"(?:[{uri.UNRESERVED}{uri.SUB_DELIMS}{uri.UCSCHAR}]|{_ESCAPED})*+")
_USER = re.compile(rf"(?:[{uri.UNRESERVED}{uri.SUB_DELIMS}{uri.UCSCHAR}:]|{_ESCAPED})*+")
_PATH = re.compile(rf"(?:[{uri.UNRESERVED}{uri.SUB_DELIMS}{uri.UCSCHAR}:@/]|{_ESCAPED})*+")
_QUERY = re.compile(rf"(?:[{uri.UNRESERVED}{uri.SUB_DELIMS}{uri.UCSCHAR}{uri.IPRIVATE}:@/?]|{_ESCAPED})*+")
_FRAGMENT = re.compile(rf"(?:[{uri.UNRESERVED}{uri.SUB_DELIMS}{uri.UCSCHAR}:@/?]|{_ESCAPED})*+")


def resolve(reference: str, base: str | None, encoding: str = "utf-8") -> str | None:
    """Resolve a reference as the URL standard does; None if it calls that a failure.

    base      absolute; None where there is none, so that only an absolute reference leads anywhere
    encoding  any label of the document's encoding, which the query is written in
    Returns   the serialisation, of any scheme, with its fragment: who asks, judges
    Source    URL standard; text 004, 2.3.3 (URL-08, URL-11, URL-19)
    """
    # Where HTML hands on a text, a surrogate that is alone has become a replacement character.
    clean = _SURROGATE.sub("\ufffd", reference)
    target = urls.resolve(base, clean)
    if target is None or clean.isascii() or output_encoding(encoding) == "utf-8" or not target.startswith(_SPECIAL):
        return target
    before, mark, query = _DROPPED.sub("", clean.strip(_TRIMMED)).partition("#")[0].partition("?")
    if not mark or query.isascii():
        return target
    fragment = clean.partition("#")[1:]
    return urls.resolve(base, f"{before}?{_write_query(query, encoding)}{''.join(fragment)}")


def document_base(address: str, hrefs: Iterable[str | None], encoding: str = "utf-8") -> str:
    """Find the document base URL.

    address  of the document, after redirects (C-04)
    hrefs    of the base elements that are children of its head, in tree order; None where one has no href
    Source   text 004, 2.3.3 (URL-07); that data: and javascript: are no bases is today's HTML
    """
    href = next((href for href in hrefs if href is not None), None)
    if href is None:
        return address
    base = resolve(href, address, encoding)
    return address if base is None or base.startswith(_NO_BASE) else base


def is_absolute_url(text: str) -> bool:
    """Say whether the text has a scheme and leads somewhere without a base (URL-15, C-11)."""
    return _HAS_SCHEME.match(text) is not None and resolve(text, None) is not None


def is_valid_url(text: str, encoding: str = "utf-8") -> bool:
    """Say whether the text is a valid URL in a document of this encoding, with nothing around it.

    That is a URI reference, or an IRI reference; with letters beyond ASCII in its query only where the document is
    in UTF-8 or UTF-16.
    Source  text 004, 2.3.1 (URL-01); RFC 3986, RFC 3987
    """
    parts = uri.split_reference(text)
    if parts.scheme is None and parts.authority is None and ":" in parts.path.partition("/")[0]:
        return False
    return (
        (parts.authority is None or _is_valid_authority(parts.authority))
        and _PATH.fullmatch(parts.path) is not None
        and _is_valid_query(parts.query or "", encoding)
        and _FRAGMENT.fullmatch(parts.fragment or "") is not None
    )


def _is_valid_authority(authority: str) -> bool:
    parts = uri.split_authority(authority)
    if parts is None:
        return False
    user, host, _ = parts
    return _USER.fullmatch(user or "") is not None and (_NAME.fullmatch(host) is not None or uri.is_ip_literal(host))


def _is_valid_query(query: str, encoding: str) -> bool:
    return _QUERY.fullmatch(query) is not None and (query.isascii() or is_unicode(encoding))


def _write_query(query: str, encoding: str) -> str:
    """Percent-encode a query after encoding it; what the encoding lacks becomes a numeric character reference."""
    octets = encode(query, encoding, lambda letter: f"%26%23{ord(letter)}%3B")
    return "".join(chr(octet) if octet in _QUERY_KEEPS else f"%{octet:02X}" for octet in octets)
