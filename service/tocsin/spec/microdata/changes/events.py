"""How an event shows the changes of items, within limits; `words` puts the result in sentences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from tocsin.spec.microdata.changes.comparing import ItemChange, ItemChanges
from tocsin.spec.microdata.changes.matching import label_of
from tocsin.spec.microdata.values import Item, Value

MOST_CHANGES: Final = 100
MOST_BYTES: Final = 32 * 2**10
# Letters of one text.
LONGEST: Final = 1_000

# Of the previous and of the latest values each, so that one change does not take the room of all others.
_MOST_LETTERS: Final = 2_000

# Likewise, values within items included.
_MOST_VALUES: Final = 100

# Up to this number, all values of a property are shown; of more, the equal ones at both ends are left out.
_WHOLE: Final = 20

# Items within items that are shown.
_DEEPEST: Final = 4

# Letters that are shown before the first difference of two long texts.
_CONTEXT: Final = 100

# Bytes around the changes, and the numbers.
_OVERHEAD: Final = 200

_Object: TypeAlias = dict[str, Any]

_encode = msgspec.json.Encoder().encode


def show_changes(changes: ItemChanges, *, since: str) -> _Object | None:
    """Return `items` of an event; None if nothing differs, and nothing was cut.

    since  when the previous items were read
    At most 100 changes, texts of at most 1,000 letters, and 32 KiB as JSON. Of a property with more than 20 values, or
    with too little room, values that are equal at the beginning and at the end of both lists are left out. `cut` says
    that something is not shown.
    """
    if not (changes or changes.is_cut):
        return None
    shown: list[_Object] = []
    room, is_cut = MOST_BYTES - _OVERHEAD, changes.is_cut or len(changes.changes) > MOST_CHANGES
    for change in changes.changes[:MOST_CHANGES]:
        told, has_more = _tell(change)
        is_cut = is_cut or has_more
        room -= (size := len(_encode(told)) + 1)
        if room < 0:
            # A later, smaller change may still fit.
            room, is_cut = room + size, True
            continue
        shown.append(told)
    return {
        "since": since,
        "added": changes.added,
        "removed": changes.removed,
        "changed": changes.changed,
        "cut": is_cut,
        "changes": shown,
    }


def _tell(change: ItemChange) -> tuple[_Object, bool]:
    """Show one change; returns also whether some of it is not shown."""
    head, way = _Telling(), _Telling()
    item = change.item
    told: _Object = {
        "change": change.change,
        "item": head.name(item, change.position),
        "within": head.list(change.within),
        "path": [way.name(step.item, step.position) for step in change.path],
        "property": head.text_or_none(change.property),
        "previous": None,
        "latest": None,
    }
    if change.change == "changed":
        told["previous"], told["latest"], is_cut = _tell_values(change)
        return told, is_cut or head.is_cut or way.is_cut
    whole = _Telling()
    told["previous" if change.change == "removed" else "latest"] = whole.item(item, _DEEPEST)
    return told, head.is_cut or whole.is_cut


def _tell_values(change: ItemChange) -> tuple[Sequence[Any], Sequence[Any], bool]:
    """Show previous and latest values: all of them, or those between the equal ones at both ends."""
    if max(len(change.previous), len(change.latest)) <= _WHOLE:
        was, now = _Telling(), _Telling()
        shown = was.list(change.previous), now.list(change.latest)
        if not (was.is_cut or now.is_cut):
            return *shown, False
    begin, end = change.alike
    was, now = _Telling(), _Telling()
    previous, latest = _from_where_they_differ(
        change.previous[begin : len(change.previous) - end], change.latest[begin : len(change.latest) - end]
    )
    return was.list(previous), now.list(latest), bool(begin or end) or was.is_cut or now.is_cut


def _from_where_they_differ(
    previous: Sequence[Value], latest: Sequence[Value]
) -> tuple[Sequence[Value], Sequence[Value]]:
    """Let long texts begin shortly before their difference, since their beginnings may be equal."""
    pairs = [_from_where_it_differs(*two) for two in zip(previous, latest, strict=False)]
    most = len(pairs)
    return [was for was, _ in pairs] + [*previous[most:]], [now for _, now in pairs] + [*latest[most:]]


def _from_where_it_differs(was: Value, now: Value) -> tuple[Value, Value]:
    if isinstance(was, Item) or isinstance(now, Item) or max(len(was), len(now)) <= LONGEST:
        return was, now
    start = bisect_left(range(min(len(was), len(now))), x=True, key=lambda end: was[: end + 1] != now[: end + 1])
    start -= _CONTEXT
    return (f"…{was[start:]}", f"…{now[start:]}") if start > 0 else (was, now)


@dataclass(slots=True)
class _Telling:
    """Shows a part of a change, within its share of letters and values."""

    letters: int = _MOST_LETTERS
    values: int = _MOST_VALUES
    is_cut: bool = False

    def list(self, values: Sequence[Value], depth: int = _DEEPEST) -> Sequence[Any]:
        """Show the values of a name, and of items within them down to a depth."""
        shown = []
        for value in values:
            if not self._take_one() or (isinstance(value, Item) and not depth):
                self.is_cut = True
                break
            shown.append(self.item(value, depth - 1) if isinstance(value, Item) else self.text(value))
        return shown

    def name(self, item: Item, position: int | None) -> _Object:
        """Identify an item."""
        return {
            "type": self.text_or_none(item.type),
            "id": self.text_or_none(item.id),
            "position": position,
            "label": self.text_or_none(label_of(item)),
        }

    def item(self, item: Item, depth: int) -> _Object:
        """Show an item with its properties, as JSON does (JS-02)."""
        values: dict[str, Any] = {}
        for each in item.properties:
            for name in each.names:
                values.setdefault(name, []).append(each.value)
        properties: _Object = {}
        for name, found in values.items():
            if self.values <= 0 or self.letters <= 0:
                self.is_cut = True
                break
            properties[self.text(name)] = self.list(found, depth)
        return {"type": self.text_or_none(item.type), "id": self.text_or_none(item.id), "properties": properties}

    def _take_one(self) -> bool:
        self.values -= 1
        return self.values >= 0 and self.letters > 0

    def text_or_none(self, text: str | None) -> str | None:
        """Show a text, or None."""
        return self.text(text) if text is not None else None

    def text(self, text: str) -> str:
        """Show a text, or its beginning."""
        most = min(LONGEST, max(self.letters, 1))
        self.letters -= min(len(text), most)
        if len(text) > most:
            self.is_cut = True
            return f"{text[: most - 1]}…"
        return text
