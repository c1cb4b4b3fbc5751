"""Feed readers get the latest alerts, and nothing twice that they have already."""

from __future__ import annotations

from base64 import b64encode
from email.utils import formatdate
from typing import TYPE_CHECKING

import feedparser  # type: ignore[import-untyped]  # has no types
import pytest

from tests.contract.desk import alert, new_page
from tests.server.streams.atom_rules import broken_rules
from tocsin.events import CHANGED
from tocsin.model import Scope
from tocsin.server.streams.atom import urn_of
from tocsin.server.streams.feed import ENTRIES

if TYPE_CHECKING:
    import httpx

    from tests.server.rig import Rig

URL = "https://example.org/"


async def publish(rig: Rig, number: int = 1, *, group: str = "main", page_id: int = 1, outcome: str = "major") -> None:
    for _ in range(number):
        draft = alert("x", page_id, CHANGED, rig.clock.now())
        id_ = rig.app.state.parts.chance.ulid(rig.clock.now())
        page = {"id": str(page_id), "url": URL, "group": group, "text": None}
        draft.event.update(id=id_, subject=URL, type=CHANGED, data={"page": page, "outcome": outcome})
        await rig.store.write_alert(type(draft)(id_, CHANGED, page_id, rig.clock.now(), draft.event))


async def test_the_latest_alerts_come_first_as_a_valid_feed(rig: Rig, local: httpx.AsyncClient) -> None:
    await publish(rig, ENTRIES + 1)

    found = await local.get("/feed.atom")

    read = feedparser.parse(found.content)
    latest = await rig.store.alerts(limit=1)
    assert found.headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert broken_rules(found.content) == []
    assert (read.bozo, len(read.entries)) == (False, ENTRIES)
    assert read.entries[0].id == urn_of(latest[0].id)


async def test_a_feed_without_alerts_is_valid(local: httpx.AsyncClient) -> None:
    assert broken_rules((await local.get("/feed.atom")).content) == []


async def test_a_feed_goes_on_to_the_very_first_alert(rig: Rig, local: httpx.AsyncClient) -> None:
    await publish(rig, 2 * ENTRIES + 3)
    ids, path = [], "/feed.atom"

    while path:
        read = feedparser.parse((await local.get(path)).content)
        ids += [entry.id for entry in read.entries]
        path = next((link.href for link in read.feed.get("links", ()) if link.rel == "next"), "")

    assert len(ids) == len(set(ids)) == 2 * ENTRIES + 3


async def test_a_group_a_page_and_an_outcome_have_feeds_of_their_own(rig: Rig, local: httpx.AsyncClient) -> None:
    await rig.store.add_pages(
        [new_page("https://example.org/1"), new_page("https://example.org/2", group="news & more/all")], 1
    )
    await publish(rig, 1, page_id=1)
    await publish(rig, 2, page_id=2, group="news & more/all", outcome="minor")

    numbers = {
        path: len(feedparser.parse((await local.get(path)).content).entries)
        for path in (
            "/feed.atom",
            "/feed.atom?outcome=major",
            "/groups/news%20%26%20more%2Fall/feed.atom",
            "/pages/2/feed.atom",
            "/pages/1/feed.atom",
        )
    }

    assert list(numbers.values()) == [3, 1, 2, 2, 1]


@pytest.mark.parametrize(
    "path", ["/groups/none/feed.atom", "/pages/99/feed.atom", "/pages/0/feed.atom", f"/pages/{2**70}/feed.atom"]
)
async def test_what_is_not_there_has_no_feed(local: httpx.AsyncClient, path: str) -> None:
    found = await local.get(path)

    assert found.status_code == 404
    assert found.json()["mend"]


async def test_a_cursor_that_was_made_up_is_refused(local: httpx.AsyncClient) -> None:
    found = await local.get("/feed.atom?cursor=made-up")

    assert found.status_code == 422
    assert "cursor" in found.json()["detail"]


@pytest.mark.parametrize("said", ["{tag}", "{strong}", '"other", {tag}', "*"])
async def test_whoever_has_the_latest_alert_is_sent_nothing(rig: Rig, local: httpx.AsyncClient, said: str) -> None:
    await publish(rig)
    tag = (await local.get("/feed.atom")).headers["etag"]
    known = {"If-None-Match": said.format(tag=tag, strong=tag.removeprefix("W/"))}

    again = await local.get("/feed.atom", headers=known)
    await publish(rig)
    changed = await local.get("/feed.atom", headers={"If-None-Match": tag})

    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert changed.status_code == 200


async def test_a_tag_counts_more_than_a_date(rig: Rig, local: httpx.AsyncClient) -> None:
    await publish(rig)
    known = {"If-None-Match": '"other"', "If-Modified-Since": formatdate(4e9, usegmt=True)}

    assert (await local.get("/feed.atom", headers=known)).status_code == 200


async def test_a_date_tells_of_every_later_alert_even_one_of_the_same_second(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    await publish(rig)
    await local.get("/feed.atom")
    await rig.clock.advance(5)
    first = (await local.get("/feed.atom")).headers["last-modified"]
    same = await local.get("/feed.atom", headers={"If-Modified-Since": first})
    # An alert that was decided long before it is published is no less new.
    await publish(rig)
    second = await local.get("/feed.atom", headers={"If-Modified-Since": first})
    await publish(rig)
    third = await local.get("/feed.atom", headers={"If-Modified-Since": first})
    await rig.clock.advance(5)
    last = (await local.get("/feed.atom")).headers["last-modified"]

    assert (same.status_code, second.status_code, third.status_code) == (304, 200, 200)
    # A date that is this very second's could be that of the next alert, too.
    assert "last-modified" not in second.headers
    assert (await local.get("/feed.atom", headers={"If-Modified-Since": last})).status_code == 304


@pytest.mark.parametrize("said", ["", "yesterday", "Thu, 32 Foo 2026 99:99:99 GMT", "Thu, 01 Jan 99999 00:00:00 GMT"])
async def test_a_date_that_is_none_counts_for_nothing(rig: Rig, local: httpx.AsyncClient, said: str) -> None:
    await publish(rig)
    await rig.clock.advance(5)

    assert (await local.get("/feed.atom", headers={"If-Modified-Since": said})).status_code == 200


async def test_feed_readers_log_in_with_a_token_as_password(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    basic = {"Authorization": f"Basic {b64encode(f'anybody:{token}'.encode()).decode()}"}

    async with rig.asking() as asked:
        refused, given = await asked.get("/feed.atom"), await asked.get("/feed.atom", headers=basic)

    assert (refused.status_code, given.status_code) == (401, 200)
    assert 'Basic realm="Tocsin"' in refused.headers["www-authenticate"]


async def test_links_are_made_of_the_configured_address_and_of_no_other(rig: Rig) -> None:
    """Counterpart: GHSA-hp8h-jqfm-v7x5 (CommaFeed), links made of a forged Host header."""
    await publish(rig, ENTRIES + 1)
    token = await rig.token(Scope.READ)
    async with rig.asking(token) as asked:
        forged = {"Host": "evil.example"}
        without = (await asked.get("/feed.atom", headers=forged)).text
        rig.service.configure(public_url="https://tocsin.example.org/")
        configured = (await asked.get("/feed.atom", headers=forged)).text

    assert "evil.example" not in without + configured
    assert 'rel="self"' not in without
    assert '<link rel="self" href="https://tocsin.example.org/feed.atom"/>' in configured
    assert 'rel="next" href="https://tocsin.example.org/feed.atom?cursor=' in configured
    assert 'href="https://tocsin.example.org/pages/1"' in configured
