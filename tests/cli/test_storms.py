"""The same change on many pages of a host, as a person meets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.cli.calling import Answer, Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page

PAGE = """<!doctype html><html lang="en"><title>Page {name}</title><main><h1>Page {name}</h1>
<p>What page {name} is about is told in a sentence of its own, which never changes from one day to the next.</p>
<p>{shared}</p></main></html>"""
BEFORE = "For help with your order call our office on weekdays between nine and five o'clock."
AFTER = "For help with your order write to our office, which no longer has a telephone of its own."
NAMES = "abcd"


def serve(site: Origin, shared: str) -> list[str]:
    """Let each page say this beside its own words; returns their URLs."""
    for name in NAMES:
        site.pages[f"/{name}"] = Page(PAGE.format(name=name, shared=shared))
    return [site.url(f"/{name}") for name in NAMES]


async def call(installation: Installation, *words: str) -> Answer:
    """Call the program beside the site."""
    return await asyncio.to_thread(installation.call, *words)


@pytest.fixture
async def changed(installation: Installation) -> AsyncIterator[Installation]:
    """Four pages that changed alike, found by one check; their site goes on answering."""
    async with Origin() as site:
        urls = serve(site, BEFORE)
        await call(installation, "check", *urls)
        serve(site, AFTER)
        await call(installation, "check", *urls)
        yield installation


async def kinds(installation: Installation) -> list[str]:
    """What was told, oldest first."""
    answer = await call(installation, "alerts", "list")
    return [record["type"] for record in reversed(answer.records)]


def test_a_storm_that_never_was_is_told_as_such(installation: Installation) -> None:
    installation.call("watch", "add", "https://one.example/")

    _, shown = on_terminal("alerts", "storms", cwd=installation.folder)

    assert "There was no storm: no change was shared by many pages of a host." in shown


async def test_what_many_pages_share_is_told_once_and_page_by_page_on_demand(changed: Installation) -> None:
    before = await kinds(changed)
    (storm,) = (await call(changed, "alerts", "storms")).records
    pages = (await call(changed, "alerts", "storms", storm["id"])).records
    withheld = [page["url"] for page in pages if page["withheld"]]

    released = await call(changed, "alerts", "release", storm["id"], "--yes")
    await call(changed, "check", withheld[0])

    assert before.count("tocsin.host.changed.v1") == 1
    assert (storm["pages"], len(pages)) == (4, 4)
    assert len(withheld) >= 2
    assert released.records == [
        {"storm": storm["id"], "alerts": len(withheld), "pages": len(withheld), "dry_run": False}
    ]
    after = await kinds(changed)
    assert after.count("tocsin.page.changed.v1") == 4


async def test_the_alerts_of_a_page_go_on_from_one_another_without_what_was_withheld(
    installation: Installation,
) -> None:
    async with Origin() as site:
        urls = serve(site, BEFORE)
        await call(installation, "check", *urls)
        for shared, head in ((BEFORE, "2026-01-02"), (AFTER, "2026-01-02"), (AFTER, "2026-02-03")):
            serve(site, shared)
            for name in NAMES:
                html = PAGE.format(name=name, shared=shared)
                site.pages[f"/{name}"] = Page(
                    html.replace("<main>", f'<meta name="dc.modified" content="{head}"><main>')
                )
            await call(installation, "check", *urls)
        storms = (await call(installation, "alerts", "storms")).records
        pages = (await call(installation, "alerts", "storms", storms[0]["id"])).records
        withheld = next(page["url"] for page in pages if page["withheld"])
        listed = (await call(installation, "alerts", "list", "--url", withheld)).records
        shown = [(await call(installation, "alerts", "show", alert["id"])).records[0] for alert in reversed(listed)]

    told = [alert["event"]["data"] for alert in shown]
    assert len(told) == 2
    assert told[1]["previous"]["fields"] == told[0]["latest"]["fields"]
    assert told[0]["storm"] is told[1]["storm"] is None


async def test_a_storm_shows_what_changed(changed: Installation) -> None:
    (storm,) = (await call(changed, "alerts", "storms")).records

    assert "no longer has a telephone" in " ".join(storm["excerpt"]["added"])
    assert storm["told_at"] is not None


async def test_a_person_reads_what_changed_and_of_which_pages(changed: Installation) -> None:
    status, listed = await asyncio.to_thread(on_terminal, "alerts", "storms", cwd=changed.folder)
    _, shown = await asyncio.to_thread(on_terminal, "alerts", "storms", "1", cwd=changed.folder)

    assert status == 0
    assert "127.0.0.1" in listed
    assert "minor" in listed
    assert "+ For help with your order write to our office" in shown
    assert "- For help with your order call our office" in shown
    assert "withheld" in shown


async def test_a_dry_run_releases_nothing(changed: Installation) -> None:
    (storm,) = (await call(changed, "alerts", "storms")).records

    answer = await call(changed, "alerts", "release", storm["id"], "--dry-run")

    assert answer.records[0]["alerts"] >= 2
    assert (await call(changed, "alerts", "storms")).records[0]["released_at"] is None


@pytest.mark.parametrize("words", [("storms", "7"), ("release", "7", "--yes")])
def test_a_storm_that_is_not_there_is_named_with_the_mend(installation: Installation, words: tuple[str, ...]) -> None:
    installation.call("watch", "add", "https://one.example/")

    answer = installation.call("alerts", *words)

    assert answer.status != 0
    assert "storm 7: no such storm" in answer.err
