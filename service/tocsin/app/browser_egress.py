"""The egress process of a browser: it serves the proxy of each slot, by a budget for each page.

python -m tocsin.app.browser_egress STREAM PARENT LISTENER [LISTENER ...]     descriptors, and the id of the parent

Megabytes of every page pass through it, so it is a process of its own: they never delay the service's loop.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from tocsin.adapters.http.addresses import AddressPolicy, NameCache
from tocsin.adapters.http.egress import EgressBudget, EgressProxy, EgressRefusal
from tocsin.adapters.processes.starting import environment
from tocsin.adapters.processes.stream import MessageStream, belong_to, open_pipe
from tocsin.app.executing import execute
from tocsin.errors import ProcessError
from tocsin.events import Happening

_MODULE: Final = "tocsin.app.browser_egress"
_DNS_S: Final = 5.0
_WEB_PORTS: Final = frozenset((80, 443))
# Of a page, told apart by host and reason; more are only counted.
_MOST_REASONS: Final = 50
# Every answer is given at once: a process that takes longer hangs.
_ANSWER_S: Final = 10.0
# More than a listener keeps waiting.
_MOST_WAITING: Final = 1000


class EgressRules(Struct, frozen=True, tag=True):
    """The first message; see `start_egress`."""

    allow: tuple[str, ...]
    servers: tuple[str, ...] = ()


class PageBudget(Struct, frozen=True):
    """What one page may do.

    host         of its URL, in lower case and without brackets; announced already
    port         of its URL, that may be dialled beside 80 and 443
    total_s      deadline of each of its connections
    is_typed     its host may have any address, because a person typed its URL
    """

    host: str
    port: int
    connections: int = 500
    wire_bytes: int = 30 * 2**20
    total_s: float = 30.0
    is_typed: bool = False


class OpenPage(Struct, frozen=True, tag=True):
    """Serve the proxy of this slot for a page. Answered by `EgressDone`."""

    slot: int
    budget: PageBudget


class AnnounceHost(Struct, frozen=True, tag=True):
    """The page of this slot may now connect to a host. Answered by `EgressDone`."""

    slot: int
    host: str


class ClosePage(Struct, frozen=True, tag=True):
    """End all connections of the slot's page, and accept no more. Answered by `PageTraffic`."""

    slot: int


class EgressDone(Struct, frozen=True, tag=True):
    """It is done."""


class PageTraffic(Struct, frozen=True, tag=True):
    """What passed for a page.

    refusals  how often each was met; of more than 50 kinds the first
    refused   connections, all kinds together
    """

    connections: int = 0
    wire_bytes: int = 0
    refusals: tuple[tuple[EgressRefusal, int], ...] = ()
    refused: int = 0


_ToEgress: TypeAlias = EgressRules | OpenPage | AnnounceHost | ClosePage
_FromEgress: TypeAlias = EgressDone | PageTraffic


# The engine's end ------------------------------------------------------------------------------------------------


class PageEgress:
    """The way out of one page.

    traffic  complete once the page is closed
    """

    def __init__(self, link: EgressProcess, slot: int, host: str) -> None:
        self._link, self._slot = link, slot
        self._announced = {host}
        self.traffic = PageTraffic()

    async def announce(self, host: str) -> None:
        """Let the page connect to this host; once this returns, the proxy knows. Raises ProcessError."""
        name = host.lower()
        if name not in self._announced:
            await self._link.ask(AnnounceHost(self._slot, name))
            self._announced.add(name)


class EgressProcess:
    """The egress process, as its parent sees it.

    is_hanging  it did not answer in time, and was killed for that
    """

    def __init__(self, process: asyncio.subprocess.Process, stream: MessageStream[_ToEgress, _FromEgress]) -> None:
        self.pid, self.is_hanging = process.pid, False
        self._process, self._stream = process, stream
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def page(self, slot: int, budget: PageBudget) -> AsyncIterator[PageEgress]:
        """Let the browser of a slot out for one page; afterwards all of its connections are ended.

        Raises ProcessError once the process is gone.
        """
        page = PageEgress(self, slot, budget.host)
        await self.ask(OpenPage(slot, budget))
        try:
            yield page
        finally:
            # A process that is gone has ended the connections; what its page met is more telling than this.
            with suppress(ProcessError):
                answer = await self.ask(ClosePage(slot))
                if isinstance(answer, PageTraffic):
                    page.traffic = answer

    async def ask(self, message: _ToEgress) -> _FromEgress:
        """Wait for the answer to a message; raises ProcessError once the process is gone, or hangs."""
        # To the end, also where the caller is cancelled meanwhile: the next one would read this answer.
        return await asyncio.shield(self._ask(message))

    async def _ask(self, message: _ToEgress) -> _FromEgress:
        async with self._turn:
            try:
                async with asyncio.timeout(_ANSWER_S):
                    await self._stream.send([message])
                    answers = await self._stream.receive()
            except TimeoutError:
                self.is_hanging, answers = True, ()
            if not answers:
                self.kill()
                raise ProcessError(f"the egress process {self.pid} of the browser has ended or hangs")
            return answers[0]

    async def wait(self) -> int:
        """Wait until it has ended; returns its exit status, negative for a signal."""
        return await self._process.wait()

    def kill(self) -> None:
        """End it at once, and with it all connections of all pages."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """End it, and wait until it has ended."""
        self.kill()
        await self._stream.close()
        await self._process.wait()


async def start_egress(
    listeners: Sequence[socket.socket], allow: tuple[str, ...], servers: tuple[str, ...] = ()
) -> EgressProcess:
    """Start the egress process of a browser.

    listeners  of the browser's cell, one for each slot; they stay the caller's, who can start another process on them
    allow      networks that may be dialled in addition to public addresses
    servers    name servers, as "address:port"; none: the system's
    Raises ProcessError.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            descriptors = (theirs.fileno(), *(each.fileno() for each in listeners))
            arguments = (str(descriptors[0]), str(os.getpid()), *map(str, descriptors[1:]))
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                # -P: files of the working folder must not be imported in place of modules.
                *("-P", "-m", _MODULE, *arguments),
                pass_fds=descriptors,
                stdin=asyncio.subprocess.DEVNULL,
                # Standard output is for results; errors go to standard error.
                stdout=asyncio.subprocess.DEVNULL,
                env=environment(),
                # A Ctrl-C at the terminal is for the parent alone.
                start_new_session=True,
            )
        stream: MessageStream[_ToEgress, _FromEgress] = await open_pipe(
            ours, msgspec.msgpack.Decoder(list[_FromEgress])
        )
    except OSError as exc:
        ours.close()
        raise ProcessError(f"the browser's egress process cannot be started: {exc}; allow more processes") from exc
    started = EgressProcess(process, stream)
    try:
        await started.ask(EgressRules(allow, servers))
    except BaseException:
        await started.end()
        raise
    return started


def to_happenings(url: str, traffic: PageTraffic) -> list[Happening]:
    """Describe what the browser of a page was refused."""
    return [
        Happening(
            "browser.refused",
            "info",
            {"url": url, "host": refusal.host, "status": refusal.status, "reason": refusal.reason, "times": times},
        )
        for refusal, times in traffic.refusals
    ]


# The process's end -----------------------------------------------------------------------------------------------


class _SlotProxy:
    """The proxy of one slot, and what its page did."""

    def __init__(self, listener: socket.socket, names: NameCache, policy: AddressPolicy) -> None:
        self._listener = listener
        self._proxy = EgressProxy(names, policy, self._note)
        self._given: PageBudget | None = None
        self._budget = EgressBudget(0, 0, 0.0)
        self._refusals: Counter[EgressRefusal] = Counter()
        self._refused = 0
        self._serving: asyncio.Task[None] | None = None

    async def open(self, given: PageBudget, group: asyncio.TaskGroup) -> None:
        """Begin to serve a page."""
        await self.close()
        self._drop_waiting()
        self._refusals.clear()
        self._refused, self._given = 0, given
        self._budget = EgressBudget(
            given.connections,
            given.wire_bytes,
            given.total_s,
            ports=_WEB_PORTS | {given.port},
            hosts={given.host},
            typed=given.host if given.is_typed else "",
        )
        self._serving = group.create_task(self._proxy.serve(self._listener, self._budget), name="egress-slot")

    def announce(self, host: str) -> None:
        """Let the page connect to a host."""
        if self._budget.hosts is not None:
            self._budget.hosts.add(host)

    async def close(self) -> PageTraffic:
        """End the connections of the page; returns what passed."""
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving])
            self._serving = None
        if self._given is None:
            return PageTraffic()
        given, self._given = self._given, None
        return PageTraffic(
            given.connections - self._budget.connections,
            given.wire_bytes - self._budget.wire_bytes,
            tuple(self._refusals.items()),
            self._refused,
        )

    def _note(self, refusal: EgressRefusal) -> None:
        self._refused += 1
        if refusal in self._refusals or len(self._refusals) < _MOST_REASONS:
            self._refusals[refusal] += 1

    def _drop_waiting(self) -> None:
        """End connections that no page is to answer for: the browser's own errands, and what a page left behind."""
        self._listener.setblocking(False)  # noqa: FBT003 - the name of the method says it
        with suppress(OSError):
            for _ in range(_MOST_WAITING):
                self._listener.accept()[0].close()


async def work(stream: int, listeners: Sequence[int]) -> None:
    """Do what the parent says, until it says no more."""
    pipe: MessageStream[_FromEgress, _ToEgress] = await open_pipe(
        socket.socket(fileno=stream), msgspec.msgpack.Decoder(list[_ToEgress])
    )
    rules = await pipe.receive()
    if not rules or not isinstance(rules[0], EgressRules):
        return
    names, policy = NameCache(_DNS_S, servers=rules[0].servers or None), AddressPolicy(rules[0].allow)
    slots = [_SlotProxy(socket.socket(fileno=each), names, policy) for each in listeners]
    await pipe.send([EgressDone()])
    async with asyncio.TaskGroup() as group:
        while messages := await pipe.receive():
            for message in messages:
                await pipe.send([await _answer(message, slots, group)])
        for slot in slots:
            await slot.close()
    await names.close()


async def _answer(message: _ToEgress, slots: Sequence[_SlotProxy], group: asyncio.TaskGroup) -> _FromEgress:
    if isinstance(message, OpenPage):
        await slots[message.slot].open(message.budget, group)
    elif isinstance(message, AnnounceHost):
        slots[message.slot].announce(message.host)
    elif isinstance(message, ClosePage):
        return await slots[message.slot].close()
    return EgressDone()


def main() -> None:
    """Run with the arguments given."""
    stream, parent, *listeners = map(int, sys.argv[1:])
    belong_to(parent)
    execute(work(stream, listeners))


if __name__ == "__main__":
    main()
