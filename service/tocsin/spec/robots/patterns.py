"""What a rule of robots.txt covers: paths, octet by octet, with `*` and `$`, in linear time (RFC 9309, 2.2.2)."""

from __future__ import annotations

import re
from typing import NamedTuple

_PLAIN = re.compile(r"[A-Za-z0-9._~/-]*").fullmatch
_OCTET = re.compile(rb"%([0-9A-Fa-f]{2})|[^A-Za-z0-9._~/-]")
_UNRESERVED = re.compile(rb"[A-Za-z0-9._~-]")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


class Pattern(NamedTuple):
    """A rule's path.

    parts     the literal pieces between its `*`, as `canonical` writes them; at least one
    anchored  it ends where the URL does (`$`)
    octets    how specific it is: its length once everything that needs it is percent-encoded
    """

    parts: tuple[str, ...]
    anchored: bool
    octets: int

    def is_match(self, path: str) -> bool:
        """Say whether it covers this path and query, written by `canonical`."""
        first, *rest = self.parts
        if not path.startswith(first):
            return False
        if not rest:
            return not self.anchored or len(path) == len(first)
        # The leftmost place of each piece is as good as any other one, so that nothing is ever tried twice.
        at, last = len(first), rest.pop()
        for part in rest:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        if self.anchored:
            return len(path) - len(last) >= at and path.endswith(last)
        return path.find(last, at) >= 0


def parse_pattern(value: str) -> Pattern:
    """Read the value of an `Allow` or `Disallow` line; any text is one."""
    anchored = value.endswith("$")
    literal = value[:-1] if anchored else value
    pieces = literal.split("*")
    # Two stars in a row say no more than one.
    inner = [piece for piece in pieces[1:-1] if piece]
    ends = pieces[-1:] if len(pieces) > 1 else []
    return Pattern(tuple(map(canonical, [pieces[0], *inner, *ends])), anchored, _octets(value))


def canonical(text: str) -> str:
    """Write a path, or a piece of one, so that equal ones are equal: all but unreserved characters and `/` escaped.

    An escaped slash stays another thing than a slash.
    """
    if _PLAIN(text):
        return text
    return _OCTET.sub(_escaped, text.encode("utf-8", "surrogatepass")).decode("ascii")


def path_of(url: str) -> str:
    """Return the path and query of a URL, as written; at least `/`."""
    authority = _AUTHORITY.match(url)
    path = url[authority.end() if authority else 0 :].partition("#")[0]
    return path if path.startswith("/") else f"/{path}"


def _escaped(found: re.Match[bytes]) -> bytes:
    digits = found[1]
    octet = bytes.fromhex(digits.decode()) if digits else found[0]
    return octet if _UNRESERVED.match(octet) else b"%%%02X" % octet[0]


def _octets(value: str) -> int:
    if _PLAIN(value):
        return len(value)
    written = value.encode("utf-8", "surrogatepass")
    needless = sum(1 for found in _OCTET.finditer(written) if found[1] and len(_escaped(found)) == 1)
    return len(written) + 2 * len(_NOT_ASCII.findall(written)) - 2 * needless
