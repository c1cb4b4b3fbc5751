"""One page to be watched, from what somebody wrote: its URL, group and words judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from tocsin.errors import UsageError
from tocsin.model import NewPage
from tocsin.spec.topper.table import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.model import JsonObject
    from tocsin.spec.html.urls import WatchedUrl

_LONGEST_GROUP: Final = 63


def check_group(name: str) -> str:
    """Return the name of a group as it is kept (NFC); raises UsageError for one that cannot be."""
    trimmed = normalize("NFC", name).strip()
    if not trimmed or len(trimmed) > _LONGEST_GROUP or not trimmed.isprintable():
        raise UsageError(f"group {name[:80]!r}: a group's name has 1 to {_LONGEST_GROUP} printable characters")
    return trimmed


class GroupNames:
    """Names of groups, of which no two differ only in capitals; those that are there already stay as they are.

    One that is there in another form of Unicode, as an older version took it, is the same name.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = set(names)
        self._folded = {_folded(name): name for name in self._names}

    def take(self, name: str) -> str:
        """Return the name; raises UsageError, which says what to write, where another one differs only in capitals."""
        if name not in self._names:
            other = self._folded.setdefault(_folded(name), name)
            if normalize("NFC", other) != name:
                raise UsageError(f"group {name}: there is {other}, which differs only in capitals; write {other}")
            self._names.add(name)
        return name


def _folded(name: str) -> str:
    return normalize("NFC", name).casefold()


def check_words(text: str | None) -> str | None:
    """Return the user's own words on a page; raises UsageError for too many (T24)."""
    return check_text(text) if text else None


def new_page(
    found: WatchedUrl,
    *,
    group: str = "main",
    text: str | None = None,
    settings: JsonObject | None = None,
    paused: bool = False,
) -> NewPage:
    """Make a page of a URL that was judged."""
    return NewPage(
        url=found.url,
        given=found.given,
        host=found.host,
        shard=found.shard,
        group=group,
        text=text,
        settings=settings or None,
        secrets=found.credentials,
        paused=paused,
    )
