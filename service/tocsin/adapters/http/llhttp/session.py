"""A session on lean connections: what it asks for needs no proxy."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tocsin.adapters.http.llhttp.answer import Disconnected
from tocsin.adapters.http.llhttp.connection import Stale
from tocsin.adapters.http.llhttp.dialling import Dialler
from tocsin.adapters.http.llhttp.pool import LeanPool
from tocsin.adapters.http.pools import PoolPair
from tocsin.adapters.http.translation import EXPECTED, translate
from tocsin.spec.html.urls import without_user_info

if TYPE_CHECKING:
    from tocsin.adapters.http.addresses import AddressPolicy
    from tocsin.adapters.http.budget import BodyBudget
    from tocsin.adapters.http.deadlines import DeadlineSweep
    from tocsin.adapters.http.llhttp.connection import Connection, Room
    from tocsin.adapters.http.llhttp.head import Origin, Origins
    from tocsin.adapters.http.llhttp.sealed import TlsSessions
    from tocsin.adapters.http.resolver import NameCache
    from tocsin.model import HopRequest, HopResponse

RESTED_S: Final = 0.05
"""What belongs to the last answer, or was sent with it, has come by then: else the loop is given its turns to read."""


class LeanSession:
    """Implements `ports.Session` for requests without a proxy: one session with its own connections (T59).

    sessions  TLS sessions to be resumed; None: each handshake is a whole one
    """

    def __init__(
        self,
        names: NameCache,
        sweep: DeadlineSweep,
        policy: AddressPolicy,
        budget: BodyBudget,
        *,
        origins: Origins,
        room: Room,
        sessions: TlsSessions | None,
    ) -> None:
        self._sweep, self._origins = sweep, origins
        self._pools = PoolPair(policy, lambda held_to: LeanPool(Dialler(names, held_to, sweep, budget, room, sessions)))

    async def get(self, request: HopRequest) -> HopResponse:
        """Make one request; see `ports.Session`."""
        began = self._sweep.listening_s()
        if "@" in request.url:
            # Whose they are is for the engine to know, and for no message to show.
            request = replace(request, url=without_user_info(request.url))
        connection = answer = None
        try:
            origin, target = self._origins.split(request.url)
            head = self._origins.head(origin, target, request)
            pool = self._pools.of(private=request.private)
            connection = pool.take(origin)
            if connection is not None and (
                (connection.idle_since + RESTED_S <= self._sweep.now() and connection.is_quiet)
                or await _becomes_quiet(connection)
            ):
                with suppress(Stale):
                    # That is the race of every kept connection, no failure of the page: it stays one set of requests
                    # (T59). Source: RFC 9112, 9.3.1.
                    answer = connection.ask(head, request, began, began)
                    return await answer
            connection = await self._dial(pool, origin, request, began)
            answer = connection.ask(head, request, began, self._sweep.listening_s())
            return await answer
        except EXPECTED as exc:
            raise translate(request.url, exc) from exc
        except asyncio.CancelledError:
            if connection is not None:
                connection.give_up(answer)
            raise

    async def close(self) -> None:
        """Close every connection."""
        await self._pools.close()

    @property
    def connections(self) -> int:
        """How many connections stand, busy or idle."""
        return self._pools.connections

    async def _dial(self, pool: LeanPool, origin: Origin, request: HopRequest, began: float) -> Connection:
        watching = self._sweep.watch(
            request.total_s, tls=origin.context is not None, max_wire_bytes=request.max_wire_bytes, began=began
        )
        with watching as watch:
            connection = await pool.dial(origin, watch)
        try:
            await _let_it_read()
        except asyncio.CancelledError:
            connection.abort()
            raise
        if connection.is_over:
            # What a server says before it is asked is no answer.
            how = "spoke before it was asked" if connection.has_spoken else "closed the connection before it answered"
            raise Disconnected(f"the server {how}")
        return connection


async def _becomes_quiet(connection: Connection) -> bool:
    """Let the loop read what waits in a kept connection; returns whether that was nothing that ends it.

    It was its end, or bytes that nobody asked for: nothing sent over it could be told from their answer. What is read
    of TLS alone, such as a new ticket, ends nothing.
    """
    await _let_it_read()
    if connection.is_quiet:
        return True
    connection.close()
    return False


async def _let_it_read() -> None:
    """Let the loop read what waits in its connections."""
    # What is found in this turn of the loop is read in the next, at the latest.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
