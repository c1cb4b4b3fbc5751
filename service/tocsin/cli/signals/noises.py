"""What changes from check to check on a page: numbered, so that a person can name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from tocsin.cli.formatting import count, json_time, show_time
from tocsin.engine.judging.noise import HEARD_AT, MUTED_AT
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.model import Beside, HostNoise, Instant

Standing: TypeAlias = Literal["muted", "muted-on-host", "heard", "watched"]


class Place(Struct, frozen=True):
    """A place, or a signal, that changes from check to check.

    number    as people name it, from 1
    key       as the store does
    standing  muted; muted on all pages of its host; heard, because the user wants to; or watched: perhaps muted soon
    since     when it was muted
    changes   in so many readings it differed, and
    quiet     so many in a row it has not since
    """

    number: int
    key: int
    what: str
    standing: Standing
    since: Instant | None = None
    changes: int = 0
    quiet: int = 0


def places_of(beside: Beside | None, of_host: Iterable[HostNoise]) -> list[Place]:
    """Number what is learnt of a page, then what is muted on its whole host, then what is heard and was quiet."""
    heard = frozenset(beside.heard) if beside is not None else frozenset()
    noise = beside.known.noise if beside is not None and beside.known is not None else ()
    found: dict[int, Place] = {}
    for each in noise:
        standing: Standing = "heard" if each.key in heard else "watched" if each.since is None else "muted"
        found[each.key] = Place(len(found) + 1, each.key, each.what, standing, each.since, each.changes, each.quiet)
    for common in of_host:
        if common.muted_at is None:
            continue
        own = found.get(common.key)
        if own is not None and own.standing != "watched":
            continue
        standing = "heard" if common.heard or common.key in heard else "muted-on-host"
        number = len(found) + 1 if own is None else own.number
        found[common.key] = Place(number, common.key, common.what, standing, common.muted_at)
    for key in sorted(heard.difference(found)):
        found[key] = Place(len(found) + 1, key, "a place that has not changed lately", "heard")
    return list(found.values())


def chosen(places: Sequence[Place], numbers: Sequence[str], *, option: str, url: str) -> list[int]:
    """Give the keys of the places with these numbers; `all` means all of them.

    Raises UsageError for a number that no place has.
    """
    by_number = {str(place.number): place.key for place in places}
    if "all" in numbers:
        return list(by_number.values())
    for number in numbers:
        if number not in by_number:
            there_are = f"there are 1 to {len(places)}" if places else "there are none"
            raise UsageError(f"{option} {number!r}: no place has this number; {there_are}, see: tocsin signals {url}")
    return [by_number[number] for number in numbers]


def to_record(place: Place) -> dict[str, Any]:
    """Tell a place as `--json` does."""
    return {
        "number": place.number,
        "what": place.what,
        "standing": place.standing,
        "since": json_time(place.since),
        "changes": place.changes,
        "quiet": place.quiet,
    }


def in_words(place: Place) -> str:
    """Say how a place stands, for people."""
    if place.standing == "heard":
        return "heard, because you want to"
    if place.standing == "muted-on-host":
        return f"muted on all pages of its host since {show_time(place.since)}"
    if place.standing == "watched":
        return f"changed in {count(place.changes, 'reading')} in a row; muted after {MUTED_AT}"
    quiet = f"; quiet for {place.quiet}, heard again after {HEARD_AT}" if place.quiet else ""
    return f"muted since {show_time(place.since)}{quiet}"
