"""References as RFC 3986 splits, merges and writes them, with the letters that RFC 3987 adds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from ipaddress import AddressValueError, IPv6Address

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
_FUTURE_LITERAL = re.compile(r"\[v[0-9A-Fa-f]++\.[A-Za-z0-9._~!$&'()*+,;=:-]++\]", re.IGNORECASE)

UNRESERVED = r"A-Za-z0-9._~\-"
SUB_DELIMS = "!$&'()*+,;="
UCSCHAR = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr((plane << 16) + (0x1000 if plane == 0xE else 0))}-{chr((plane << 16) + 0xFFFD)}"  # noqa: PLR2004 - RFC 3987
    for plane in range(1, 0xF)
)
"""Letters that an IRI may hold unescaped (RFC 3987, 2.2), as the inside of a character class."""
IPRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
"""Letters that the query of an IRI may hold besides."""

_NO_IRI = re.compile(r"[\x00-\x20\"<>\\^`{|}\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in its five parts; None where one is absent, which is not the same as empty."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None

    def __str__(self) -> str:
        """Write the parts together (RFC 3986, 5.3)."""
        parts = [self.path]
        if self.authority is not None:
            parts.insert(0, f"//{self.authority}")
        if self.scheme is not None:
            parts.insert(0, f"{self.scheme}:")
        if self.query is not None:
            parts.append(f"?{self.query}")
        if self.fragment is not None:
            parts.append(f"#{self.fragment}")
        return "".join(parts)


def split_reference(text: str) -> Reference:
    """Split a text where RFC 3986 (appendix B) does, whatever its parts hold."""
    match = _SCHEME.match(text)
    scheme = match[1] if match else None
    rest = text[match.end() :] if match else text
    rest, hash_, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    authority = None
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
    return Reference(scheme, authority, rest, query if mark else None, fragment if hash_ else None)


def split_authority(authority: str) -> tuple[str | None, str, str | None] | None:
    """Split an authority into user info, host and port; None where none of RFC 3986's would match.

    What the user info and a registered name hold is not looked at, but that they hold no @, and the name no colon.
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
    """Say whether a host is an IPv6 address, or one of a later version, in brackets."""
    if not (host.startswith("[") and host.endswith("]")):
        return False
    if _FUTURE_LITERAL.fullmatch(host):
        return True
    try:
        IPv6Address(host[1:-1])
    except AddressValueError:
        return False
    return "%" not in host  # a zone is no part of RFC 3986


def resolve_reference(reference: Reference, base: Reference) -> Reference:
    """Find the target of a reference (RFC 3986, 5.2.2, strictly)."""
    if reference.scheme is not None:
        return replace(reference, path=remove_dot_segments(reference.path))
    if reference.authority is not None:
        return replace(reference, scheme=base.scheme, path=remove_dot_segments(reference.path))
    if not reference.path:
        query = base.query if reference.query is None else reference.query
        return replace(base, query=query, fragment=reference.fragment)
    path = reference.path if reference.path.startswith("/") else _merge(reference.path, base)
    return Reference(base.scheme, base.authority, remove_dot_segments(path), reference.query, reference.fragment)


def remove_dot_segments(path: str) -> str:
    """Take the steps that `.` and `..` ask for (RFC 3986, 5.2.4), in time that grows with the path."""
    segments = path.split("/")
    start = 1
    output: list[str] = []
    if segments[0]:
        start = next((place for place, segment in enumerate(segments) if segment not in (".", "..")), len(segments))
        if start == len(segments):  # A and D: nothing but dots
            return ""
        output.append(segments[start])
        start += 1
    for segment in segments[start:]:
        if segment == "..":  # C
            del output[-1:]
        elif segment != ".":  # E
            output.append(f"/{segment}")
    if start < len(segments) and segments[-1] in (".", ".."):
        output.append("/")
    return "".join(output)


def percent(found: re.Match[str]) -> str:
    """Write what was found as the octets of its UTF-8, %-escaped; half of a surrogate pair as a replacement character.

    This is how HTML hands on a surrogate that is alone, so that a URL is the same whoever writes it.
    """
    return "".join(f"%{octet:02X}" for octet in _SURROGATE.sub("\ufffd", found[0]).encode())


def write_iri(url: str) -> str:
    """Write a URL as an IRI: browsers take some characters in URLs that IRIs have no place for."""
    return _NO_IRI.sub(percent, url)


def _merge(path: str, base: Reference) -> str:
    """Put a relative path in the place of the last segment of the base's (RFC 3986, 5.2.3)."""
    if base.authority is not None and not base.path:
        return f"/{path}"
    folder, slash, _ = base.path.rpartition("/")
    return f"{folder}{slash}{path}"
