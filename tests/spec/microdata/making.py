"""Microdata of all shapes for the tests: items that are shared, that lead back to themselves, and that lead nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from tocsin.spec.microdata.values import VEVENT, Item, Microdata, Property, ValueKind

ADDRESS = "https://site.example/events"
_TEXTS = st.sampled_from(["", "a", "b", "2009-05-05", "Grüße, Welt", "x\x00\n,;\\", "字" * 20])
_NAMES = st.lists(st.sampled_from(["name", "url", "dtstart", "part"]), min_size=1, max_size=2, unique=True).map(tuple)


def text(name: str, value: str) -> Property:
    """A property whose value is a text."""
    return Property((name,), ValueKind.TEXT, value)


def holding(name: str, item: Item) -> Property:
    """A property whose value is an item."""
    return Property((name,), ValueKind.ITEM, item)


def item(type_: str | None = VEVENT, id_: str | None = None, /, **values: str | Item | Sequence[str | Item]) -> Item:
    """An item with these properties; an underscore in a name stands for a hyphen."""
    properties = []
    for name, given in values.items():
        for value in [given] if isinstance(given, str | Item) else given:
            of = name.replace("_", "-")
            properties.append(holding(of, value) if isinstance(value, Item) else text(of, value))
    return Item(type_, id_, tuple(properties))


def page(*items: Item, cut: tuple[str, ...] = (), title: str | None = "Events") -> Microdata:
    """A page with these top-level items, and all that they lead to.

    cut  what is said of what was left out
    """
    found: dict[Item, None] = {}
    waiting = list(reversed(items))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            waiting += [each.value for each in reversed(one.properties) if isinstance(each.value, Item)]
    return Microdata(ADDRESS, title, items, tuple(found), cut, bool(cut))


def seen(data: Microdata) -> object:
    """All that there is to see of microdata, with items as their numbers."""
    numbers = {each: number for number, each in enumerate(data.all)}
    shown = [(each.type, each.id, each.errors, [_seen(one, numbers) for one in each.properties]) for each in data.all]
    return data.address, data.title, [numbers[each] for each in data.items], shown, data.problems, data.is_cut


def _seen(one: Property, numbers: Mapping[Item, int]) -> object:
    value = numbers[one.value] if isinstance(one.value, Item) else one.value
    return one.names, one.kind, value, one.language


@st.composite
def pages(draw: st.DrawFn, *, most: int = 5, is_cyclic: bool = True) -> Microdata:
    """A page of few items in any graph, also with items in it that no top-level item leads to.

    is_cyclic  an item may lead back to itself
    """
    kinds = draw(
        st.lists(st.tuples(st.sampled_from([None, VEVENT, "t u"]), st.sampled_from([None, "urn:a"])), max_size=most)
    )
    items = [Item(type_, id_, errors=draw(st.integers(0, 2))) for type_, id_ in kinds]
    for place, one in enumerate(items):
        inner = items if is_cyclic else items[place + 1 :]
        texts = st.tuples(st.sampled_from([ValueKind.TEXT, ValueKind.URL]), _TEXTS)
        values = texts | st.tuples(st.just(ValueKind.ITEM), st.sampled_from(inner)) if inner else texts
        each = st.builds(_property, _NAMES, values, st.sampled_from([None, "en"]))
        one.properties = tuple(draw(st.lists(each, max_size=3)))
    tops = [one for one in items if draw(st.booleans())]
    return Microdata(ADDRESS, draw(st.none() | _TEXTS), tuple(tops), tuple(items))


def _property(names: tuple[str, ...], value: tuple[ValueKind, str | Item], language: str | None) -> Property:
    return Property(names, *value, language)
