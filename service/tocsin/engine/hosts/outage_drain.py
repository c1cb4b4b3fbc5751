"""A node whose own connection is down leaves its hosts to nodes whose connection works."""

from __future__ import annotations

from typing import Final, Protocol

from tocsin.engine.hosts.outage import OutageWatch
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import NodeRow
from tocsin.ports import Clock, Telemetry

# An outage that is over by then costs less than moving the hosts to other nodes and back.
PATIENCE_S: Final = 60.0
_LOOK_S: Final = 1.0


class DrainStore(Protocol):
    """The part of `ports.NodeStore` that draining needs."""

    @property
    def is_shared(self) -> bool:
        """Whether several nodes may work on the store."""

    async def nodes(self) -> list[NodeRow]:
        """See `ports.NodeStore`."""

    async def drain_node(self, node: str, *, draining: bool) -> bool:
        """See `ports.NodeStore`."""


class OutageDrain:
    """Drains this node while it is in an outage and another node is not; it works again when its outage is over.

    node  the name of this one. What nodes say has `outage` while they are in one
    """

    def __init__(self, store: DrainStore, node: str, outage: OutageWatch, clock: Clock, telemetry: Telemetry) -> None:
        self._store, self._node, self._outage = store, node, outage
        self._clock, self._telemetry = clock, telemetry
        self._since_s: float | None = None
        # A node that its operator drains is left as it is.
        self._is_drained = False

    async def run(self) -> None:
        """Look every second, until cancelled; without other nodes it ends at once."""
        while self._store.is_shared:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening("outage.drain_failed", "warning", {"error": str(exc)}))
            await self._clock.sleep(_LOOK_S)

    async def look(self) -> None:
        """Drain, or work again."""
        now_s = self._clock.monotonic()
        if not self._outage.is_outage():
            self._since_s = None
        elif self._since_s is None:
            self._since_s = now_s
        is_long = self._since_s is not None and now_s - self._since_s >= PATIENCE_S
        wanted = is_long and await self._is_another_well()
        if wanted != self._is_drained:
            await self._store.drain_node(self._node, draining=wanted)
            self._is_drained = wanted
            self._telemetry.emit(Happening("outage.drained" if wanted else "outage.undrained", "warning"))

    async def _is_another_well(self) -> bool:
        return any(
            node.node != self._node and node.left_s > 0 and not node.draining and not node.said.get("outage")
            for node in await self._store.nodes()
        )
