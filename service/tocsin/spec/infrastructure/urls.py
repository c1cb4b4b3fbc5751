"""URLs in a document: where a reference leads as browsers read it today, and whether it is written as it must be."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from ipaddress import AddressValueError, IPv6Address
from typing import Final

import webencodings  # type: ignore[import-untyped]  # has no stubs

from tocsin.spec.html import urls
from tocsin.spec.html.decoding import decode, encoding_for
from tocsin.spec.html.tree import Element

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
_FUTURE_LITERAL = re.compile(r"\[v[0-9A-Fa-f]++\.[A-Za-z0-9._~!$&'()*+,;=:-]++\]", re.IGNORECASE)

UNRESERVED = r"A-Za-z0-9._~\-"
SUB_DELIMS = "!$&'()*+,;="
# Letters that an IRI may hold unescaped (RFC 3987, 2.2), as the inside of a character class.
UCSCHAR = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr((plane << 16) + (0x1000 if plane == 0xE else 0))}-{chr((plane << 16) + 0xFFFD)}"  # noqa: PLR2004 - RFC 3987
    for plane in range(1, 0xF)
)
# Letters that the query of an IRI may hold besides.
IPRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"

_NO_IRI = re.compile(r"[\x00-\x20\"<>\\^`{|}\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class UriParts:
    """A reference in its five parts; None where one is absent, which is not the same as empty."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def split_reference(text: str) -> UriParts:
    """Split a text as RFC 3986 (appendix B) does; its parts are not checked."""
    match = _SCHEME.match(text)
    scheme = match[1] if match else None
    rest = text[match.end() :] if match else text
    rest, hash_, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    authority = None
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
    return UriParts(scheme, authority, rest, query if mark else None, fragment if hash_ else None)


def split_authority(authority: str) -> tuple[str | None, str, str | None] | None:
    """Split an authority into user info, host and port; None where none of RFC 3986's would match.

    User info and a registered name are not checked, except that they contain no @, and the name no colon.
    """
    user, at, rest = authority.partition("@")
    if not at:
        user, rest = "", authority
    if "@" in rest:
        return None
    literal, bracket, after = rest.partition("]")
    if is_ip_literal(literal + bracket):
        host, colon, port = literal + bracket, after[:1], after[1:]
        if colon not in ("", ":"):
            return None
    else:
        host, colon, port = rest.partition(":")
    if not (port.isascii() and (port.isdecimal() or not port)):
        return None
    return user if at else None, host, port if colon else None


def is_ip_literal(host: str) -> bool:
    """Return whether a host is an IPv6 address, or one of a later version, in brackets."""
    if not (host.startswith("[") and host.endswith("]")):
        return False
    if _FUTURE_LITERAL.fullmatch(host):
        return True
    try:
        IPv6Address(host[1:-1])
    except AddressValueError:
        return False
    return "%" not in host  # a zone is no part of RFC 3986


def percent(found: re.Match[str]) -> str:
    """Write what was found as the octets of its UTF-8, %-escaped; half of a surrogate pair as a replacement character.

    HTML replaces a lone surrogate in the same way, so that all readers get the same URL.
    """
    return "".join(f"%{octet:02X}" for octet in _SURROGATE.sub("\ufffd", found[0]).encode())


def write_iri(url: str) -> str:
    """Write a URL as an IRI: browsers take some characters in URLs that IRIs have no place for."""
    return _NO_IRI.sub(percent, url)


# Encodings as URLs are written in them.


UNICODE = frozenset({"utf-8", "utf-16le", "utf-16be"})

# The Encoding standard's encodings of these names have more letters than Python's codecs of the same names.
_WIDER = {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}


def is_unicode(label: str) -> bool:
    """Return whether the label names UTF-8 or UTF-16."""
    return encoding_for(label) in UNICODE


def output_encoding(label: str) -> str:
    """Return the encoding that a document of this encoding writes with: UTF-8 for UTF-16, and for unknown labels."""
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
    """Return whether the encoding has a letter: whether the bytes that Python writes mean that letter in it."""
    if letter.isascii():
        return True
    try:
        octets = codec.encode(letter)[0]
    except UnicodeEncodeError:
        return False
    return decode(octets, name) == letter


# Schemes whose query is written in the document's encoding.
_SPECIAL = ("http:", "https:", "ftp:", "file:")
# A relative reference has no meaning there.
_NO_BASE = ("data:", "javascript:")
_TRIMMED = "".join(map(chr, range(0x21)))
_DROPPED = re.compile("[\t\n\r]")
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:")

_QUERY_KEEPS = frozenset(range(0x21, 0x7F)) - frozenset(b"\"#'<>")
_ESCAPED = "%[0-9A-Fa-f]{2}"
# What each part of a URL may hold besides the letters of names.
_IN_NAME, _IN_USER, _IN_PATH, _IN_QUERY, _IN_FRAGMENT = "", ":", ":@/", f"{IPRIVATE}:@/?", ":@/?"


def resolve(reference: str, base: str | None, encoding: str = "utf-8") -> str | None:
    """Resolve a reference as the URL standard does; None if it calls that a failure.

    base      absolute; None where there is none, so that only an absolute reference leads anywhere
    encoding  any label of the document's encoding, which the query is written in
    Returns   the serialisation, of any scheme, with its fragment; the caller judges these
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
    """Return whether the text has a scheme and leads somewhere without a base (URL-15, C-11)."""
    return _HAS_SCHEME.match(text) is not None and resolve(text, None) is not None


def is_valid_url(text: str, encoding: str = "utf-8") -> bool:
    """Return whether the text is a valid URL in a document of this encoding, with nothing around it.

    That is a URI reference, or an IRI reference; with letters beyond ASCII in its query only where the document is
    in UTF-8 or UTF-16.
    Source  text 004, 2.3.1 (URL-01); RFC 3986, RFC 3987
    """
    parts = split_reference(text)
    if parts.scheme is None and parts.authority is None and ":" in parts.path.partition("/")[0]:
        return False
    return (
        (parts.authority is None or _is_valid_authority(parts.authority))
        and _holds_only(_IN_PATH, parts.path)
        and _is_valid_query(parts.query or "", encoding)
        and _holds_only(_IN_FRAGMENT, parts.fragment or "")
    )


def _is_valid_authority(authority: str) -> bool:
    parts = split_authority(authority)
    if parts is None:
        return False
    user, host, _ = parts
    return _holds_only(_IN_USER, user or "") and (_holds_only(_IN_NAME, host) or is_ip_literal(host))


def _is_valid_query(query: str, encoding: str) -> bool:
    return _holds_only(_IN_QUERY, query) and (query.isascii() or is_unicode(encoding))


def _holds_only(besides: str, part: str) -> bool:
    return _pattern_of(besides).fullmatch(part) is not None


@cache
def _pattern_of(besides: str) -> re.Pattern[str]:
    # Compiled when the first URL is checked: five patterns with all letters of IRIs took 8 ms of each start.
    return re.compile(rf"(?:[{UNRESERVED}{SUB_DELIMS}{UCSCHAR}{besides}]|{_ESCAPED})*+")


def _write_query(query: str, encoding: str) -> str:
    """Percent-encode a query after encoding it; letters that the encoding lacks become numeric character references."""
    octets = encode(query, encoding, lambda letter: f"%26%23{ord(letter)}%3B")
    return "".join(chr(octet) if octet in _QUERY_KEEPS else f"%{octet:02X}" for octet in octets)


# Nothing that is longer can be asked for; resolving it would only cost time.
_LONGEST: Final = 65_536
# A longer base would make each short link of a page a long one.
_LONGEST_BASE: Final = 8192


class Bases:
    """The base URL of each element of a page."""

    def __init__(self, elements: Iterable[Element], address: str | None, encoding: str | None) -> None:
        """Find the document's base: that of the first base element with an href in the head, else its address.

        elements  the page's, in tree order; others than base elements do not matter
        address   the page's URL after redirects (LM-11); None if it is not known
        encoding  the page's; queries are written in it (URL-08)
        Source    text 001, BASE (LM-10); text 004, 2.3.3 (URL-06, URL-07)
        """
        self.encoding = encoding or "utf-8"
        self._found: dict[Element, str | None] = {}
        hrefs = (element.attributes["href"] for element in elements if _sets_base(element))
        href = next(hrefs, None)
        self.document: str | None = address
        if href is not None:
            base = self._resolve(href, None) if address is None else document_base(address, (href,), self.encoding)
            self.document = base if base is not None and len(base) <= _LONGEST_BASE else address

    def resolve(self, element: Element, reference: str) -> str | None:
        """Resolve a reference written in this element; None if it cannot be resolved.

        The result may have any scheme and a fragment; the caller judges these.
        """
        return self._resolve(reference, self.of(element))

    def of(self, element: Element) -> str | None:
        """Return an element's base: the xml:base of those above it, then the document's; None if nothing tells."""
        chain = []
        based = element.based
        while based is not None and based not in self._found:
            chain.append(based)
            based = based.parent and based.parent.based
        for each in reversed(chain):
            above = each.parent and each.parent.based
            outer = self.document if above is None else self._found[above]
            base = self._resolve(each.attributes["xml:base"], outer)
            self._found[each] = base if base is not None and len(base) <= _LONGEST_BASE else outer
        return self.document if element.based is None else self._found[element.based]

    def _resolve(self, reference: str, base: str | None) -> str | None:
        if len(reference) > _LONGEST:
            return None
        return resolve(reference, base, self.encoding)


def _sets_base(element: Element) -> bool:
    parent = element.parent
    return element.is_html("base") and "href" in element.attributes and parent is not None and parent.is_html("head")
