"""How a page's items changed, in sentences made of what the event shows (`events`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from tocsin.spec.infrastructure.unsafe import safe_line
from tocsin.spec.microdata.changes.matching import LABELS
from tocsin.spec.microdata.reading.packing import LONGEST, MOST_BYTES, MOST_ITEMS

# A value in a sentence; the whole one is in the event.
_MOST_CHARS: Final = 200
_MOST_VALUES: Final = 8
_COUNTED: Final = ("added", "removed", "changed")
_LISTS: Final = (list, tuple)
_BEYOND: Final = (
    "the page has more items than are kept, and those may differ; kept are the first "
    f"{MOST_ITEMS:,} items and {MOST_BYTES // 2**10} KiB of a page, and {LONGEST:,} letters of a value"
)
# Names of properties that distinguish events of the same name.
_DAYS: Final = ("dtstart", "startDate")


def tell_changes(items: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each change: `dtstart of "Bluesday": 2009-05-05 → 2009-05-06`, `added: vevent "Jazz"`.

    items  as the event shows them
    Of a property with many values only those that differ are named. Texts of the page are shortened, on one line, and
    without control characters or changes of direction; they are not escaped for markup.
    """
    for change in items["changes"]:
        yield _tell(change)
    if items["cut"]:
        known = any(items[word] for word in _COUNTED)
        yield f"not all is shown: at least {count_changes(items)}" if known else _BEYOND


def count_changes(items: Mapping[str, Any]) -> str:
    """Return how many items differ: `1 added, 2 changed`."""
    counts = {word: items[word] for word in _COUNTED}
    told = ", ".join(f"{number:,} {word}" for word, number in counts.items() if number)
    return told or ("none of those that are kept" if items.get("cut") else "none")


def short_type(type_: str | None) -> str:
    """Return the last part of an item's first type, such as `vevent` or `Event`; `item` without a type."""
    first = next(iter((type_ or "").split()), "")
    return _cut(first.rstrip("/#").replace("#", "/").rpartition("/")[2] or first or "item")


def _tell(change: Mapping[str, Any]) -> str:
    item, previous, latest = change["item"], change["previous"], change["latest"]
    if change["property"] is None:
        return f"{change['change']}: {_known_as(item, with_type=True)}{_day(previous or latest)}"
    subject = _place(change)
    previous, latest, beside = _what_differs(previous or (), latest or ())
    beside_those = f" (beside {beside:,} more)" if beside else ""
    if not previous:
        return f"{subject} added: {_values(latest)}{beside_those}"
    if not latest:
        return f"{subject} removed: {_values(previous)}{beside_those}"
    return f"{subject}: {_values(previous)} → {_values(latest)}{beside_those}"


def _place(change: Mapping[str, Any]) -> str:
    """Name the place of a change, from the property outwards: `startDate of "Jazz" (event 2 of "Season")`.

    The innermost item with a label is named by it; its own place follows in brackets.
    """
    within = change["within"] if isinstance(change["within"], list) else [change["within"]]
    # Older events have no path, nor has a change whose path did not fit into its event.
    path = change["path"] if isinstance(change.get("path"), list) else []
    steps = [*zip_longest(within, path[: len(within)])]
    said, ends = [_cut(_said(change["property"]))], ""
    for name, step in reversed(steps):
        label, number = (step.get("label"), step.get("position")) if isinstance(step, dict) else (None, None)
        label = "" if ends else _label(_said(label))
        if label:
            said[-1], ends = f'{said[-1]} of "{label}" ({_cut(_said(name))}', ")"
        else:
            said.append(_cut(_said(name)))
        if isinstance(number, int):
            said[-1] += f" {number:,}"
    return f"{' of '.join(said)} of {_known_as(change['item'])}{ends}"


def _what_differs(previous: Any, latest: Any) -> tuple[Any, Any, int]:
    """Leave out the equal values at both ends of lists that are long, or of items; returns also how many these are.

    Lists of items are always shortened, since an equal item and a changed one may be shown by the same words.
    """
    if not (isinstance(previous, _LISTS) and isinstance(latest, _LISTS)) or previous == latest:
        return previous, latest, 0
    most = min(len(previous), len(latest))
    is_of_items = any(isinstance(value, dict) for value in (*previous, *latest))
    if max(len(previous), len(latest)) <= _MOST_VALUES and not is_of_items:
        return previous, latest, 0
    begin = next((place for place in range(most) if previous[place] != latest[place]), most)
    most -= begin
    end = next((place for place in range(most) if previous[-1 - place] != latest[-1 - place]), most)
    return previous[begin : len(previous) - end], latest[begin : len(latest) - end], begin + end


def _known_as(item: Mapping[str, Any], *, with_type: bool = False) -> str:
    """Name an item by its label; without one, by its type and its number among items of that type."""
    kind, label = short_type(_said(item["type"])), _label(_said(item["label"]))
    if not label:
        return f"{kind} {item['position']}"
    return f'{kind} "{label}"' if with_type else f'"{label}"'


def _values(values: Sequence[Any] | dict[str, Any]) -> str:
    if not isinstance(values, _LISTS):
        return _cut(_said(values))
    shown = [_value(each) for each in values[:_MOST_VALUES]]
    if more := len(values) - len(shown):
        shown.append(f"… and {more:,} more")
    return ", ".join(shown)


def _value(value: Any) -> str:
    """Show a text, or an item by its type and label."""
    if not isinstance(value, dict) or "length" in value:
        return _cut(_said(value)) or '""'
    label, kind = _label(_text_of(value, LABELS)), short_type(_said(value.get("type")))
    return f'{kind} "{label}"{_day(value)}' if label else f"{kind}{_day(value)}"


def _day(item: Any) -> str:
    """Return the date of an event, to follow its name."""
    day = _cut(_text_of(item, _DAYS))
    return f" ({day})" if day else ""


def _text_of(item: Any, names: Sequence[str]) -> str:
    """Return the first text of an item under one of these names; "" without any."""
    said = item.get("properties") if isinstance(item, dict) else None
    lists = [said[name] for name in names if isinstance(said, dict) and isinstance(said.get(name), list)]
    return next((text for texts in lists for text in texts if isinstance(text, str)), "")


def _said(value: Any) -> str:
    """Return a text of an event; one that was too long is there as digest and length."""
    if isinstance(value, dict):
        length = value.get("length")
        return f"({length:,} bytes, too long to be kept here)" if isinstance(length, int) else ""
    return "" if value is None else str(value)


def _label(text: str) -> str:
    """Return a label on one line without double quotes, to be put between them."""
    return _cut(text).replace('"', "'")


def _cut(text: str) -> str:
    """Return a text on one line, shortened, and without what terminals obey."""
    # Cut first: folding the white space of a long text would take long.
    line = safe_line(" ".join(text[: 2 * _MOST_CHARS].split()))
    is_whole = len(text) <= 2 * _MOST_CHARS and len(line) <= _MOST_CHARS
    return line if is_whole else f"{line[: _MOST_CHARS - 1]}…"
