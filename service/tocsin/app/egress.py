"""Processes aside whose only way out is an egress proxy, which this process serves while they have a job."""

# The proxy of Apprise runs in the service's own loop, and not in a process of its own: it passes on a few KiB for each
# alert, opens no more connections than one job is allowed, and reads nothing but the heads of requests and of answers,
# while another process would take 40 MB. A browser's proxy, with its megabytes a page, is to have its own.

from __future__ import annotations

import asyncio
from ipaddress import ip_network
from typing import TYPE_CHECKING, Final

from tocsin.adapters.http.addresses import AddressPolicy, NameCache
from tocsin.adapters.http.egress import EgressBudget, EgressProxy, EgressRefusal
from tocsin.adapters.processes.aside import LocalAside, start_aside, why_no_cells
from tocsin.errors import ProcessError
from tocsin.events import Happening
from tocsin.ports.processes import AsideAnswer

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from tocsin.settings import NetworkSettings

_DNS_S: Final = 5.0
# Of one job. A message has one target; some services first ask for a token, or for the name of a channel.
_CONNECTIONS: Final = 20
_WIRE_BYTES: Final = 8 * 2**20
_CONNECTION_S: Final = 60.0
# After which the memory of a process without a job is given back.
IDLE_S: Final = 60.0
_EVERY_ADDRESS: Final = ip_network("0.0.0.0/0")


class CellAsides:
    """Processes aside in cells, each with an egress proxy. Implements `ports.processes.Asides`.

    Where the machine allows no cells, they start without one only if `network.allow` names every address.

    emit       takes what the proxy refused
    most       processes at the same time
    idle_s     after which one without a job is ended
    no_cells   says why this machine allows no cells
    """

    def __init__(
        self,
        network: NetworkSettings,
        emit: Callable[[Happening], None],
        *,
        most: int,
        idle_s: float = IDLE_S,
        no_cells: Callable[[], str | None] = why_no_cells,
    ) -> None:
        self._network, self._emit, self._idle_s, self._no_cells = network, emit, idle_s, no_cells
        self._free = asyncio.Semaphore(most)
        self._idle: list[tuple[str, LocalAside]] = []
        self._ended: list[LocalAside] = []
        self._timer: asyncio.TimerHandle | None = None
        self._names: NameCache | None = None
        self._proxy: EgressProxy | None = None

    def why_not(self) -> str | None:
        """Say why no process may be started, with the mend; None if it may."""
        why = self._no_cells()
        if why is None or self._may_go_anywhere():
            return None
        return (
            f'{why}; or write allow = ["0.0.0.0/0"] below [network]: then it runs without one, and reaches any address'
        )

    async def ask(self, module: str, job: bytes, within_s: float) -> AsideAnswer:
        """Give a process a job, and wait for the answer; raises ProcessError and TimeoutError."""
        async with self._free:
            process = await self._take(module)
            try:
                async with asyncio.timeout(within_s):
                    answer = await self._ask(process, job)
            except BaseException:
                await process.end()
                raise
            self._keep(module, process)
            return answer

    async def close(self) -> None:
        """End the processes; none has a job any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._let_go()
        await self._clear()
        if self._names is not None:
            await self._names.close()
            self._names = self._proxy = None

    async def _take(self, module: str) -> LocalAside:
        """Give an idle process of this module, or start one; raises ProcessError."""
        for found in self._idle:
            if found[0] == module:
                self._idle.remove(found)
                if found[1].is_alive:
                    return found[1]
                self._ended.append(found[1])
                break
        await self._clear()
        if self._no_cells() is None:
            return await start_aside(module, in_cell=True)
        if (why := self.why_not()) is not None:
            raise ProcessError(why)
        return await start_aside(module, in_cell=False)

    async def _ask(self, process: LocalAside, job: bytes) -> AsideAnswer:
        if process.listener is None:
            return AsideAnswer(await process.ask(job))
        budget = EgressBudget(_CONNECTIONS, _WIRE_BYTES, _CONNECTION_S)
        body, ended = b"", None
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(self._serve(process.listener, budget), name="egress-proxy")
            try:
                body = await process.ask(job)
            except ProcessError as exc:
                # It leaves the group as it is, and not as a part of a group of errors.
                ended = exc
            serving.cancel()
        if ended is not None:
            raise ended
        return AsideAnswer(body, tuple(refusal.reason for refusal in budget.refusals))

    async def _serve(self, listener: socket, budget: EgressBudget) -> None:
        if self._proxy is None:
            self._names = NameCache(_DNS_S)
            self._proxy = EgressProxy(self._names, AddressPolicy(self._network.allow), self._note)
        await self._proxy.serve(listener, budget)

    def _keep(self, module: str, process: LocalAside) -> None:
        self._idle.append((module, process))
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._idle_s, self._let_go)

    def _let_go(self) -> None:
        for _, process in self._idle:
            process.kill()
            self._ended.append(process)
        self._idle.clear()

    async def _clear(self) -> None:
        while self._ended:
            await self._ended.pop().end()

    def _may_go_anywhere(self) -> bool:
        return any(ip_network(text, strict=False) == _EVERY_ADDRESS for text in self._network.allow)

    def _note(self, refusal: EgressRefusal) -> None:
        values = {"host": refusal.host, "status": refusal.status, "reason": refusal.reason}
        self._emit(Happening("egress.refused", "warning", values))
