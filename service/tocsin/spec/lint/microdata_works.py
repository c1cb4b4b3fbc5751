"""What an author must keep of licensed works, the vocabulary of text 003 (WK-01)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.lint.page import shown
from tocsin.spec.lint.vocabulary import tell_faults
from tocsin.spec.microdata.values import HCARD, WORK
from tocsin.spec.microdata.vocabulary import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.findings import Found
    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage
    from tocsin.spec.microdata.values import Item, Property

_NAMES: Final = ("work", "title", "author", "license")


def check_works(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge works: one work, at most one title, and what the values are."""
    return tell_faults(page, placed, WORK, _find_work_faults)


def _find_work_faults(work: Item) -> Iterator[Fault]:
    if not work.named("work"):
        unsaid = 'this work does not say what it is; write an element with itemprop="work" and its URL'
        yield Fault(work, "WK-01", None, unsaid)
    known: set[str] = set()
    for each in work.properties:
        for name in each.names:
            problem = _against_value(name, each)
            if name in known and name in {"work", "title"}:
                problem = f"a work has one {name}; leave the others out"
            if name not in _NAMES and ":" not in name:
                problem = f"{shown(name)} is no property of a work, which are {', '.join(_NAMES)}; write one of them"
            if problem is not None:
                yield Fault(each, "WK-01", None, problem)
            known.add(name)


def _against_value(name: str, each: Property) -> str | None:
    if name in {"work", "license"} and not (each.text and is_absolute_url(each.text)):
        return f"the {name} of a work is a URL; write it into the href of an a element, or the src of an img"
    if name == "title" and each.item is not None:
        return "the title of a work is text, and this is an item; take itemscope out"
    if name == "author" and each.item is not None and HCARD not in each.item.types:
        return f'the author of a work is text or a contact; write itemtype="{HCARD}"'
    return None
