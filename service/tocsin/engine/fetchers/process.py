"""The work of a fetcher process: checking and rendering the pages of its hosts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tocsin.engine.fetchers.checkers import HostQueues
from tocsin.engine.fetchers.remote_calls import CROSSING, failed_of
from tocsin.engine.judging.assess import assess
from tocsin.engine.judging.contents import find_copies
from tocsin.engine.judging.reading import ReadingContext, read_text
from tocsin.engine.rendering.awareness import takes_text
from tocsin.engine.visiting.receive import HandoffRequired
from tocsin.engine.visiting.visit import contained
from tocsin.errors import FetchRefused
from tocsin.ports.messages import (
    AdmitDocument,
    Admitted,
    Ask,
    Begin,
    Checked,
    CheckEnds,
    CheckHandoff,
    Drop,
    Dropped,
    Failed,
    Heartbeat,
    Holds,
    Hop,
    Hopped,
    Ready,
    RenderedPage,
    RenderHandoff,
    Reply,
    Rules,
    TakeTurn,
    Withdraw,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.engine.fetchers.main_link import MainLink
    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.process_limits import LoopTime, RequestSlots
    from tocsin.engine.policies import Policies
    from tocsin.engine.rendering.renderer import PageRenderer
    from tocsin.engine.visiting.receive import Receiver
    from tocsin.engine.visiting.visit import Visitor
    from tocsin.model import PageTask, Rendered, RenderJob
    from tocsin.ports import Clock, Fetcher
    from tocsin.ports.messages import Answer, FromFetcher, Question, ToFetcher
    from tocsin.ports.processes import MessagePipe


class FetcherStopped(Exception):
    """The main process is gone, or ends this one."""


class FetcherRuntime:
    """Works until the stream ends, then gives up what it has in hand.

    mark       receives the id of the page whose bytes are being read, and 0 afterwards
    loop_time  says when a page may be read, and measures the lag
    """

    def __init__(
        self,
        pipe: MessagePipe[FromFetcher, ToFetcher],
        desk: MainLink,
        *,
        visitor: Visitor,
        renderer: PageRenderer,
        receiver: Receiver,
        fetcher: Fetcher,
        policies: Policies,
        gates: Gates,
        in_flight: RequestSlots,
        clock: Clock,
        mark: Callable[[int], None],
        loop_time: LoopTime,
    ) -> None:
        self._in_flight, self._loop_time = in_flight, loop_time
        self._pipe, self._desk, self._visitor, self._renderer = pipe, desk, visitor, renderer
        self._receiver, self._fetcher, self._policies, self._gates = receiver, fetcher, policies, gates
        self._clock, self._mark = clock, mark
        self._queues = HostQueues(self._visit, gates, in_flight)

    async def run(self, first: Sequence[ToFetcher] = ()) -> None:
        """Obey messages until the stream ends; `first` are those received already."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send(), name="send")
                group.create_task(self._beat(), name="beat")
                group.create_task(self._receive(first, group), name="receive")
        except* FetcherStopped:
            pass

    async def _receive(self, messages: Sequence[ToFetcher], group: asyncio.TaskGroup) -> None:
        self._desk.put(Ready())
        for message in messages:
            self._take(message, group)
        while messages := await self._pipe.receive():
            for message in messages:
                self._take(message, group)
        # Ends the group, and all tasks in it.
        raise FetcherStopped

    def _take(self, message: ToFetcher, group: asyncio.TaskGroup) -> None:
        match message:
            case Begin():
                for task in message.tasks:
                    self._visitor.expect(task)
                self._queues.begin(message.tasks, group.create_task)
            case Reply():
                self._desk.answered(message)
            case Ask():
                group.create_task(self._answer(message))
            case Drop():
                self._queues.drop()
                self._desk.put(Dropped(self._visitor.drop()))
            case Withdraw():
                self._visitor.withdraw(message.page_ids)
            case Holds():
                for host, until_s in message.until_s.items():
                    self._gates.hold(host, until_s)
            case Rules():
                self._policies.configure(message.pages)
                self._policies.adopt(message.for_all, message.groups)
                self._gates.configure(message.hosts)
            case _:
                raise AssertionError("it has started already")

    async def _visit(self, task: PageTask, stand_aside: Callable[[], None]) -> None:
        self._desk.ended(await self._visitor.ends(task, stand_aside))

    async def _answer(self, ask: Ask) -> None:
        try:
            answer = await self._answer_to(ask.question)
        except HandoffRequired as exc:
            answer = exc.so_far
        except CROSSING as exc:
            answer = failed_of(exc)
        self._desk.put_urgent(Reply(ask.number, answer))

    async def _answer_to(self, question: Question) -> Answer:
        match question:
            case CheckHandoff():
                return await self._hand_off(question)
            case RenderHandoff():
                with contained(question.job.page_id, question.job.task.url, self._desk):
                    rendered = await self._renderer.render(question.job, question.so_far)
                    await self._loop_time.begin(urgent=True)
                    try:
                        self._rehearse(question.job, rendered)
                    finally:
                        self._loop_time.end()
                    return RenderedPage(rendered)
            case AdmitDocument():
                return await self._desk.admit(question)
            case TakeTurn():
                # A browser makes the request, elsewhere: only its beginning counts here.
                gate = await self._receiver.take_turn(question.url)
                if gate is not None:
                    self._receiver.leave(gate)
                return Admitted()
            case Hop():
                with contained(None, question.request.url, self._desk):
                    return Hopped(await self._receiver.hop(question.request, self._fetcher.shared()))
            case _:
                raise AssertionError("only the main process answers this")

    def _rehearse(self, job: RenderJob, rendered: Rendered) -> None:
        """Read the body as the main process will: a page that kills its reader kills this one, which is replaced."""
        if job.copy_url is not None:
            return
        page, task = (rendered.body, rendered.content_type), job.task
        wanted = ReadingContext(self._policies.readable(task), task.beside, task.url, rendered.status)
        self._mark(job.page_id)
        try:
            assess(rendered.final_url, *page, task.state, None, headers=rendered.headers, wanted=wanted)
            if takes_text(task, wanted.policy):
                read_text(*page, wanted.policy, nosniff=False)
            find_copies(job.task.url, rendered.final_url, *page, rendered.headers)
        finally:
            self._mark(0)

    async def _hand_off(self, handoff: CheckHandoff) -> Checked | Failed:
        if handoff.fresh:
            async with self._fetcher.fresh() as session:
                came = await self._visitor.hand_off(handoff, session)
        else:
            came = await self._visitor.hand_off(handoff, self._fetcher.shared())
        if isinstance(came, FetchRefused):
            return failed_of(came, final=True)
        return Checked([CheckEnds(came)])

    async def _send(self) -> None:
        while True:
            await self._pipe.send(await self._desk.gathered())

    async def _beat(self) -> None:
        while True:
            lag_s = await self._loop_time.measure(self._clock)
            self._desk.put(Heartbeat(self._visitor.waiting_since(), lag_s, self._in_flight.taken))
