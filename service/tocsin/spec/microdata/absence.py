"""Why a page gives nothing in a format: what was looked for, and what there is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.microsyntax import fold_space

if TYPE_CHECKING:
    from tocsin.spec.microdata.values import Item, Microdata

_MOST_TYPES: Final = 3
_LONGEST_TYPE: Final = 80


def tell_absence(form: str, made_of: tuple[str, str], data: Microdata | None) -> str:
    """Say that a page has nothing of the kind: `no events: ical is made of items of type …; this page has 1 …`.

    form     the format's name
    made_of  what it shows, and what that is read of, as `Format` has it
    data     the page's items; None where they are not what was looked for
    Types stand there as the page says them, but for white space and length.
    """
    sought, read_of = made_of
    held = "none" if data is None else _tell_items(data)
    return f"no {sought}: {form} is made of {read_of}; this page has {held}"


def _tell_items(data: Microdata) -> str:
    # An item without a type that is a value of another one is a part of that: a name, an address.
    top = set(data.items)
    counts = Counter(_type_of(each) for each in data.all if each in top or each.types)
    if not counts:
        return "no items"
    most = counts.most_common(_MOST_TYPES)
    told = [f"{number:,} {kind}" for kind, number in most]
    if others := counts.total() - sum(number for _, number in most):
        told.append(f"{others:,} of other types")
    return ", ".join(told)


def _type_of(item: Item) -> str:
    # A long text is not looked at whole to show a part.
    written = fold_space((item.type or "")[: 2 * _LONGEST_TYPE])
    return (written if len(written) <= _LONGEST_TYPE else f"{written[: _LONGEST_TYPE - 1]}…") or "without a type"
