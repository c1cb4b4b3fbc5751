"""URLs as the draft of 2008 parsed, resolved and took them apart.

Tocsin itself resolves URLs with `infrastructure.urls.resolve`, as browsers do today.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from encodings import idna

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.urls import (
    SUB_DELIMS,
    UNRESERVED,
    UriParts,
    encode,
    is_ip_literal,
    resolve_reference,
    split_authority,
    split_reference,
)

# Schemes with a server-based naming authority, and the ports that go without saying.
_DEFAULT_PORTS = {"ftp": 21, "gopher": 70, "http": 80, "https": 443, "ws": 80, "wss": 443}

_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_OCTETS = re.compile("(?:%[0-9A-Fa-f]{2})++")
_NOT_IN_PATH = re.compile(rf"[^{UNRESERVED}{SUB_DELIMS}:@/%]++")
_NOT_IN_QUERY = re.compile(rf"[^{UNRESERVED}{SUB_DELIMS}:@/?%]++")
_SURROGATE = re.compile("[\ud800-\udfff]")

_DOTS = re.compile("[.\u3002\uff0e\uff61]")
_NOT_STD3 = re.compile(r"[\0-,./:-@\[-`{-\x7f]|\A-|-\Z")
_LONGEST_WRITTEN_LABEL = 1024


@dataclass(frozen=True, slots=True)
class DraftUrl:
    """The components of a URL, as written; None where one is absent, which is not the same as empty (URL-05)."""

    scheme: str | None
    user: str | None
    host: str | None
    port: str | None
    path: str
    query: str | None
    fragment: str | None

    @property
    def hostport(self) -> str | None:
        """The host, with its port if that is not the one that goes without saying."""
        if self.scheme is None or not self.port or self.host is None:
            return self.host
        default = _DEFAULT_PORTS.get(self.scheme.lower())
        return self.host if self.port.lstrip("0") == str(default) else f"{self.host}:{self.port}"

    @property
    def is_hierarchical(self) -> bool:
        """Whether its path is one of segments."""
        return self.scheme is None or self.host is not None or self.path.startswith("/")


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A URL in the seven attributes that pages ask for; empty where one has nothing to give (URL-17)."""

    protocol: str
    host: str
    hostname: str
    port: str
    pathname: str
    search: str
    hash: str


def parse_url(text: str) -> DraftUrl | None:
    r"""Split a URL into its components; None where that fails.

    RFC 3986 with four exceptions: characters beyond ASCII, and " < > [ \ ] ^ ` { | }, are allowed anywhere; a single %
    too, but not in a registered name; and # is allowed in a fragment.
    Source  text 004, 2.3.2 (URL-02 to URL-05)
    """
    parts = split_reference(text.strip(SPACE))
    if parts.authority is None:
        # Without a scheme, the text before a colon would be one.
        if parts.scheme is None and ":" in parts.path.partition("/")[0]:
            return None
        return DraftUrl(parts.scheme, None, None, None, parts.path, parts.query, parts.fragment)
    authority = split_authority(parts.authority)
    if authority is None:
        return None
    user, host, port = authority
    if _LONE_PERCENT.search(host):
        return None
    return DraftUrl(parts.scheme, user, host, port, parts.path, parts.query, parts.fragment)


def resolve(text: str, base: str, encoding: str = "utf-8") -> str | None:
    """Resolve a URL to an absolute URL as the draft did; None if it is not resolvable.

    base      absolute
    encoding  any label of the document's encoding, which the query is written in
    Source    text 004, 2.3.3 (URL-08 to URL-14), IP literals left as they are (C-09)
    """
    parsed = parse_url(_SURROGATE.sub("\ufffd", text))  # Step 6.
    if parsed is None:
        return None
    if parsed.host:  # Step 7.
        host = _to_ascii(parsed.host)
        if host is None:
            return None
        parsed = replace(parsed, host=host)
    reference = UriParts(
        parsed.scheme,
        _authority_of(parsed),
        _NOT_IN_PATH.sub(lambda found: _escape(found[0].encode()), parsed.path),  # Step 8.
        None if parsed.query is None else _escape_query(parsed.query, encoding),  # Step 9.
        parsed.fragment,
    )
    against = split_reference(base)
    if reference.scheme is None and against.scheme is None:
        return None
    target = resolve_reference(reference, against)  # Step 10.
    result = str(target)
    # Step 13: only a fragment or user info can still hold one (C-10).
    return result.replace("\\", "/") if (target.scheme or "").lower() in _DEFAULT_PORTS else result


def decompose(text: str) -> Decomposition | None:
    """Split a URL by the getters of the URL decomposition attributes; None for a text that cannot be parsed.

    Source  text 004, 2.3.5 (URL-17)
    """
    parsed = parse_url(text)
    if parsed is None:
        return None
    return Decomposition(
        protocol="" if parsed.scheme is None else f"{parsed.scheme}:",
        host=parsed.hostport or "",
        hostname=parsed.host or "",
        port=parsed.port or "",
        pathname=parsed.path if parsed.is_hierarchical else "",
        search="" if parsed.query is None or not parsed.is_hierarchical else f"?{parsed.query}",
        hash="" if parsed.fragment is None else f"#{parsed.fragment}",
    )


def _authority_of(parsed: DraftUrl) -> str | None:
    if parsed.host is None:
        return None
    user = "" if parsed.user is None else f"{parsed.user}@"
    return f"{user}{parsed.host}" if parsed.port is None else f"{user}{parsed.host}:{parsed.port}"


def _escape(octets: bytes) -> str:
    return "".join(f"%{octet:02X}" for octet in octets)


def _escape_query(query: str, encoding: str) -> str:
    """Escape a query letter by letter; an unescaped question mark replaces letters that cannot be encoded (URL-11)."""

    def escape(letter: str) -> str:
        octets = encode(letter, encoding, lambda _: "?")
        return "?" if octets == b"?" else _escape(octets)

    escaped = {letter: escape(letter) for letter in set("".join(_NOT_IN_QUERY.findall(query)))}
    return "".join(escaped.get(letter, letter) for letter in query)


def _to_ascii(host: str) -> str | None:
    """Apply IDNA's ToASCII to each label, with unassigned code points allowed and the rules of hosts (URL-09)."""
    if is_ip_literal(host):
        return host
    try:
        expanded = _OCTETS.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), host)
    except UnicodeDecodeError:
        return None
    *labels, last = _DOTS.split(expanded)
    written = [_label_to_ascii(label) for label in (*labels, *([last] if last else []))]
    if None in written:
        return None
    return ".".join([label or "" for label in written] + ([] if last else [""]))


def _label_to_ascii(label: str) -> str | None:
    if not label or len(label) > _LONGEST_WRITTEN_LABEL:  # punycode takes quadratic time
        return None
    try:
        prepared = label if label.isascii() else idna.nameprep(label)
        written = idna.ToASCII(label).decode("ascii")
    except UnicodeError:
        return None
    return None if _NOT_STD3.search(prepared) else written
