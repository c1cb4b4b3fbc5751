"""A page to be watched, from user input: its group and text checked."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final
from unicodedata import normalize

from tocsin.errors import UsageError
from tocsin.model import JsonObject, NewPage
from tocsin.spec.html.urls import WatchedUrl
from tocsin.spec.topper.table import check_text

# Names of groups are in URLs and labels of metrics.
_LONGEST_GROUP: Final = 63
# Groups that an error names.
_MOST_NAMED: Final = 5


def check_group(name: str) -> str:
    """Return the name of a group as it is stored (NFC); raises UsageError for an invalid one."""
    trimmed = normalize("NFC", name).strip()
    if not trimmed or len(trimmed) > _LONGEST_GROUP or not trimmed.isprintable():
        raise UsageError(f"group {name[:80]!r}: a group's name has 1 to {_LONGEST_GROUP} printable characters")
    return trimmed


class GroupNames:
    """Names of groups, no two of which differ only in case."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = set(names)
        self._folded = {_folded(name): name for name in self._names}

    def take(self, name: str) -> str:
        """Return the name; raises UsageError if a known name differs from it only in case."""
        if name not in self._names:
            other = self._folded.setdefault(_folded(name), name)
            # Older versions stored names in any form of Unicode; those are the same name.
            if normalize("NFC", other) != name:
                raise UsageError(f"group {name}: the group {other} differs only in capitals; write {other}")
            self._names.add(name)
        return name


def _folded(name: str) -> str:
    return normalize("NFC", name).casefold()


def find_group(name: str, known: Iterable[str]) -> str:
    """Return the known group with this name, in any form of Unicode.

    Raises UsageError, which names groups with a similar name, else the first ones.
    """
    composed = {normalize("NFC", each): each for each in known}
    wanted = normalize("NFC", name).strip()
    if wanted in composed:
        return composed[wanted]
    if close := get_close_matches(wanted, composed, n=_MOST_NAMED):
        raise UsageError(f"group {wanted[:80]}: no such group; did you mean {' or '.join(close)}?")
    few = sorted(composed)[:_MOST_NAMED]
    more = f" and {len(composed) - len(few)} more" if len(composed) > len(few) else ""
    raise UsageError(f"group {wanted[:80]}: no such group; groups are: {', '.join(few)}{more}")


def check_words(text: str | None) -> str | None:
    """Return the user's own text for a page; raises UsageError if it is too long (T24)."""
    return check_text(text) if text else None


def new_page(
    found: WatchedUrl,
    *,
    group: str = "main",
    text: str | None = None,
    settings: JsonObject | None = None,
    paused: bool = False,
) -> NewPage:
    """Make a page of a valid URL."""
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
