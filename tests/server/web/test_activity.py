"""Activity: charts, channels, dead letters."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.server.web.visiting import told, tree
from tocsin.model import JobRow
from tocsin.server.web.jobs import said

if TYPE_CHECKING:
    from tests.server.web.visiting import Visitor
    from tocsin.server.jobs import Progress


async def test_a_day_is_drawn_and_told_as_a_table(visitor: Visitor) -> None:
    page = tree(await visitor.get("/activity"))

    assert len(page.xpath("//figure//path[starts-with(@class, 't-')]")) >= 8
    assert len(page.xpath("//table[@class='numbers']/tbody/tr")) == 24


async def test_a_channel_is_tried(visitor: Visitor) -> None:
    assert told(await visitor.done("/activity/channels/ops/test")) == "ops accepted the test alert."
    assert visitor.rig.service.tried == ["ops"]


async def test_a_job_that_is_cancelled_by_a_page_is_audited_as_one_that_a_program_cancels(visitor: Visitor) -> None:
    may_end = asyncio.Event()

    async def work(_progress: Progress) -> dict[str, Any]:
        await may_end.wait()
        return {}

    job = await visitor.rig.app.state.jobs.start("pages.check", "me", work)

    assert told(await visitor.done(f"/jobs/{job.row.id}/cancel")) == "Cancelled; completed work is kept."
    assert [(entry.what, entry.detail) for entry in await visitor.audited()][:1] == [
        ("job.cancel", {"job": job.row.id})
    ]
    number = len(await visitor.audited())
    assert told(await visitor.done(f"/jobs/{job.row.id}/cancel")).startswith("Cancelled")
    assert len(await visitor.audited()) == number


async def test_dead_letters_are_given_again_after_a_question(visitor: Visitor) -> None:
    assert "Give 3 alerts to ops again?" in (await visitor.post("/activity/dead/replay", channel="ops")).text

    assert told(await visitor.done("/activity/dead/replay", channel="ops", confirmed="yes")) == "3 alerts queued again."


async def test_a_channels_address_is_masked(visitor: Visitor) -> None:
    for path in ("/activity", "/settings/force"):
        text = await visitor.get(path)
        assert "9f27c1" not in text
        assert "whsec_" not in text


async def test_a_move_and_an_edit_of_pages_say_where_to_and_what(visitor: Visitor) -> None:
    now = visitor.rig.clock.now()
    for number, result in enumerate(({"pages": 2, "group": "<b>news"}, {"pages": 3, "set": {"every": "6h"}})):
        await visitor.store.save_job(JobRow(f"01JOB{number}", "pages.edit", "local", now, state="done", result=result))

    text = " ".join(tree(await visitor.get("/activity/jobs")).text_content().split())

    assert "Pages edited: moved to group <b>news" in text
    assert "Pages edited: every" in text
    (title,) = tree(await visitor.get("/jobs/01JOB0")).xpath("//h1/text()")
    assert title == "Pages edited: moved to group <b>news"
    assert "every 6h" in tree(await visitor.get("/jobs/01JOB1")).text_content()


def test_whoever_moved_pages_is_told_where_to() -> None:
    row = JobRow("01JOB", "pages.edit", "local", 0, state="done", result={"pages": 2, "group": "news"})

    assert said(row) == "Moved 2 pages to group news."
