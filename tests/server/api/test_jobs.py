"""Bulk actions as jobs: bounded, told, cancelled, and done once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from tests.contract.desk import HOUR
from tests.server.api.talk import Api
from tests.server.rig import served
from tocsin.adapters.stores import open_store
from tocsin.errors import StoreError
from tocsin.model import JobRow, Scope
from tocsin.ports import Store
from tocsin.server.actions import Act, edit_defaults
from tocsin.server.jobs import MOST_AT_ONCE, Job, Progress, running_jobs
from tocsin.server.parts import Caller, Parts
from tocsin.server.problems import Problem

GONE = "01KAKQ4ZC8N2V3J5R7T9WXYZ00"


async def test_all_pages_of_a_list_are_paused(busy: Api) -> None:
    answer = await busy.call("POST", "/pages/bulk", {"pages": {"group": "news"}, "action": "pause"})

    assert (answer.status_code, answer.headers["location"]) == (202, f"/api/v1/jobs/{answer.json()['id']}")
    job = await busy.ended(answer.json())
    assert (job["kind"], job["state"], job["done"], job["total"]) == ("pages.pause", "done", 12, 12)
    assert job["result"] == {"pages": 12}
    assert len(await busy.urls("?view=paused")) == 12
    assert (await busy.audited())[0] == "pages.pause"


@pytest.mark.parametrize(
    ("pages", "number"),
    [({"ids": ["1", "2", "2"]}, 2), ({"view": "problems"}, 60), ({"host": "calm.example"}, 12), ({"q": "tender"}, 12)],
)
async def test_which_pages_are_meant_is_said_in_many_ways(busy: Api, pages: Any, number: int) -> None:
    job = await busy.ended(await busy.do("POST", "/pages/bulk", {"pages": pages, "action": "delete"}))

    assert job["result"] == {"pages": number}
    assert len(await busy.urls("?limit=200")) == 85 - number


async def test_pages_are_moved_and_set_by_the_hundred(busy: Api) -> None:
    move = {"pages": {"group": "news"}, "action": "move", "group": "papers"}
    moved = await busy.ended(await busy.do("POST", "/pages/bulk", move))
    assert moved["result"] == {"pages": 12, "group": "papers"}
    setting = {"pages": {"group": "papers"}, "action": "set", "settings": {"every": "5m"}, "unset": ["tries"]}
    await busy.ended(await busy.do("POST", "/pages/bulk", setting))

    pages = (await busy.get("/pages?group=papers"))["items"]

    assert len(pages) == 12
    assert {page["settings"]["every"] for page in pages} == {"5m"}


async def test_all_pages_of_a_list_are_checked_now(busy: Api) -> None:
    job = await busy.ended(await busy.do("POST", "/pages/bulk", {"pages": {"group": "news"}, "action": "check"}))

    check = await busy.get(f"/checks/{job['result']['check']}")
    assert (check["total"], check["is_over"]) == (12, False)


async def test_what_pauses_pages_takes_none_that_come_later(api: Api) -> None:
    await api.add("https://a.example/")

    started = await api.do("POST", "/pages/bulk", {"pages": {"view": "all"}, "action": "pause"})
    await api.add("https://b.example/")
    await api.ended(started)

    assert (await api.get("/pages/2"))["paused"] is False


@pytest.mark.parametrize(
    "wanted",
    [
        {"action": "move"},
        {"action": "set"},
        {"action": "pause", "group": "news"},
        {"action": "check", "settings": {}},
        {"action": "explode"},
        {"action": "set", "settings": {"every": "6h"}, "unset": ["every"]},
    ],
)
async def test_an_action_takes_what_belongs_to_it_and_nothing_else(api: Api, wanted: Any) -> None:
    assert (await api.refused("POST", "/pages/bulk", {"pages": {"view": "all"}, **wanted}))["status"] == 422


async def test_a_job_that_is_not_there_is_told_so(api: Api) -> None:
    assert (await api.refused("GET", f"/jobs/{GONE}"))["status"] == 404
    assert (await api.refused("POST", f"/jobs/{GONE}/cancel"))["status"] == 404


class Held:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def __call__(self, progress: Progress) -> dict[str, Any]:
        progress.advance(3)
        await self.may_end.wait()
        return {"pages": 3}


async def test_a_job_is_cancelled_where_it_is(api: Api) -> None:
    job = await api.rig.app.state.jobs.start("pages.check", "me", Held(), total=9)
    await asyncio.sleep(0)

    told = await api.do("POST", f"/jobs/{job.row.id}/cancel")

    assert (told["state"], told["done"], told["total"]) == ("cancelled", 3, 9)
    stored = await api.store.job(job.row.id)
    assert stored is not None
    assert stored.state == "cancelled"
    assert (await api.do("POST", f"/jobs/{job.row.id}/cancel"))["state"] == "cancelled"


class Balky:
    """A store that writes rows of jobs when it is let, or not at all; the rest is a real store's."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_broken = False
        self.saved: list[JobRow] = []
        self.is_asked, self.may_end = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def save_job(self, job: JobRow) -> None:
        if self.is_broken:
            raise StoreError("the disk is full")
        if job.state != "running":
            self.is_asked.set()
            await self.may_end.wait()
        await self._store.save_job(job)
        self.saved.append(job)


def beside(api: Api, store: Balky) -> Parts:
    """Give what the application has, with another store."""
    parts: Parts = api.rig.app.state.parts
    return replace(parts, store=cast("Store", store))


async def test_a_job_whose_row_cannot_be_written_takes_nobodys_place(api: Api) -> None:
    store = Balky(api.store)
    async with running_jobs(beside(api, store)) as jobs:
        store.is_broken = True
        for _ in range(MOST_AT_ONCE):
            with pytest.raises(StoreError):
                await jobs.start("pages.check", "me", Held())
        store.is_broken = False

        job = await jobs.start("pages.check", "me", Held())

        assert job.row.state == "running"


async def test_a_row_is_written_when_it_has_changed_and_again_until_it_could_be(api: Api) -> None:
    store, held = Balky(api.store), Held()
    store.may_end.set()
    async with asyncio.timeout(60), running_jobs(beside(api, store)) as jobs:
        job = await jobs.start("pages.check", "me", held)
        await asyncio.sleep(0)
        store.is_broken = True
        await jobs.save()
        store.is_broken = False
        for _ in range(3):
            await jobs.save()
        held.may_end.set()
        await job.wait()
        await jobs.save()

    assert [(row.state, row.done) for row in store.saved] == [("running", 0), ("running", 3), ("done", 3)]


async def test_a_job_that_is_cancelled_while_its_end_is_written_has_ended(api: Api) -> None:
    store, held = Balky(api.store), Held()
    async with asyncio.timeout(60), running_jobs(beside(api, store)) as jobs:
        job = await jobs.start("pages.check", "me", held)
        held.may_end.set()
        await store.is_asked.wait()
        cancelling = asyncio.gather(jobs.cancel(job.row.id))
        await asyncio.sleep(0)
        store.may_end.set()

        (row,) = await cancelling

        assert row is not None
        assert row.state == "done"
        assert (await api.store.job(job.row.id)) == row


async def test_a_job_that_is_cancelled_before_its_first_step_has_ended(api: Api) -> None:
    async with asyncio.timeout(60), running_jobs(api.rig.app.state.parts) as jobs:
        job = await jobs.start("pages.check", "me", Held())

        row = await jobs.cancel(job.row.id)

        assert row is not None
        assert row.state == "cancelled"
        assert (await job.wait()).state == "cancelled"


async def test_an_edit_whose_job_is_cancelled_before_its_first_step_keeps_nobody_from_editing(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, caller = api.rig.app.state.parts, Caller("me", Scope.ADMIN)
    async with asyncio.timeout(60), running_jobs(parts) as jobs:
        begin = jobs.start

        async def begin_and_cancel(*what: Any) -> Job:
            job = await begin(*what)
            await jobs.cancel(job.row.id)
            return job

        with monkeypatch.context() as patched:
            patched.setattr(jobs, "start", begin_and_cancel)
            cancelled = await edit_defaults(parts, Act(jobs, caller), None, {"mode": "off"}, ())
        done = await edit_defaults(parts, Act(jobs, caller), None, {"mode": "auto"}, ())

        assert (cancelled.row.state, (await done.wait()).state) == ("cancelled", "done")
    assert (await api.store.overrides())[0] == {"mode": "auto"}


async def test_more_jobs_than_may_run_at_once_are_refused_for_now(api: Api) -> None:
    held = Held()
    for _ in range(MOST_AT_ONCE):
        await api.rig.app.state.jobs.start("pages.check", "me", held)

    problem = await api.refused("POST", "/pages/bulk", {"pages": {"view": "all"}, "action": "pause"})

    assert (problem["status"], problem["type"]) == (429, "urn:tocsin:problem:too-many-jobs")
    held.may_end.set()


async def test_a_fault_of_ours_ends_one_job_and_not_the_service(api: Api) -> None:
    async def broken(_progress: Progress) -> dict[str, Any]:
        raise ZeroDivisionError

    job = await api.rig.app.state.jobs.start("pages.check", "me", broken)
    with pytest.raises(Problem):
        await job.wait()

    told = await api.get(f"/jobs/{job.row.id}")
    assert told["state"] == "failed"
    assert "ZeroDivisionError" not in told["error"]
    crashed = [each for each in api.rig.telemetry.happenings if each.name == "job.crashed"]
    assert [each.values["error"] for each in crashed] == ["ZeroDivisionError: "]


async def test_what_runs_when_the_service_ends_is_marked_as_interrupted(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'tocsin.db'}"
    async with await open_store(url, engine=True) as store, served(store) as rig:
        job = await rig.app.state.jobs.start("pages.check", "me", Held())
        await asyncio.sleep(0)

    async with await open_store(url, engine=True) as store:
        row = await store.job(job.row.id)

    assert row is not None
    assert (row.state, row.done) == ("interrupted", 3)


async def test_a_store_that_is_gone_hides_no_reason_why_the_service_ends(api: Api, tmp_path: Path) -> None:
    async with await open_store(f"sqlite:{tmp_path / 'gone.db'}", engine=True) as gone:
        parts: Parts = replace(api.rig.app.state.parts, store=gone)

        async def end() -> None:
            async with running_jobs(parts) as jobs:
                await jobs.start("pages.check", "me", Held())
                await gone.close()
                raise ZeroDivisionError

        with pytest.raises(BaseExceptionGroup) as ended:
            await end()

    assert [type(each) for each in ended.value.exceptions] == [ZeroDivisionError]
    told = [each for each in api.rig.telemetry.happenings if each.name == "jobs.unwritten"]
    assert [each.values["jobs"] for each in told] == [1]
    assert "the store was closed" in str(told[0].values["error"])


async def test_what_a_crash_left_behind_is_marked_at_the_next_start(api: Api) -> None:
    await api.store.save_job(JobRow(GONE, "pages.import", "me", api.rig.clock.now(), done=7))

    async with running_jobs(api.rig.app.state.parts):
        row = await api.store.job(GONE)

    assert row is not None
    assert (row.state, row.done) == ("interrupted", 7)


A = "https://a.example/"
KEY = {"Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}


async def test_a_request_that_is_sent_again_is_answered_as_before_and_done_once(api: Api) -> None:
    first = await api.call("POST", "/pages", {"url": A}, headers=KEY)

    again = await api.call("POST", "/pages", {"url": A}, headers=KEY)

    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert await api.audited() == ["pages.add"]


async def test_an_answer_without_a_body_is_given_again_too(api: Api) -> None:
    await api.add(A)
    await api.do("DELETE", "/pages/1", headers=KEY)

    again = await api.call("DELETE", "/pages/1", headers=KEY)

    assert (again.status_code, again.content) == (204, b"")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/pages", {"url": "https://b.example/"}),
        ("POST", "/pages?x=1", {"url": A}),
        ("POST", "/checks", {"ids": ["1"]}),
    ],
)
async def test_a_key_that_is_used_for_another_request_is_refused(
    api: Api, method: str, path: str, body: object
) -> None:
    await api.do("POST", "/pages", {"url": A}, headers=KEY)

    problem = await api.refused(method, path, body, headers=KEY)

    assert (problem["status"], problem["type"]) == (422, "urn:tocsin:problem:key-used")
    assert await api.urls() == [A]


async def test_a_request_that_was_refused_may_be_tried_again_with_its_key(api: Api) -> None:
    await api.refused("PATCH", "/pages/1", {"text": "x"}, headers={**KEY, "If-Match": "*"})
    await api.add(A)

    page = await api.do("PATCH", "/pages/1", {"text": "x"}, headers={**KEY, "If-Match": "*"})

    assert page["text"] == "x"


async def test_a_key_belongs_to_whoever_sent_it(api: Api) -> None:
    one, other = await api.rig.token(Scope.WRITE, "one"), await api.rig.token(Scope.WRITE, "other")
    api.asked.headers["Authorization"] = f"Bearer {one}"
    await api.do("POST", "/pages", {"url": A}, headers=KEY)
    api.asked.headers["Authorization"] = f"Bearer {other}"

    answer = await api.call("POST", "/pages", {"url": "https://b.example/"}, headers=KEY)

    assert answer.status_code == 201


async def test_a_token_that_is_revoked_is_given_no_old_answers(api: Api) -> None:
    api.asked.headers["Authorization"] = f"Bearer {await api.rig.token(Scope.WRITE, 'one')}"
    await api.do("POST", "/pages", {"url": A}, headers=KEY)
    await api.store.revoke_token("one", api.rig.clock.now())

    assert (await api.refused("POST", "/pages", {"url": A}, headers=KEY))["status"] == 401


async def test_of_ten_that_are_sent_at_once_one_is_done(api: Api) -> None:
    answers = await asyncio.gather(*(api.call("POST", "/pages", {"url": A}, headers=KEY) for _ in range(10)))

    assert {answer.status_code for answer in answers} <= {201, 409}
    assert {answer.json()["id"] for answer in answers if answer.status_code == 201} == {"1"}
    assert await api.audited() == ["pages.add"]


async def test_the_secret_of_a_token_is_kept_nowhere(api: Api, tmp_path: Path) -> None:
    made = await api.do("POST", "/tokens", {"name": "one", "scope": "admin"}, headers=KEY)
    api.asked.headers["Authorization"] = f"Bearer {made['token']}"

    problem = await api.refused("POST", "/tokens", {"name": "one", "scope": "admin"}, headers=KEY)

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:name-taken")
    for part in tmp_path.glob("*.db*"):
        assert made["token"].encode() not in part.read_bytes()


async def test_a_list_that_is_sent_again_is_imported_once(api: Api) -> None:
    first = await api.do("POST", "/imports", b"https://a.example/\n", headers=KEY)

    again = await api.do("POST", "/imports", b"https://a.example/\n", headers=KEY)

    assert again["id"] == first["id"]
    assert len((await api.get("/jobs"))["items"]) == 1
    assert (await api.refused("POST", "/imports", b"https://b.example/\n", headers=KEY))["status"] == 422


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a\tb"])
async def test_a_key_that_cannot_be_used_is_refused(api: Api, key: str) -> None:
    problem = await api.refused("POST", "/pages", {"url": A}, headers={"Idempotency-Key": key})

    assert problem["status"] == 422
    assert await api.urls() == []


async def test_a_key_is_forgotten_after_a_day(api: Api) -> None:
    await api.do("POST", "/pages", {"url": A}, headers=KEY)
    api.rig.clock.set_wall(api.rig.clock.now() + 25 * HOUR)

    problem = await api.refused("POST", "/pages", {"url": A}, headers=KEY)

    assert problem["status"] == 409
