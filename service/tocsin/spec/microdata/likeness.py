"""Which items are alike: half of what they say is the same, and some of it no other item of their page says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from tocsin.spec.microdata.matching import Placed
    from tocsin.spec.microdata.sameness import Said, Sameness

_ENOUGH: Final = 0.5
"""Of the properties of the item that has more of them."""


class Side(NamedTuple):
    """All items of a reading, and those of them that have no pair yet."""

    items: Sequence[Placed]
    left: Collection[Placed]


def find_alike(before: Side, latest: Side, sameness: Sameness) -> list[tuple[Placed, Placed]]:
    """Pair items of one type without a global id that are alike: the most alike first, and of these the nearest."""
    was, now = _said(before, sameness), _said(latest, sameness)
    left, left_now = set(before.left), set(latest.left)
    owners = _owners(was)
    shared = [(owners.get(key), other) for key, other in _owners(now).items()]
    pairs = {(one, other) for one, other in shared if one in left and other in left_now}
    alike = [(_likeness(was[one], now[other]), one, other) for one, other in pairs]
    found: list[tuple[Placed, Placed]] = []
    for likeness, one, other in sorted(alike, key=_rank):
        if likeness >= _ENOUGH and one in left and other in left_now:
            left.remove(one)
            left_now.remove(other)
            found.append((one, other))
    return found


def _rank(alike: tuple[float, Placed, Placed]) -> tuple[float, int, int]:
    likeness, one, other = alike
    return -likeness, abs(one.place - other.place), other.place


def _said(side: Side, sameness: Sameness) -> dict[Placed, Said]:
    return {one: sameness.said(one.item) for one in side.items if one.item.id is None}


def _owners(said: Mapping[Placed, Said]) -> dict[Hashable, Placed | None]:
    """Give whose a property is; None where several items of a type have it."""
    owners: dict[Hashable, Placed | None] = {}
    for one, properties in said.items():
        types = " ".join(one.item.types)  # once: they may be long
        for each in properties.items():
            key = types, *each
            owners[key] = None if key in owners else one
    return owners


def _likeness(was: Said, now: Said) -> float:
    fewer, more = sorted((was, now), key=len)
    return sum(more.get(name) == said for name, said in fewer.items()) / len(more)
