"""Work on many pages: in steps, told of, interrupted and gone on with; and hosts that have too many."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.fakes import START
from tocsin.adapters.stores import open_store
from tocsin.cli.progress import steps
from tocsin.cli.selection import select
from tocsin.model import NewPage, PageFilter
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.calling import Installation

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


def test_the_list_says_that_a_host_is_crowded(installation: Installation) -> None:
    installation.configure('[hosts.rules."one.example"]\ndelay = "2h"\n')
    watch_many(installation, 13)

    answer = installation.call("watch", "list")

    assert len(answer.records) == 13
    assert answer.err.startswith("CROWDED: one.example: 13 pages; ")


def test_a_list_without_crowded_hosts_says_nothing_of_them(installation: Installation) -> None:
    watch_many(installation, 2)

    assert installation.call("watch", "list").err == ""


def new_page(number: int) -> NewPage:
    """A page to be watched."""
    found = watch_url(f"https://one.example/{number}")
    return NewPage(found.url, found.given, found.host, found.shard)
