"""What holds whatever happens in whatever order: the store is sound, and no change is told twice or never."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.claiming import claim_all
from tests.contract.desk import HOUR, MINUTE, A, B, C, Desk, passing_desk
from tests.contract.stores import STORES
from tocsin.model import CheckResult, Instruction, PageFilter, PageTask

URLS = st.sampled_from([A, B, C])
INSTRUCTIONS = st.sampled_from(
    [
        Instruction("again"),
        Instruction("again", later=True),
        Instruction("never"),
        Instruction("until-major"),
        Instruction("drop"),
        Instruction("copy", copy_url="https://archive.example/"),
    ]
)
EVENTS = st.one_of(
    st.tuples(st.just("check"), URLS, st.sampled_from(["1", "2", None])),
    st.tuples(st.just("fail"), URLS, st.sampled_from(["dns", "status 404"])),
    st.tuples(st.just("render"), st.booleans(), st.none()),
    st.tuples(st.just("answer"), INSTRUCTIONS, st.sampled_from(["page", "host-cause", "host", "cause"])),
    st.tuples(st.just("announce"), st.none(), st.none()),
    st.tuples(st.just("claim"), st.none(), st.none()),
    st.tuples(st.just("request"), st.none(), st.none()),
    st.tuples(st.just("remove"), URLS, st.none()),
    st.tuples(st.just("watch"), URLS, st.none()),
    st.tuples(st.just("lift"), st.none(), st.none()),
    st.tuples(st.just("withdraw"), st.none(), st.none()),
    st.tuples(st.just("pause"), URLS, st.booleans()),
    st.tuples(st.just("turn"), st.one_of(st.none(), URLS), st.sampled_from(["on", "off", None])),
    st.tuples(st.just("begin"), URLS, st.booleans()),
    st.tuples(st.just("end"), st.none(), st.none()),
)


class Play:
    """Lets things happen to a store, as far as they can."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.under_way: list[CheckResult] = []

    async def check(self, url: str, major: str | None) -> None:
        """Receive a page."""
        if task := await self._due(url):
            await self.desk.store.commit(self.desk.claim, [self.desk.result(task, major)])

    async def fail(self, url: str, cause: str) -> None:
        """Do not receive it."""
        if task := await self._due(url):
            await self.desk.store.commit(self.desk.claim, [self.desk.failed(task, cause)])

    async def render(self, succeeds: bool, _: None) -> None:  # noqa: FBT001 - drawn
        """Render whatever is first in turn."""
        desk = self.desk
        waiting = [page.page_id for page in await desk.store.waiting_renders(limit=1)]
        for job in await desk.store.claim_renders(desk.claim, waiting):
            result = desk.rendered(job) if succeeds else desk.unrendered(job)
            if job.copy_url is not None:
                # A copy answers no verdict: what else the page waits for comes next.
                copy = structs.replace(result.rendering, kind="copy")
                result = desk.rendered(job, rendering=copy, served=(), alerts=(), prune=False, recovered=False)
            await desk.store.commit_renderings(desk.claim, [result])

    async def answer(self, instruction: Instruction, scope: str) -> None:
        """Answer the first question."""
        store = self.desk.store
        for question in (await store.questions())[:1]:
            url = question.sample[0] if instruction.kind == "copy" else None
            await store.answer(question.id, instruction, scope=scope, url=url, now=self.desk.now)

    async def announce(self, *_: None) -> None:
        """Ask what is to be asked."""
        await self.desk.announce()

    async def claim(self, *_: None) -> None:
        """Begin anew, as after a crash."""
        claim = await claim_all(self.desk.store, "engine")
        assert claim is not None
        self.desk.claim = claim

    async def request(self, *_: None) -> None:
        """Ask for all pages."""
        await self.desk.store.request_check(None, self.desk.now)

    async def remove(self, url: str, _: None) -> None:
        """Take a page off the list."""
        page = await self.desk.store.page(url)
        if page is not None:
            await self.desk.store.remove_pages([page.id])

    async def watch(self, url: str, _: None) -> None:
        """Add a page."""
        await self.desk.watch(url)

    async def lift(self, *_: None) -> None:
        """Lift the first rule."""
        for rule in (await self.desk.store.standing_answers())[:1]:
            await self.desk.store.lift_standing_answer(rule.id, self.desk.now)

    async def withdraw(self, *_: None) -> None:
        """Find that it was our own outage."""
        desk = self.desk
        await desk.store.withdraw_questions(desk.claim, ["dns"], desk.now, desk.now + HOUR)

    async def pause(self, url: str, paused: bool) -> None:  # noqa: FBT001 - drawn
        """Pause a page, or let it go on."""
        page = await self.desk.store.page(url)
        if page is not None:
            await self.desk.edit(page.id, paused=paused)

    async def turn(self, url: str | None, mode: str | None) -> None:
        """Turn a page (or all) on or off, or let it inherit again."""
        settings, unset = ({"mode": mode}, []) if mode else ({}, ["mode"])
        page = await self.desk.store.page(url) if url is not None else None
        if page is not None:
            await self.desk.edit(page.id, settings=settings, unset=unset)
        elif url is None:
            await self.desk.store.edit_group(None, self.desk.now, settings=settings, unset=unset)

    async def begin(self, url: str, succeeds: bool) -> None:  # noqa: FBT001 - drawn
        """Begin a check: whatever happens until its end happens while it is under way."""
        if (task := await self._due(url)) and all(result.page_id != task.page_id for result in self.under_way):
            received = self.desk.result(task, state=None, verdict=None)
            self.under_way.append(received if succeeds else self.desk.failed(task))

    async def end(self, *_: None) -> None:
        """Write what is under way."""
        await self.desk.store.commit(self.desk.claim, self.under_way)
        self.under_way = []

    async def _due(self, url: str) -> PageTask | None:
        due = await self.desk.due()
        return next((task for task in due if task.url == url), None)


@pytest.mark.parametrize("database", STORES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(events=st.lists(EVENTS, max_size=25))
async def test_the_store_is_sound_after_whatever_happened(
    database: str, events: list[tuple[str, object, object]]
) -> None:
    async with passing_desk(database) as desk:
        await desk.store.set_channels(["ops"])
        await desk.watch(A, B, C)
        play = Play(desk)
        for name, what, how in events:
            desk.now += MINUTE
            await getattr(play, name)(what, how)

        assert await desk.store.check() == []
        # Whatever was due is told in the end, once.
        for url in (A, B, C):
            await play.pause(url, paused=False)
        for _ in range(30):
            await play.render(True, None)  # noqa: FBT003 - as drawn
        assert await desk.store.count_waiting() == 0
        told = Counter(alert.page_id for alert in await desk.store.after(0, limit=999) if "verdict" in alert.id)
        for page in await desk.store.pages(PageFilter()):
            history = await desk.store.history(page.url, limit=99)
            assert told[page.id] == sum(len(entry.verdicts) for entry in history)
        assert await desk.store.check() == []
