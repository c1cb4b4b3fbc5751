"""Pages whose settings cannot be used: what the commands say of them, and the command that mends it."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator

import pytest

from tests.cli.calling import Answer, Installation
from tests.origin import Origin, Page
from tocsin.adapters.stores import open_store
from tocsin.model import JsonObject, PageFilter


@pytest.fixture
async def origin(installation: Installation) -> AsyncIterator[Origin]:
    async with Origin() as site:
        for path in ("/a", "/b?x=1&y=2", "/c"):
            site.pages[path.partition("?")[0]] = Page("<!doctype html><title>x</title>")
            await call(installation, "watch", "add", site.url(path), "--group", "news", "--no-check")
        yield site


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


async def write(installation: Installation, settings: JsonObject, *, url: str | None = None, group: str = "") -> None:
    """Write settings that no command would take, as an older version may have: of a page, a group, or all pages."""
    async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False, create=False) as store:
        if url is None:
            await store.edit_group(group or None, 1, settings=settings, unset=())
            return
        (page,) = await store.pages(PageFilter(urls=(url,)))
        await store.edit_pages(
            [page.id], 1, settings=settings, unset=(), paused=None, group=None, text=None, clear_text=False
        )


async def test_a_check_of_all_names_it_checks_the_others_and_asks_for_its_user(
    installation: Installation, origin: Origin
) -> None:
    held = origin.url("/b?x=1&y=2")
    await write(installation, {"proxy": "ftp:x"}, url=held)

    answer = await call(installation, "check", "--json")

    told = {record["url"]: (record["outcome"], record["error"]) for record in answer.records}
    assert {url: outcome for url, (outcome, _) in told.items() if url != held} == {
        origin.url("/a"): "first",
        origin.url("/c"): "first",
    }
    outcome, error = told[held]
    assert (outcome, error["kind"]) == ("deferred", "settings")
    assert "pages.proxy: allowed is the address of an HTTP proxy" in error["message"]
    assert "1 page not checked, because of invalid settings; see: tocsin doctor" in answer.err
    assert answer.status == 1


async def test_the_command_that_the_doctor_names_mends_it(installation: Installation, origin: Origin) -> None:
    held = origin.url("/b?x=1&y=2")
    await write(installation, {"every": "0s", "colour": "red"}, url=held)
    told = [record for record in (await call(installation, "doctor", "--json")).records if record.get("wrong")]
    (found,) = [record for record in told if held in record["finding"]]
    command = shlex.split(found["mend"].partition(": ")[2])

    mended = await call(installation, *command[1:])

    assert found["finding"].startswith(f"{held} is not checked: store, settings of the page: pages.every")
    assert "pages.colour: this version has no such setting" in found["finding"]
    assert mended.status == 0
    checked = await call(installation, "check", "--json")
    assert {record["outcome"] for record in checked.records} == {"first"}


@pytest.mark.parametrize(("group", "whose"), [("news", "The pages of group news are"), ("", "All pages are")])
async def test_the_doctor_says_so_once_of_a_group_and_of_all_pages(
    installation: Installation,
    origin: Origin,  # noqa: ARG001 - it has pages
    group: str,
    whose: str,
) -> None:
    await write(installation, {"tries": -1}, group=group)

    found = [
        record["mend"]
        for record in (await call(installation, "doctor", "--json")).records
        if str(record.get("finding")).startswith(whose)
    ]

    assert found == [
        f"Set it anew, or let it inherit: tocsin watch set {f'--group {group}' if group else '--all'} --unset tries"
    ]


async def test_of_many_such_pages_the_doctor_names_the_first_and_counts_the_rest(
    installation: Installation, origin: Origin
) -> None:
    urls = [origin.url(f"/{number}") for number in range(12)]
    await call(installation, "watch", "add", *urls, "--no-check")
    for url in urls:
        await write(installation, {"tries": -1}, url=url)

    found = [str(record.get("finding")) for record in (await call(installation, "doctor", "--json")).records]

    assert sum("is not checked" in finding for finding in found) == 10
    assert any(finding.startswith("2 pages more are not checked") for finding in found)


async def test_the_list_and_what_is_said_of_a_page_show_it(installation: Installation, origin: Origin) -> None:
    held = origin.url("/c")
    await write(installation, {"colour": "red", "headers": "A: b", "proxy": 7}, url=held)

    listed = await call(installation, "watch", "list", "--json")
    said = await call(installation, "signals", held)

    (record,) = [record for record in listed.records if record["url"] == held]
    assert record["settings"] == {"colour": "***", "headers": "***", "proxy": "***"}
    assert said.status == 2
    assert "--unset" in said.err


async def test_a_key_that_neither_this_version_knows_nor_the_page_has_cannot_be_unset(
    installation: Installation, origin: Origin
) -> None:
    await write(installation, {"colour": "red"}, url=origin.url("/a"))

    answer = await call(installation, "watch", "set", origin.url("/c"), "--unset", "colour")

    assert answer.status == 2
    assert "pages.colour: unknown key" in answer.err
