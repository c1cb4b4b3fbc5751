"""The items of a list: pages, lines that are refused, and notices."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from tocsin.configuration import show_span
from tocsin.configuration.limits import check_line, check_page_header, check_selectors

CHANGEDETECTION: Final = "changedetection"
# Programs whose exports can be read.
DISTILL: Final = "distill"

# The longest name of a group; tags and folders of other programs are cut to it.
GROUP_LETTERS: Final = 63

# A kind of ListNotice: something that another program sets for its pages, and that has no counterpart here.
LEFT_OUT: Final = "left out"


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One page of a list, as listed.

    line      from 1; in XML the line of its element, in JSON and archives the number of the page
    url       not checked yet
    group     None if the list names none
    text      the user's own text, or None
    settings  text by key of PageSettings, not checked yet
    paused    listed, but not requested
    """

    line: int
    url: str
    group: str | None = None
    text: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    paused: bool = False


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that cannot be imported."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ListNotice:
    """Something in a list that is not a page: a sitemap of an index, an unknown column, a setting that is left out.

    nearest  what was probably meant, or None
    """

    line: int
    kind: str
    name: str
    nearest: str | None = None

    @property
    def told(self) -> str:
        """What happens to it, in words."""
        if self.kind == "sitemap":
            return f"a sitemap, which is not fetched: {self.name}"
        if self.kind == LEFT_OUT:
            return f"{self.name}: no counterpart here; left out"
        meant = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        return f"no setting is called {self.name!r}; this {self.kind} is left out{meant}"


@dataclass(frozen=True, slots=True)
class ListedChannels:
    """Where another program sent its alerts.

    told  in words that hold no secret
    toml  the same as channels and routes for the configuration, with secrets
    """

    line: int
    told: str
    toml: str


ListItem: TypeAlias = ListEntry | RefusedLine | ListNotice | ListedChannels


# Values of other programs' exports, checked, and a count of settings that have no counterpart here.


T = TypeVar("T")

# As long as the text of a page may be.
_LONGEST_TEXT: Final = 253
_SHOWN_KEY: Final = 80
# Selectors can be long.
_LONGEST_SETTING: Final = 4096
_LONGEST_S: Final = 3650 * 86_400
# Beginnings of XPath, JSONPath and jq, which other tools accept beside CSS selectors.
_NOT_CSS: Final = ("/", "xpath:", "xpath1:", "json:", "jq:", "jqraw:", "(")


def decode(body: bytes, kind: type[T]) -> T | None:
    """Read JSON; returns None if it is invalid, or of another type."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


class _Repeated(Exception):
    """A key that an object has twice."""


def repeated_key(body: bytes) -> str | None:
    """Return a key that one object has twice, since only its author knows which value is meant; else None."""
    try:
        json.loads(body, object_pairs_hook=_refuse_repeated)
    except _Repeated as exc:
        return str(exc)
    except (ValueError, RecursionError):
        return None
    return None


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    """Check one object, and keep nothing of it: the tree of a large export would fill the memory."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _Repeated(key[:_SHOWN_KEY])
        seen.add(key)


def words(value: Any) -> str | None:
    """Return a text as one line, cut to the longest text of a page; None if it is empty."""
    text = " ".join(value.replace("\0", " ").split()) if isinstance(value, str) else ""
    return text[:_LONGEST_TEXT] or None


def texts(value: Any) -> list[str]:
    """Return the texts of a list, or one text as a list; other values are dropped."""
    listed = value if isinstance(value, list) else [value]
    return [text.strip() for text in listed if isinstance(text, str) and text.strip()]


def seconds(value: Any) -> int:
    """Return a number that is not negative; 0 for other values."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return 0
    return max(0, min(int(value), _LONGEST_S))


def span(length_s: int) -> str:
    """Write an interval as in settings, at most the longest allowed one."""
    return show_span(timedelta(seconds=min(length_s, _LONGEST_S)))


def css(selectors: list[str]) -> str | None:
    """Return CSS selectors as one setting; None if any is of another language, or unsupported."""
    joined = ", ".join(selectors)
    if len(joined) > _LONGEST_SETTING:
        return None
    if any(selector.lower().startswith(_NOT_CSS) for selector in selectors) or check_selectors(joined) is not None:
        return None
    return joined


def table(value: Any) -> str:
    """Write headers as on a command line; other values, and headers that a page may not have, are left out."""
    if not isinstance(value, dict):
        return ""
    pairs = [
        f"{json.dumps(name)} = {json.dumps(text)}"
        for name, text in value.items()
        if isinstance(text, str) and check_page_header(name) is None and check_line(text) is None and text.isprintable()
    ]
    joined = ", ".join(pairs)
    return f"{{{joined}}}" if pairs and len(joined) <= _LONGEST_SETTING else ""


_MOST: Final = 40
_SHOWN: Final = 60


class LeftOut:
    """Counts keys that have no counterpart here.

    what  what the export lists, such as "watch"
    """

    def __init__(self, what: str, plural: str) -> None:
        self._what, self._plural = what, plural
        self._counts: dict[str, tuple[int, int]] = {}

    def note(self, key: str, number: int) -> None:
        """Count a key of the watch with this number; beyond 40 keys, the rest are counted together."""
        key = key if len(key) <= _SHOWN else key[:_SHOWN] + "…"
        if key not in self._counts and len(self._counts) >= _MOST:
            key = "other keys"
        first, times = self._counts.get(key, (number, 0))
        self._counts[key] = (first, times + 1)

    def told(self) -> Iterator[ListNotice]:
        """Yield a notice for each key: how many watches have it, and the first of them."""
        for key, (first, times) in self._counts.items():
            of = f"1 {self._what}" if times == 1 else f"{times:,} {self._plural}"
            yield ListNotice(first, LEFT_OUT, f"{key} of {of}")
