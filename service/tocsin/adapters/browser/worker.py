"""The browser worker: slots that visit pages as the engine says."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Final

from playwright.async_api import async_playwright

from tocsin.adapters.browser.process_trees import ProcessTrees
from tocsin.adapters.browser.slot import Slot
from tocsin.adapters.browser.visit import VisitClock
from tocsin.errors import FetchError, FetchFailed, FetchRefused, ProcessError
from tocsin.model import FailureKind
from tocsin.ports.browser_link import (
    AskPermission,
    BrowserReady,
    FromBrowser,
    GiveUpVisit,
    Permission,
    StartBrowser,
    ToBrowser,
    VisitEnded,
    VisitFailed,
    VisitPage,
    WorkerBeat,
)
from tocsin.ports.processes import MessagePipe

_LOOK_S: Final = 0.2
_BEAT_S: Final = 2.0


class _VisitInHand:
    """A visit under way.

    clock    None until its slot is free for it
    waiting  for permissions, by host and document
    """

    def __init__(self, asked: VisitPage) -> None:
        self.asked = asked
        self.clock: VisitClock | None = None
        self.is_given_up = False
        self.waiting: dict[tuple[str, str], asyncio.Future[None]] = {}

    def keep_clock(self, clock: VisitClock) -> None:
        """Keep what can end it early."""
        self.clock = clock
        if self.is_given_up:
            self.give_up()

    def give_up(self) -> None:
        """End it early."""
        self.is_given_up = True
        if self.clock is not None:
            self.clock.end(FetchFailed(self.asked.visit.url, FailureKind.CRASHED, "given up"))

    def forget(self) -> None:
        """Let nothing wait for a permission any more."""
        for future in self.waiting.values():
            future.cancel()


async def _ended(pid: int) -> None:
    """Wait until a process has ended."""
    ended, descriptor = asyncio.Event(), os.pidfd_open(pid)
    loop = asyncio.get_running_loop()
    # It becomes readable when the process ends.
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


class BrowserWorker:
    """Does what the engine says over a pipe, until it says no more."""

    def __init__(self, pipe: MessagePipe[FromBrowser, ToBrowser]) -> None:
        self._pipe = pipe
        self._trees = ProcessTrees()
        self._slots: list[Slot] = []
        self._in_hand: dict[int, _VisitInHand] = {}

    async def run(self) -> None:
        """Work; the first message is the start."""
        messages = await self._pipe.receive()
        if not messages or not isinstance(messages[0], StartBrowser):
            return
        start, rest = messages[0], messages[1:]
        async with async_playwright() as playwright:
            self._trees.look()
            driver = self._trees.tree(os.getpid())[1]
            async with asyncio.TaskGroup() as group:
                self._slots = [
                    Slot(number, start, playwright.chromium, self._trees, group) for number in range(start.slots)
                ]
                parts = [
                    group.create_task(self._receive(rest, group), name="browser-pipe"),
                    group.create_task(_ended(driver), name="browser-driver"),
                    group.create_task(self._watch(), name="browser-watch"),
                    group.create_task(self._beat(), name="browser-beat"),
                ]
                await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
                for slot in self._slots:
                    slot.kill()
                for part in parts:
                    part.cancel()

    async def _receive(self, messages: Sequence[ToBrowser], group: asyncio.TaskGroup) -> None:
        await self._pipe.send([BrowserReady()])
        while True:
            for message in messages:
                self._take(message, group)
            messages = await self._pipe.receive()
            if not messages:
                return

    def _take(self, message: ToBrowser, group: asyncio.TaskGroup) -> None:
        match message:
            case VisitPage():
                self._in_hand[message.number] = in_hand = _VisitInHand(message)
                group.create_task(self._visit(in_hand), name="browser-visit")
            case GiveUpVisit() if message.number in self._in_hand:
                self._in_hand[message.number].give_up()
            case Permission() if message.number in self._in_hand:
                waiting = self._in_hand[message.number].waiting
                if (future := waiting.pop((message.host, message.document), None)) is not None:
                    future.set_result(None)

    async def _visit(self, in_hand: _VisitInHand) -> None:
        number, asked = in_hand.asked.number, in_hand.asked
        answer: FromBrowser

        async def permit(host: str, document: str) -> None:
            key = host, document
            if key not in in_hand.waiting:
                in_hand.waiting[key] = asyncio.get_running_loop().create_future()
                await self._pipe.send([AskPermission(number, host, document)])
            # Requests that wait for the same share its answer: one that ends must not end the others.
            await asyncio.shield(in_hand.waiting[key])

        try:
            page = await self._slots[asked.slot].visit(asked.visit, permit, in_hand.keep_clock)
            answer = VisitEnded(number, page)
        except FetchError as exc:
            answer = VisitFailed(number, exc.kind, exc.detail, isinstance(exc, FetchRefused))
        except ProcessError as exc:
            answer = VisitFailed(number, FailureKind.CRASHED, str(exc), no_browser=True)
        in_hand.forget()
        del self._in_hand[number]
        await self._pipe.send([answer])

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_S)
            if any(slot.is_busy for slot in self._slots):
                self._trees.look()
                for slot in self._slots:
                    slot.look()

    async def _beat(self) -> None:
        while True:
            await self._pipe.send([WorkerBeat()])
            await asyncio.sleep(_BEAT_S)
