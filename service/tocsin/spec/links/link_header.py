"""The links that a server names in Link headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_TARGET: Final = re.compile(r"[ \t,]*+<([^>]*+)>")
# A parameter's value is a quoted string, which may not be closed, or runs to the next separator.
_PARAMETER: Final = re.compile(
    r"""[ \t]*+;[ \t]*+(?P<name>[^=;,"<> \t]*+)[ \t]*+
    (?:=[ \t]*+(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"?+|(?P<bare>[^;,"]*+)))?+""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_NOT_ASCII: Final = re.compile("[\x80-\xff]")
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """A link of a Link header.

    target      the reference between its angle brackets; bytes that are not ASCII are percent-encoded
    parameters  by name in lower case; of several with one name the first counts
    """

    target: str
    parameters: Mapping[str, str]


def read_link_headers(values: Iterable[str]) -> tuple[HeaderLink, ...]:
    """Read the links of a page's Link headers, at most 1,000; what is malformed ends its header.

    values  each character is one byte
    Source  RFC 8288, 3 and its appendix B.2.
    """
    links: list[HeaderLink] = []
    for value in values:
        for link in _links(value):
            if len(links) >= _MOST:
                return tuple(links)
            links.append(link)
    return tuple(links)


def _links(value: str) -> Iterator[HeaderLink]:
    place = 0
    while (target := _TARGET.match(value, place)) is not None:
        place = target.end()
        parameters: dict[str, str] = {}
        while (parameter := _PARAMETER.match(value, place)) is not None:
            place = parameter.end()
            quoted, bare = parameter["quoted"], parameter["bare"]
            text = _ESCAPED.sub(r"\1", quoted) if quoted is not None else (bare or "").strip(" \t")
            if parameter["name"]:
                parameters.setdefault(parameter["name"].lower(), text)
        reference = _NOT_ASCII.sub(lambda byte: f"%{ord(byte[0]):02X}", target[1].strip(" \t"))
        yield HeaderLink(reference, parameters)
