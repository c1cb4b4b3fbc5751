"""Metadata of a page: meta elements with all their attributes, refresh, profile, language, title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tocsin.spec.html.microsyntax import REFRESH, SPACE, fold_space, lower_ascii, read_refresh, split_tokens
from tocsin.spec.html.tree import Element, Tree, read_pragma_language
from tocsin.spec.infrastructure.datetimes import read_http_date, to_text
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
    """Find the URL that a refresh would load; None if it would load nothing, or the URL is unknown.

    address  of the document, None if it is not known
    base     its document base URL, None if it is not known
    """
    if refresh.url is None:
        return address
    target = resolve(refresh.url, base, encoding)
    return None if target is None or target.startswith("javascript:") else target


@dataclass(frozen=True, slots=True)
class Metadatum:
    """What one meta element declares; None where an attribute is absent.

    name        as written, white space around it trimmed; compared without regard to case (LM-16)
    http_equiv  in lower case: the HTTP header that it replaces (LM-17), or the default of a language (LM-21)
    property    as written, white space around it trimmed
    content     as written (LM-20)
    language    of the content (LM-22); None if it is not known
    scheme      in which the content is expressed, as the page's profile defines it (LM-23)
    """

    name: str | None
    http_equiv: str | None
    property: str | None
    content: str | None
    charset: str | None
    language: str | None
    scheme: str | None


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a page.

    language     of its root, else that of the pragma, else of the header (LM-26); None if none is told
    profile      the name of the dictionary for its names: an opaque URL that is never asked for (LM-24, LM-25)
    keywords     each once, in order (LM-18)
    description  of the first element that has one (LM-29)
    expires      when a copy of it is no longer fresh, a hint: global date and time in UTC (LM-17)
    labels       PICS labels, as written (LM-20)
    """

    title: str | None
    language: str | None
    profile: str | None
    keywords: tuple[str, ...]
    description: str | None
    expires: str | None
    labels: tuple[str, ...]
    metas: tuple[Metadatum, ...]


def read_metadata(tree: Tree, headers: Iterable[tuple[str, str]] = ()) -> Metadata:
    """Read the metadata of a page, in tree order.

    headers  of its response; a real Expires overrides the page's own, its Content-Language does not
    Source   text 001, META, PROFILE and language (LM-16 to LM-29)
    """
    headers = tuple(headers)
    root, default = tree.root, read_default_language(tree, headers)
    metas = tuple(_read_meta(element, default) for element in tree.elements("meta"))
    own_language = root.language if root is not None else None
    return Metadata(
        title=read_title(tree),
        language=(default if own_language is None else own_language) or None,
        profile=_read_profile(tree),
        keywords=tuple(dict.fromkeys(_keywords(metas))),
        description=next((text for text in _contents(metas, "description") if text), None),
        expires=_read_expires([*_values(headers, "expires"), *_pragmas(tree, "expires")]),
        labels=tuple(meta.content for meta in metas if meta.http_equiv == "pics-label" and meta.content),
        metas=metas,
    )


def read_title(tree: Tree) -> str | None:
    """Return the text of a page's title element, folded; None if there is none, or nothing in it."""
    title = next(tree.elements("title"), None)
    return None if title is None else fold_space(title.text()) or None


def split_keywords(content: str) -> list[str]:
    """Split a list of keywords at its commas, white space folded, without empty ones (LM-18)."""
    return [word for part in content.split(",") if (word := fold_space(part))]


def read_default_language(tree: Tree, headers: Iterable[tuple[str, str]] = ()) -> str | None:
    """Return the language of elements without a LANG above them: of the page's pragma, else of its header (LM-26).

    A list of several languages sets none.
    Source  text 001, language
    """
    told = read_pragma_language(tree.pragmas())
    if told is not None:
        return told
    languages = [each for value in _values(headers, "content-language") for each in split_keywords(value)]
    return languages[0] if len(languages) == 1 else None


def _read_meta(element: Element, default_language: str | None) -> Metadatum:
    http_equiv = _trimmed(element.get("http-equiv"))
    return Metadatum(
        name=_trimmed(element.get("name")),
        http_equiv=None if http_equiv is None else lower_ascii(http_equiv),
        property=_trimmed(element.get("property")),
        content=element.get("content"),
        charset=_trimmed(element.get("charset")),
        language=(default_language if element.language is None else element.language) or None,
        scheme=_trimmed(element.get("scheme")),
    )


def _trimmed(value: str | None) -> str | None:
    return None if value is None else value.strip(SPACE)


def _contents(metas: Iterable[Metadatum], name: str) -> Iterator[str]:
    for meta in metas:
        if meta.name is not None and meta.content is not None and lower_ascii(meta.name) == name:
            yield fold_space(meta.content)


def _keywords(metas: Iterable[Metadatum]) -> Iterator[str]:
    for content in _contents(metas, "keywords"):
        yield from split_keywords(content)


def _read_profile(tree: Tree) -> str | None:
    """Return the first of the profiles (LM-25), as written: it is compared, and never fetched (LM-24)."""
    head = next(tree.elements("head"), None)
    names = split_tokens((head.get("profile") if head is not None else None) or "")
    return names[0] if names else None


def _pragmas(tree: Tree, name: str) -> Iterator[str]:
    for http_equiv, content in tree.pragmas():
        if lower_ascii((http_equiv or "").strip(SPACE)) == name and content:
            yield content


def _values(headers: Iterable[tuple[str, str]], name: str) -> Iterator[str]:
    return (value for each, value in headers if lower_ascii(each) == name)


def _read_expires(values: Sequence[str]) -> str | None:
    """Read the first Expires alone: one that is no date means that the page is stale already, which is no hint."""
    instant = read_http_date(values[0]) if values else None
    return None if instant is None else to_text(instant)
