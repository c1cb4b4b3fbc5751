from __future__ import annotations

import asyncio
import signal
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.origin import Origin, Page
from tocsin.adapters.stores import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.cli.calling import Answer, Installation

KEYS = [
    "url",
    "outcome",
    "changed",
    "reason",
    "rule",
    "basis",
    "declares",
    "status",
    "final_url",
    "attempts",
    "bytes",
    "elapsed_ms",
    "not_modified",
    "next_try",
    "error",
    "problem",
    "saved_bytes",
    "signals",
]
MAJOR = '<!doctype html><title>x</title><meta name="topper-major" content="{}">'


@pytest.fixture
async def origin() -> AsyncIterator[Origin]:
    async with Origin() as site:
        site.pages["/a"] = Page(MAJOR.format("2026-01-02"))
        site.pages["/silent"] = Page("<!doctype html><title>x</title>")
        yield site


async def call(installation: Installation, *arguments: str, stdin: str | None = None) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments, stdin=stdin)


async def test_a_check_is_one_line_of_json_with_every_key_in_order(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "check", origin.url("/a"), "--json")

    (record,) = answer.records
    assert list(record) == KEYS
    assert record["outcome"] == "first"
    assert record["declares"] == ["topper-major"]
    assert record["status"] == 200
    assert answer.status == 0


async def test_T50_a_check_by_hand_finds_changes(installation: Installation, origin: Origin) -> None:
    await call(installation, "check", origin.url("/a"))
    origin.pages["/a"] = Page(MAJOR.format("2026-01-02 2026-02-03"))

    answer = await call(installation, "check")

    assert answer.status == 0
    (record,) = answer.records
    assert (record["outcome"], record["reason"], record["rule"], record["changed"]) == (
        "major",
        "topper-major",
        "T44",
        ["topper-major"],
    )
    alerts = (await call(installation, "alerts", "list")).records
    assert [(alert["type"], alert["outcome"]) for alert in alerts] == [("tocsin.page.changed.v1", "major")]


async def test_a_page_that_is_not_watched_is_added_and_said_so(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "check", origin.url("/a"))

    assert f"{origin.url('/a')}: was not watched; added" in answer.err
    assert (await call(installation, "watch", "list")).records[0]["url"] == origin.url("/a")


async def test_pages_that_declare_nothing_are_counted_once(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "check", origin.url("/silent"), origin.url("/a"))

    assert answer.err.count("declares no change dates") == 1
    assert "1 page declares no change dates" in answer.err


async def test_T60_a_page_that_is_unreachable_is_an_exit_status_of_1(
    installation: Installation, origin: Origin
) -> None:
    answer = await call(installation, "check", origin.url("/gone"), origin.url("/a"))

    assert answer.status == 1
    by_url = {record["url"]: record for record in answer.records}
    assert by_url[origin.url("/gone")]["error"] == {"kind": "status", "message": "answered 404"}
    assert by_url[origin.url("/a")]["outcome"] == "first"


async def test_pages_of_a_list_are_checked_and_bad_lines_named(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "check", "--from", "-", stdin=f"{origin.url('/a')}\nftp://x/\n")

    assert answer.status == 1
    assert "-:2: ftp://x/: the scheme ftp:" in answer.err
    assert [record["outcome"] for record in answer.records] == ["first"]


async def test_adding_a_page_checks_it_and_shows_what_it_declares(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "watch", "add", origin.url("/a"), origin.url("/silent"))

    declared = {record["url"]: record["check"]["declares"] for record in answer.records}
    assert declared == {origin.url("/a"): ["topper-major"], origin.url("/silent"): []}
    assert "declares no change dates" in answer.err


async def test_T53_pages_with_a_topper_element_are_listed_with_its_content(
    installation: Installation, origin: Origin
) -> None:
    await call(installation, "watch", "add", origin.url("/a"), origin.url("/silent"))

    listed = (await call(installation, "watch", "list", "--topper")).records

    assert [(page["url"], page["fields"]["topper-major"]) for page in listed] == [(origin.url("/a"), "2026-01-02")]


async def test_history_shows_states_and_what_comparing_found(installation: Installation, origin: Origin) -> None:
    await call(installation, "check", origin.url("/a"))
    origin.pages["/a"] = Page(MAJOR.format("2026-02-03"))
    await call(installation, "check", origin.url("/a"))

    latest, first = (await call(installation, "history", origin.url("/a"))).records

    assert latest["fields"]["topper-major"] == "2026-02-03"
    assert [verdict["rule"] for verdict in latest["verdicts"]] == ["T44"]
    assert first["in_table"] is False


async def test_a_pause_is_loud_in_a_check_of_all(installation: Installation, origin: Origin) -> None:
    await call(installation, "watch", "add", "--no-check", origin.url("/a"))
    await call(installation, "watch", "set", "--all", "--pause")

    answer = await call(installation, "check")

    assert answer.status == 0
    assert "PAUSED, and not checked: 1 page" in answer.err
    assert origin.asked("/a") == []


def test_with_nothing_watched_there_is_nothing_to_check(installation: Installation) -> None:
    answer = installation.call("check")

    assert answer.status == 0
    assert "No page is watched" in answer.err


async def test_history_of_a_page_that_is_not_watched_is_refused(installation: Installation) -> None:
    await call(installation, "watch", "import", "-", stdin="https://example.org/a\n")

    assert (await call(installation, "history", "https://example.org/b")).status == 2


async def test_an_interrupted_check_leaves_no_page_wanted(installation: Installation, origin: Origin) -> None:
    asked, released = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        asked.set()
        await released.wait()

    for number in range(5):
        origin.pages[f"/held{number}"] = Page(wait=hold)
    process = installation.start("check", *(origin.url(f"/held{number}") for number in range(5)))
    await asked.wait()

    process.send_signal(signal.SIGINT)

    assert await asyncio.to_thread(process.wait) == 130
    process.communicate()
    released.set()
    async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=True) as store:
        claim = await store.claim(range(4096), 1, timedelta(hours=1), "tocsin")
        assert claim is not None
        due = [at async for _, at in await store.host_agenda(claim, since_revision=None)]
    assert 0 not in due


async def test_what_was_done_before_ctrl_c_stays_done(installation: Installation, origin: Origin) -> None:
    asked, released = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        asked.set()
        await released.wait()

    origin.pages["/held"] = Page(wait=hold)
    process = installation.start("check", origin.url("/a"), origin.url("/held"))
    assert process.stdout is not None
    line = await asyncio.to_thread(process.stdout.readline)
    await asked.wait()

    process.send_signal(signal.SIGINT)

    status = await asyncio.to_thread(process.wait)
    process.communicate()
    released.set()
    listed = {page["url"]: page["outcome"] for page in (await call(installation, "watch", "list")).records}
    assert status == 130
    assert b'"outcome":"first"' in line
    assert listed == {origin.url("/a"): "first", origin.url("/held"): None}


@pytest.mark.parametrize("text", ["", "# nothing here\n\n"])
def test_a_list_without_any_page_is_told_and_is_no_success(installation: Installation, text: str) -> None:
    answer = installation.call("check", "--from", installation.write("pages.txt", text))

    assert answer.status == 1
    assert "contains no page" in answer.err
