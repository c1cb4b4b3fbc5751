"""`tocsin check`: changes, robots.txt (LM-43), many pages."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.browsing import CHROMIUM
from tests.claiming import claim_all
from tests.cli.calling import Answer, Installation
from tests.cli.test_terminal import typed
from tests.fakes import START
from tests.origin import Origin, Page
from tocsin.adapters.stores import open_store
from tocsin.cli.output import steps
from tocsin.cli.selection import select
from tocsin.model import NewPage, PageFilter
from tocsin.spec.html.urls import watch_url

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
    "witness",
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


async def test_how_a_page_is_read_is_set_for_one_that_is_added_and_never_for_a_watched_one(
    installation: Installation, origin: Origin
) -> None:
    url = origin.url("/a")
    added = await call(installation, "check", url, "--fetch", "auto")
    again = await call(installation, "check", url, "--fetch", "http")
    refused = await call(installation, "check", url, "--fetch", "chrome")
    (page,) = (await call(installation, "watch", "list")).records

    assert "settings unchanged" not in added.err
    assert "1 page watched already, with settings unchanged" in again.err
    assert 'allowed is one of "auto", "browser", "http"' in refused.err
    assert page["settings"] == {"fetch": "auto"}


@pytest.mark.skipif(CHROMIUM is None, reason="chromium-headless-shell is not installed")
async def test_a_step_is_taken_in_the_browser_and_one_that_fails_is_named(
    installation: Installation, origin: Origin
) -> None:
    script = "document.body.insertAdjacentHTML('beforeend', '<p>Minutes</p>')"
    origin.pages["/steps"] = Page(f'<title>Agenda</title><button onclick="{script}">More</button>')
    steps = ["click button", "wait p", "fill p NAME"]
    options = [word for step in steps for word in ("--step", step)]
    alone = await call(installation, "check", origin.url("/steps"), *options)

    answer = await call(installation, "check", origin.url("/steps"), "--fetch", "browser", *options)
    (page,) = (await call(installation, "watch", "list")).records

    assert "--step: steps are taken in the browser; add --fetch browser" in alone.err
    assert page["settings"] == {"fetch": "browser", "steps": steps}
    assert answer.records[0]["error"]["kind"] == "step"
    assert answer.records[0]["error"]["message"].startswith("step 3, fill p NAME: the page has no secret NAME")


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
        claim = await claim_all(store, "tocsin")
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


ROBOTS = "User-agent: *\nDisallow: /\n\n# the bell\nUser-agent: Tocsin\nDisallow: /private/*\n"
RULE = 'line 6: "Disallow: /private/*" for "User-agent: Tocsin" (line 5)'


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        origin.pages["/robots.txt"] = Page(ROBOTS, content_type="text/plain")
        origin.pages["/private/a"] = Page("<title>x</title>")
        yield origin


async def test_LM43_a_check_tells_a_program_which_line_forbade_the_page(
    installation: Installation, site: Origin
) -> None:
    answer = await asyncio.to_thread(installation.call, "check", site.url("/private/a"))

    (record,) = answer.records
    assert (record["outcome"], record["rule"]) == ("disallowed", RULE)
    assert [request.path for request in site.log] == ["/robots.txt"]


async def test_LM43_a_check_tells_a_person_which_line_forbade_the_page(
    installation: Installation, site: Origin
) -> None:
    _, seen = await asyncio.to_thread(typed, installation, "check", site.url("/private/a"))

    assert RULE in " ".join(seen.split())


async def test_LM43_the_event_says_which_line_forbade_the_page(installation: Installation, site: Origin) -> None:
    await asyncio.to_thread(installation.call, "check", site.url("/private/a"))

    listed = await asyncio.to_thread(installation.call, "alerts", "list")
    shown = await asyncio.to_thread(installation.call, "alerts", "show", str(listed.records[0]["id"]))

    assert shown.records[0]["type"] == "tocsin.page.disallowed.v1"
    assert shown.records[0]["event"]["data"]["robots"] == {"url": site.url("/robots.txt"), "rule": RULE}


async def test_LM43_the_history_of_a_page_that_was_never_asked_for_says_which_line_forbade_it(
    installation: Installation, site: Origin
) -> None:
    await asyncio.to_thread(installation.call, "check", site.url("/private/a"))

    _, seen = await asyncio.to_thread(typed, installation, "history", site.url("/private/a"))

    told = " ".join(seen.split())
    assert f"Disallowed: {site.url('/private/a')}: forbidden by robots.txt: {RULE}" in told
    assert "it is fetched as soon as its robots.txt allows it" in told
    assert "check it with" not in told


async def test_LM43_the_history_of_a_page_that_was_asked_for_before_says_so_beside_its_states(
    installation: Installation, site: Origin
) -> None:
    site.pages["/news"] = Page("<title>x</title><meta name=created content=2026>")
    await asyncio.to_thread(installation.call, "check", site.url("/news"))
    site.pages["/news"] = Page(status=302, headers={"Location": "/private/a"})
    await asyncio.to_thread(installation.call, "check", site.url("/news"))

    _, seen = await asyncio.to_thread(typed, installation, "history", site.url("/news"))

    told = " ".join(seen.split())
    assert f"Disallowed: {site.url('/private/a')}: forbidden by robots.txt: {RULE}" in told
    assert "created: 2026" in told


async def test_LM43_the_list_says_which_line_forbids_a_page_and_of_many_how_to_learn_it(
    installation: Installation, site: Origin
) -> None:
    urls = [site.url(f"/private/{number}") for number in range(7)]
    await asyncio.to_thread(installation.call, "watch", "add", *urls)

    _, seen = await asyncio.to_thread(typed, installation, "watch", "list")

    told = " ".join(seen.split())
    assert told.count(f": forbidden by robots.txt: {RULE}") == 5
    assert "2 pages more disallowed; reasons: tocsin history URL" in told


MANY = 2500


def watch_many(installation: Installation, pages: int, host: str = "one.example") -> None:
    """Import so many pages of a host."""
    lines = "".join(f"https://{host}/{number}\n" for number in range(pages))
    answer = installation.call("watch", "import", installation.write("list.txt", lines))
    assert answer.records[0]["added"] == pages


def test_all_pages_are_removed_however_many_there_are(installation: Installation) -> None:
    watch_many(installation, MANY)

    answer = installation.call("watch", "clear", "--yes")

    assert answer.records == [{"pages": MANY, "removed": MANY, "dry_run": False}]
    assert installation.call("watch", "list").records == []


def test_an_edit_that_changes_what_it_selects_by_takes_every_page_once(installation: Installation) -> None:
    watch_many(installation, MANY)

    answer = installation.call("watch", "set", "--group", "main", "--move-to", "news")

    assert answer.records[0]["pages"] == MANY
    assert {page["group"] for page in installation.call("watch", "list").records} == {"news"}


async def test_pages_that_are_added_later_are_not_meant(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=False) as store:
        await store.add_pages([new_page(0)], START)
        selection = await select(store, (), PageFilter())
        await store.add_pages([new_page(1)], START)

        assert [page async for some in selection.batches(store) for page in some] == [1]


async def test_whoever_interrupts_a_long_edit_is_told_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    async def work() -> None:
        with steps("Removing", "removed", total=MANY) as on_step:
            on_step(1000)
            task.cancel()
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(work(), name="edit")

    told = "Interrupted: 1,000 pages of 2,500 removed; run the same command again to continue.\n"
    assert capsys.readouterr().err == told


def test_the_doctor_names_a_host_whose_pages_cannot_be_checked_in_time(installation: Installation) -> None:
    installation.configure('[hosts.rules."one.example"]\ndelay = "2h"\n')
    watch_many(installation, 13)

    answer = installation.call("doctor", "--no-settings")

    (found,) = [record for record in answer.records if "one.example" in record["finding"]]
    assert answer.status == 1
    assert found["wrong"]
    assert found["finding"] == (
        "Host one.example: 13 pages; at one every 2h, a round takes 26h at least, 1.1 times their interval of 24h."
    )
    assert 'hosts.rules."one.example".delay' in found["mend"]


def new_page(number: int) -> NewPage:
    """A page to be watched."""
    found = watch_url(f"https://one.example/{number}")
    return NewPage(found.url, found.given, found.host, found.shard)


async def test_a_check_without_a_service_stores_no_reports(installation: Installation, origin: Origin) -> None:
    answer = await call(installation, "check", origin.url("/a"), origin.url("/silent"))

    async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False) as store:
        assert answer.status == 0
        assert await store.request_progress(1) == (2, 2)
        assert await store.request_reports(1, after=0) == []
