"""The copies that a page names, ready to be remembered. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.model import CopyLink
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.links.copy_signs import may_name_copies
from tocsin.spec.topper.dates import parse_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.model import Instant

# A base of eight kilobytes could make a thousand short links long.
_MOST_CHARACTERS = 2**20
# No link type that anybody registered is nearly as long; a page may write what it likes.
_LONGEST_REL = 256
_EPOCH_S = 62_167_219_200
"""1970-01-01 in seconds since the year 0."""


def find_copies(
    watched: str, final_url: str, body: bytes, content_type: str | None, headers: Sequence[tuple[str, str]]
) -> tuple[CopyLink, ...]:
    """Read which copies a page names that was received whole: of the pages it links to, and of itself (MS-13).

    watched    the URL that the page is watched by; what is a copy of the page itself is a copy of this one
    final_url  its URL after redirects
    headers    of the answer, names in lower case
    At most 1,000 copies and a million characters of URLs. A page that no parser may be given names none.
    """
    links, sniffing = values_of(headers, "link"), values_of(headers, "x-content-type-options")
    if not links and not may_name_copies(body):
        return ()
    from tocsin.spec.links.copies import CopyKind, read_copies  # noqa: PLC0415 - few pages name any, and it takes long

    found = []
    characters = 0
    for copy in read_copies(body, content_type, final_url, links, nosniff=is_nosniff(sniffing)):
        is_own = copy.kind is not CopyKind.MSET and copy.target == final_url.partition("#")[0]
        target = watched if is_own else copy.target
        characters += len(target) + len(copy.url)
        if characters > _MOST_CHARACTERS:
            break
        rel = copy.rel if copy.rel is not None and len(copy.rel) <= _LONGEST_REL else None
        found.append(CopyLink(target, copy.url, copy.datetime, made_at(copy.datetime), rel, copy.kind.value))
    return tuple(found)


def made_at(datetime: str | None) -> Instant | None:
    """Give the instant of a copy's date, by which copies are ordered; a date alone is its first moment, UTC."""
    interval = parse_token(datetime) if datetime is not None else None
    return (interval.start.seconds - _EPOCH_S) * 1_000_000 if interval is not None else None


def values_of(headers: Iterable[tuple[str, str]], name: str) -> tuple[str, ...]:
    """Give the values of all headers of this (lower-case) name, in order."""
    return tuple([value for key, value in headers if key == name])
