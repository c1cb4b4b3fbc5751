"""What is wrong with an item, by the vocabulary that its type names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.values import Item, Kind, Property

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import TypeAlias

_FEW = 8
"""So many names are told to who wrote one that is none of them."""


class Fault(NamedTuple):
    """A rule of a vocabulary that an item breaks.

    at       what stands in the page where it is to be mended
    rule     the requirement
    value    what is wrong there, as the page has it, if the words go on from that
    problem  in words: what is wrong, and the mend
    """

    at: Item | Property
    rule: str
    value: str | None
    problem: str


def find_repeated(item: Item, names: Collection[str], rule: str, what: str) -> Iterator[Fault]:
    """Find what stands more often in an item than once, of what may not."""
    known: set[str] = set()
    for each in item.properties:
        for name in each.names:
            if name in known and name in names:
                yield Fault(each, rule, None, f"{what} has one {name} at most; leave the others out")
            known.add(name)


def find_unknown(item: Item, names: Collection[str], rule: str, what: str) -> Iterator[Fault]:
    """Find names that the vocabulary does not have. URLs are anybody's own."""
    for each in item.properties:
        for name in each.names:
            if name not in names and ":" not in name:
                known = f"one of: {', '.join(names)}" if len(names) <= _FEW else "one that is"
                yield Fault(each, rule, name, f"is no property of {what}; write {known}; or a URL of your own")


def is_text(each: Property) -> bool:
    """Say whether the value is a text: neither an item, nor of an element that gives a URL."""
    return each.kind in {Kind.TEXT, Kind.TIME}


def is_url(each: Property) -> bool:
    """Say whether the value is an absolute URL."""
    return each.text is not None and is_absolute_url(each.text)


def must_be(rule: str, is_valid: Callable[[str], bool], problem: str) -> Check:
    """Make the check of a property whose value is a text of some form.

    problem  what its values are that are not of that form, and the mend
    """

    def check(each: Property, _: str) -> Iterator[Fault]:
        if not is_text(each) or not is_valid(each.text or ""):
            yield Fault(each, rule, each.text or "", problem)

    return check


def must_be_text(each: Property, rule: str, name: str) -> Iterator[Fault]:
    """Find a value that is no text where only that may be."""
    if each.item is not None:
        yield Fault(each, rule, None, f"{name} is text, and this is an item; take itemscope away")
    elif not is_text(each):
        problem = (
            f'{name} is text, but this element\'s value is its link; put itemprop="{name}" on a span within instead'
        )
        yield Fault(each, rule, None, problem)


if TYPE_CHECKING:
    Check: TypeAlias = Callable[[Property, str], Iterator[Fault]]
    """Finds what is wrong with a property that stands under a name."""
