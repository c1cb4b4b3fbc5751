"""The URLs that a page writes into its links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.urls import is_absolute_url, is_valid_url
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.lint.page import WrittenPage

# What no URL holds, wherever in it; a per cent sign only before two digits.
_FORBIDDEN = re.compile(r"""[\x00-\x20"<>\\^`{|}\x7f]|%(?![0-9A-Fa-f]{2})""")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
_WITH_HOST = frozenset({"http", "https", "ftp", "ws", "wss"})
_WITHOUT_HOST = frozenset({"data", "mailto", "tel", "sms", "urn"})
_RULES = {"a": "LK-04", "area": "LK-04", "link": "URL-01", "base": "URL-01"}


def check_urls(page: WrittenPage) -> Iterator[Found]:
    """Judge URLs: of links, base elements, pings and the head's profile (LK-04, LK-09, LM-24/25, URL-01/13)."""
    for element in page.places.elements:
        if element.tag in _RULES and (href := element.get("href")) is not None:
            yield from _check_href(page, element, href)
            if element.tag in {"a", "area"} and element.get("ping") is not None:
                yield from _check_pings(page, element)
        elif element.tag == "head" and element.get("profile") is not None:
            yield from _check_profile(page, element)


def _check_href(page: WrittenPage, element: PlacedElement, href: str) -> Iterator[Found]:
    url = href.strip(SPACE)
    before = len(href) - len(href.lstrip(SPACE))
    if is_valid_url(url, page.encoding):
        if (problem := _against_its_scheme(url)) is not None:
            yield Found(page.value_at(element, "href").at(before), "URL-13", Level.WARNING, problem)
        return
    culprit = _FORBIDDEN.search(url)
    offset = before + (culprit.start() if culprit else 0)
    message = f"{shown(url)} is no valid URL; {_mend(url, culprit)}"
    yield Found(page.value_at(element, "href").at(offset), _RULES[element.tag], Level.ERROR, message)


def _mend(url: str, culprit: re.Match[str] | None) -> str:
    if culprit is not None and culprit[0] == "%":
        return "write %25 for a per cent sign"
    if culprit is not None and culprit[0] in "\t\n\r":
        return "take the line break or tab out"
    if culprit is not None and culprit[0] == "\\":
        return "write / for \\"
    if culprit is not None:
        return f"write %{ord(culprit[0]):02X} for {shown(culprit[0]) if culprit[0] > ' ' else 'white space'}"
    if not url.isascii() and "?" in url:
        return "write its query in ASCII, or save the page as UTF-8"
    return "write it as the address bar of a browser shows it once it is open"


def _against_its_scheme(url: str) -> str | None:
    """Say what a URL's scheme forbids, which no reader minds."""
    match = _SCHEME.match(url)
    if match is None:
        return None
    scheme, rest = match[1].lower(), url[match.end() :]
    if scheme in _WITH_HOST and (not rest.startswith("//") or rest[2:3] in ("", "/", "?", "#")):
        return f"{shown(url)} names no host; write {scheme}:// and the host"
    if scheme in _WITHOUT_HOST and rest.startswith("//"):
        return f"{shown(url)} names a host, which {scheme}: URLs have none of; leave out the //"
    if scheme == "data" and "," not in rest:
        return f"{shown(url)} holds no data; write a comma before them"
    return None


def _check_pings(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    for place, token in page.tokens(element, "ping"):
        if not is_valid_url(token, page.encoding):
            message = f"{shown(token)} is no valid URL to ping; mend it, or leave it out"
            yield Found(place, "LK-09", Level.WARNING, message)


def _check_profile(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    for count, (place, token) in enumerate(page.tokens(element, "profile")):
        if count:
            message = "only the first URL of a profile counts; leave out the others"
            yield Found(place, "LM-25", Level.WARNING, message)
            return
        if not (is_valid_url(token, page.encoding) and is_absolute_url(token)):
            message = f"{shown(token)} is no absolute URL, so it names no profile; write the profile's own"
            yield Found(place, "LM-24", Level.ERROR, message)
