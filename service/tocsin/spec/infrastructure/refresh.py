"""The whole of what a refresh pragma says: when, and where to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tocsin.spec.html.microsyntax import REFRESH, SPACE, read_refresh
from tocsin.spec.infrastructure.urls import resolve

_SEPARATOR = re.compile(rf"[0-9.]*+[{SPACE}]*+[;,]?[{SPACE}]*+")
_URL = re.compile(rf"[uU][rR][lL][{SPACE}]*+=[{SPACE}]*+")


@dataclass(frozen=True, slots=True)
class Refresh:
    """A refresh pragma.

    seconds  digits without leading zeros, of any length, as `read_refresh` gives them
    url      as written, without its quotes; None if the page itself is to be loaded again
    """

    seconds: str
    url: str | None


def read_whole_refresh(content: str) -> Refresh | None:
    """Read the content of a refresh pragma; None where HTML ignores it.

    Source  HTML, shared declarative refresh steps; text 001, META refresh, with its comma (LM-19, C-05)
    """
    match, seconds = REFRESH.match(content), read_refresh(content)
    if match is None or seconds is None:
        return None
    separator = _SEPARATOR.match(content, match.end(1))
    url = content[separator.end() :] if separator else ""
    if not url:
        return Refresh(seconds, None)
    if prefix := _URL.match(url):
        url = url[prefix.end() :]
    if url.startswith(("'", '"')):
        url = url[1:].partition(url[0])[0]
    return Refresh(seconds, url)


def find_target(refresh: Refresh, address: str | None, base: str | None, encoding: str = "utf-8") -> str | None:
    """Find the URL that a refresh would load; None where it would load nothing, or nobody knows what.

    address  of the document, None if it is not known
    base     its document base URL, None if it is not known
    """
    if refresh.url is None:
        return address
    target = resolve(refresh.url, base, encoding)
    return None if target is None or target.startswith("javascript:") else target
