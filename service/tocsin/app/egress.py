"""Processes aside whose only way out is an egress proxy, which this process serves while they have a job."""

# The proxy of Apprise runs in the service's own loop, and not in a process of its own: it passes on a few KiB for each
# alert, opens no more connections than it is allowed for one job, and reads nothing but the heads of requests and of
# answers, while another process would take 40 MB. A browser's proxy, with its megabytes a page, is to have its own.

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
    from tocsin.ports import Telemetry
    from tocsin.settings import NetworkSettings

_DNS_S: Final = 5.0
# Of one job. A message has one target; some services first ask for a token, or for the name of a channel.
_CONNECTIONS: Final = 20
_WIRE_BYTES: Final = 8 * 2**20
_CONNECTION_S: Final = 60.0


class CellStarter:
    """Starts processes aside in cells. Implements `ports.processes.AsideStarter`.

    Where the machine allows no cells, they start without one only if `network.allow` names every address.
    """

    def __init__(self, network: NetworkSettings, telemetry: Telemetry) -> None:
        self._network, self._telemetry = network, telemetry
        self._proxy: EgressProxy | None = None
        self._names: NameCache | None = None

    def why_not(self) -> str | None:
        """Say why no process may be started, with the mend; None if it may."""
        why = why_no_cells()
        if why is None or _names_every_address(self._network):
            return None
        return f'{why}; or write allow = ["0.0.0.0/0"] below [network], and it may connect to every address'

    async def start(self, module: str) -> BoundedAside:
        """Start a process that runs this module; raises ProcessError."""
        if why_no_cells() is not None:
            if (why := self.why_not()) is not None:
                raise ProcessError(why)
            return BoundedAside(await start_aside(module, in_cell=False), None)
        if self._proxy is None:
            self._names = NameCache(_DNS_S)
            self._proxy = EgressProxy(self._names, AddressPolicy(self._network.allow), self._note)
        return BoundedAside(await start_aside(module, in_cell=True), self._proxy)

    async def close(self) -> None:
        """Give up its queries of names."""
        if self._names is not None:
            await self._names.close()
        self._proxy = self._names = None

    def _note(self, refusal: EgressRefusal) -> None:
        values = {"host": refusal.host, "status": refusal.status, "reason": refusal.reason}
        self._telemetry.emit(Happening("egress.refused", "warning", values))


class BoundedAside:
    """A process aside that reaches the network only while it has a job. Implements `ports.processes.AsideProcess`.

    proxy  None: it has no cell
    """

    def __init__(self, process: LocalAside, proxy: EgressProxy | None) -> None:
        self.pid = process.pid
        self._process, self._proxy = process, proxy

    @property
    def is_alive(self) -> bool:
        """Whether it can take a job."""
        return self._process.is_alive

    async def ask(self, job: bytes) -> AsideAnswer:
        """Give it a job, and wait for the answer; a caller that is cancelled kills it. Raises ProcessError."""
        budget = EgressBudget(_CONNECTIONS, _WIRE_BYTES, _CONNECTION_S)
        ended: ProcessError | None = None
        body = b""
        async with asyncio.TaskGroup() as group:
            if self._proxy is not None and self._process.listener is not None:
                serving = self._proxy.serve(self._process.listener, budget)
                tasks = [group.create_task(serving, name="egress-proxy")]
            else:
                tasks = []
            try:
                body = await self._process.ask(job)
            except ProcessError as exc:
                ended = exc
            for task in tasks:
                task.cancel()
        if ended is not None:
            raise ended
        return AsideAnswer(body, tuple(refusal.reason for refusal in budget.refusals))

    async def end(self) -> None:
        """End it, and wait until it has ended."""
        await self._process.end()


def _names_every_address(network: NetworkSettings) -> bool:
    return any(ip_network(text, strict=False) == ip_network("0.0.0.0/0") for text in network.allow)
