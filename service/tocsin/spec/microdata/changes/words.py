"""How a page's items changed, in sentences made of what the event shows (`events`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import zip_longest
from typing import Any, Final

from msgspec import Struct

from tocsin.spec.infrastructure.unsafe import safe_line
from tocsin.spec.microdata.changes.matching import LABELS
from tocsin.spec.microdata.reading.packing import LONGEST, MOST_BYTES, MOST_ITEMS

# A value in a sentence; the whole one is in the event.
_MOST_CHARS: Final = 200
_MOST_VALUES: Final = 8
_COUNTED: Final = ("added", "removed", "changed")
_LISTS: Final = (list, tuple)
_ENGLISH: Final = {
    "added": "added: {item}",
    "removed": "removed: {item}",
    "values_added": "{subject} added: {values}",
    "values_removed": "{subject} removed: {values}",
    "of": "{part} of {whole}",
    "beside": "{values} (beside {number} more)",
    "more": "… and {number} more",
    "count_added": "{number} added",
    "count_removed": "{number} removed",
    "count_changed": "{number} changed",
    "none": "none",
    "none_kept": "none of those that are kept",
    "too_long": "({number} bytes, too long to be kept here)",
    "cut": "not all is shown: at least {counts}",
    "beyond": "the page has more items than are kept, and those may differ; kept are the first {items} items and "
    "{size} KiB of a page, and {letters} letters of a value",
}
# Names of properties that distinguish events of the same name.
_DAYS: Final = ("dtstart", "startDate")


class Phrases(Struct, frozen=True):
    """How a language tells of changes.

    texts   by key, with named places
    number  writes a number
    """

    texts: Mapping[str, str]
    number: Callable[[int], str]

    def say(self, key: str, **values: str | int) -> str:
        """Fill in a text."""
        return self.texts[key].format_map(
            {name: self.number(value) if isinstance(value, int) else value for name, value in values.items()}
        )


ENGLISH: Final = Phrases(_ENGLISH, "{:,}".format)


def tell_changes(items: Mapping[str, Any], phrases: Phrases = ENGLISH) -> Iterator[str]:
    """Yield a line for each change: `dtstart of "Bluesday": 2009-05-05 → 2009-05-06`, `added: vevent "Jazz"`.

    items  as the event shows them
    Of a property with many values only those that differ are named. Texts of the page are shortened, on one line, and
    without control characters or changes of direction; they are not escaped for markup.
    """
    for change in items["changes"]:
        yield _tell(change, phrases)
    if items["cut"]:
        if any(items[word] for word in _COUNTED):
            yield phrases.say("cut", counts=count_changes(items, phrases))
        else:
            yield phrases.say("beyond", items=MOST_ITEMS, size=MOST_BYTES // 2**10, letters=LONGEST)


def count_changes(items: Mapping[str, Any], phrases: Phrases = ENGLISH) -> str:
    """Return how many items differ: `1 added, 2 changed`."""
    counts = {word: items[word] for word in _COUNTED}
    told = ", ".join(phrases.say(f"count_{word}", number=number) for word, number in counts.items() if number)
    return told or phrases.say("none_kept" if items.get("cut") else "none")


def short_type(type_: str | None) -> str:
    """Return the last part of an item's first type, such as `vevent` or `Event`; `item` without a type."""
    first = next(iter((type_ or "").split()), "")
    return _cut(first.rstrip("/#").replace("#", "/").rpartition("/")[2] or first or "item")


def _tell(change: Mapping[str, Any], phrases: Phrases) -> str:
    item, previous, latest = change["item"], change["previous"], change["latest"]
    if change["property"] is None:
        named = f"{_known_as(item, with_type=True)}{_day(previous or latest)}"
        # An event of another program may have any word here.
        is_known = change["change"] in ("added", "removed")
        return phrases.say(change["change"], item=named) if is_known else f"{change['change']}: {named}"
    subject = _place(change, phrases)
    previous, latest, beside = _what_differs(previous or (), latest or ())
    before, now = (_values(each, phrases) for each in (previous, latest))
    if not previous:
        told = phrases.say("values_added", subject=subject, values=now)
    elif not latest:
        told = phrases.say("values_removed", subject=subject, values=before)
    else:
        told = f"{subject}: {before} → {now}"
    return phrases.say("beside", values=told, number=beside) if beside else told


def _place(change: Mapping[str, Any], phrases: Phrases) -> str:
    """Name the place of a change, from the property outwards: `startDate of "Jazz" (event 2 of "Season")`.

    The innermost item with a label is named by it; its own place follows in brackets.
    """
    within = change["within"] if isinstance(change["within"], list) else [change["within"]]
    # Older events have no path, nor has a change whose path did not fit into its event.
    path = change["path"] if isinstance(change.get("path"), list) else []
    steps = [*zip_longest(within, path[: len(within)])]
    said, ends = [_cut(_said(change["property"], phrases))], ""
    for name, step in reversed(steps):
        label, number = (step.get("label"), step.get("position")) if isinstance(step, dict) else (None, None)
        label = "" if ends else _label(_said(label, phrases))
        if label:
            named = phrases.say("of", part=said[-1], whole=f'"{label}"')
            said[-1], ends = f"{named} ({_cut(_said(name, phrases))}", ")"
        else:
            said.append(_cut(_said(name, phrases)))
        if isinstance(number, int):
            said[-1] += f" {phrases.number(number)}"
    parts = [*said, _known_as(change["item"])]
    return reduce(lambda part, whole: phrases.say("of", part=part, whole=whole), parts) + ends


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


def _values(values: Sequence[Any] | dict[str, Any], phrases: Phrases) -> str:
    if not isinstance(values, _LISTS):
        return _cut(_said(values, phrases))
    shown = [_value(each, phrases) for each in values[:_MOST_VALUES]]
    if more := len(values) - len(shown):
        shown.append(phrases.say("more", number=more))
    return ", ".join(shown)


def _value(value: Any, phrases: Phrases) -> str:
    """Show a text, or an item by its type and label."""
    if not isinstance(value, dict) or "length" in value:
        return _cut(_said(value, phrases)) or '""'
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


def _said(value: Any, phrases: Phrases = ENGLISH) -> str:
    """Return a text of an event; one that was too long is there as digest and length."""
    if isinstance(value, dict):
        length = value.get("length")
        return phrases.say("too_long", number=length) if isinstance(length, int) else ""
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
