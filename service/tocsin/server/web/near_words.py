"""What a search that found nothing may have meant: words, a host or a group that are spelled nearly so.

They are looked for among few pages, those that have a word with the same beginning and the newest ones, so that it
takes as long at a million pages as at a hundred.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from tocsin.model import PageQuery, PageRow
from tocsin.server.parts import Parts
from tocsin.server.web.listing import PageListFilter

_WORD: Final = re.compile(r"[^\W_]+")
_BEGINNING: Final = 3  # Letters: what is mistyped is rarely among them.
_PAGES: Final = 100
_MOST_WORDS: Final = 5
_MOST_GROUPS: Final = 2000
_LONGEST: Final = 60
_ALIKE: Final = 0.7


async def find_near(parts: Parts, asked: PageListFilter) -> list[tuple[str, str]]:
    """Give what a search may have meant, each with its path; each of them finds something."""
    text = asked.q.strip().casefold()
    if not text or len(text) > _LONGEST:
        return []
    if asked.by == "host":
        hosts = {row.host for row in await _alike(parts, text)}
        return [(host, PageListFilter(q=host, by="host").path()) for host in get_close_matches(text, hosts, 1, _ALIKE)]
    found = []
    if (near := await _near_words(parts, text)) is not None:
        found.append((near, PageListFilter(q=near).path()))
    groups = {row.name.casefold(): row.name for row in (await parts.store.group_rows())[:_MOST_GROUPS] if row.pages}
    found += [(groups[name], PageListFilter(group=groups[name]).path()) for name in _nearest(text, groups)]
    return found


async def _near_words(parts: Parts, text: str) -> str | None:
    words = _WORD.findall(text)
    if not words or len(words) > _MOST_WORDS:
        return None
    near = []
    for word in words:
        known = {each for row in await _alike(parts, word) for each in _words_of(row)}
        is_there = any(each.startswith(word) for each in known)
        near.append(word if is_there else next(iter(_nearest(word, known)), word))
    said = " ".join(near)
    if near == words or not (await parts.store.browse_pages(PageQuery(words=said), limit=1)).rows:
        return None
    return said


async def _alike(parts: Parts, word: str) -> list[PageRow]:
    """Read the pages with a word that begins alike; besides, the newest ones."""
    found = (
        await parts.store.browse_pages(PageQuery(words=word[:_BEGINNING]), limit=_PAGES) if word[0].isalnum() else None
    )
    newest = await parts.store.browse_pages(PageQuery(), limit=_PAGES)
    return [*(found.rows if found is not None else ()), *newest.rows]


def _words_of(row: PageRow) -> list[str]:
    return _WORD.findall(" ".join(filter(None, (row.text, row.title, row.url))).casefold())


def _nearest(word: str, known: Iterable[str]) -> list[str]:
    return get_close_matches(word, known, n=1, cutoff=_ALIKE)
