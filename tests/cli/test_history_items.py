"""A page's history has how its items changed, in words for people and whole for programs."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.cli.calling import Answer, Installation
from tests.cli.terminal import on_terminal
from tests.contract.desk import HOUR, A, B, Desk
from tocsin.model import PageItems
from tocsin.spec.microdata.changes.words import tell_changes

VEVENT = "http://microformats.org/profile/hcalendar#vevent"


def moved(number: int = 1, **changes: Any) -> dict[str, Any]:
    """An event that begins on another day, as a change of items tells it."""
    item = {"type": VEVENT, "id": None, "position": number, "label": "Bluesday \x1b[2JTuesday"}
    values = {"previous": ["2009-05-05"], "latest": ["2009-05-06"]}
    return {"change": "changed", "item": item, "within": [], "property": "dtstart", **values, **changes}


def added() -> dict[str, Any]:
    """An event that came."""
    whole = {"type": VEVENT, "properties": {"summary": ["Jazz"]}}
    item = {"type": VEVENT, "id": None, "position": 2, "label": "Jazz"}
    return moved(change="added", item=item, property=None, previous=None, latest=whole)


def differing(*changes: dict[str, Any], cut: bool = False) -> dict[str, Any]:
    """How items changed, as the event tells it."""
    since = "2027-01-15T08:00:00.000Z"
    return {"since": since, "added": 1, "removed": 0, "changed": len(changes), "cut": cut, "changes": list(changes)}


async def watch_and_change(installation: Installation, **changes: dict[str, Any]) -> None:
    """A page whose items changed with each of these states, and one whose items never did."""
    desk = await Desk.at(installation.folder)
    async with desk.store:
        await desk.watch(A, B)
        for url in (A, B):
            await desk.check(url, "2026-01-01")
        for major, differ in changes.items():
            desk.now += HOUR
            await desk.check(A, major)
            items = PageItems(desk.now, major.encode(), b"packed", 1)
            await desk.render(A, items=items, changes=differ)


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


async def shown(installation: Installation) -> str:
    """The history as a terminal shows it, each word one space from the next."""
    config, store = str(installation.folder / "tocsin.toml"), f"sqlite:{installation.folder / 'tocsin.db'}"
    _, text = await asyncio.to_thread(
        on_terminal, "--config", config, "--store", store, "history", A, cwd=installation.folder
    )
    return " ".join(text.split())


async def test_history_tells_programs_how_items_changed_with_each_state(installation: Installation) -> None:
    first, second = differing(moved(), added()), differing(moved(3))
    await watch_and_change(installation, later=first, latest=second)

    records = (await call(installation, "history", A, "--json")).records
    (quiet,) = (await call(installation, "history", B, "--json")).records

    told = [[each["told"] for each in record["items"]] for record in records]
    assert told == [[list(tell_changes(second))], [list(tell_changes(first))], []]
    assert [record["items"] and record["items"][0]["at"] for record in records] == [
        "2027-01-15T10:00:00.000Z",
        "2027-01-15T09:00:00.000Z",
        [],
    ]
    assert records[0]["items"][0].items() >= second.items()
    assert quiet["items"] == []


async def test_history_tells_people_in_words_that_obey_no_page(installation: Installation) -> None:
    nested = moved(within=["location"], property="fn", previous=["Hall"], latest=["Stage"])
    await watch_and_change(installation, later=differing(moved(), nested, added(), cut=True))

    text = await shown(installation)

    assert "items: 1 added, 3 changed" in text
    assert 'dtstart of "Bluesday \N{REPLACEMENT CHARACTER}[2JTuesday": 2009-05-05 → 2009-05-06' in text
    assert 'fn of location of "Bluesday \N{REPLACEMENT CHARACTER}[2JTuesday": Hall → Stage' in text
    assert 'added: vevent "Jazz"' in text
    assert "not all is shown" in text


async def test_of_a_page_with_very_many_changes_the_first_are_told_and_how_many_more_there_are(
    installation: Installation,
) -> None:
    await watch_and_change(installation, later=differing(*map(moved, range(1, 41))))

    text = await shown(installation)

    assert text.count("dtstart of") == 11
    assert "… and 29 more; --json has them" in text


async def test_that_not_all_is_told_is_said_however_many_changes_there_are(installation: Installation) -> None:
    await watch_and_change(installation, later=differing(*map(moved, range(1, 41)), cut=True))

    text = await shown(installation)

    assert "… and 29 more; --json has them not all is shown: " in text


async def test_where_only_what_is_not_kept_may_differ_the_page_is_said_to_have_more_than_is_kept(
    installation: Installation,
) -> None:
    await watch_and_change(installation, later=differing(cut=True) | {"added": 0, "removed": 0, "changed": 0})

    text = await shown(installation)

    assert "items: none of those that are kept" in text
    assert (
        "the page has more items than are kept, and those may differ; kept are the first 1,000 items and 256 KiB"
        in text
    )
