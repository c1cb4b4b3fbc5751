"""Resolving names to addresses: asynchronous, with a bounded cache."""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial

import aiodns
import pycares

from tocsin.errors import Shortage, shortage_of

LONGEST_KEPT_S = 300
SHORTEST_KEPT_S = 5
FAILURE_KEPT_S = 30
MOST_NAMES = 20_000
# Of a name, in each family: a name server could give thousands, all to be dialled and remembered.
MOST_ADDRESSES = 8
_FINAL = (aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_ENODATA)


class NameNotResolved(OSError):
    """DNS has no address for this name, or did not answer."""


class AddressRefused(OSError):
    """The address policy forbids every address that could be dialled."""


class NameCache:
    """Asks DNS for addresses, IPv4 and IPv6, and keeps them for at most five minutes, failures for 30 seconds.

    servers     name servers as "address" or "address:port"; None: the system's, with its hosts file
    deadline_s  after which a server is given up
    Callers that ask for the same name at the same time share one query.
    """

    def __init__(self, deadline_s: float, *, servers: Sequence[str] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        # Half the deadline each, so that a lost datagram does not fail the name.
        self._dns = aiodns.DNSResolver(nameservers=servers, timeout=max(deadline_s / 2, 0.05), tries=2)
        self._kept: OrderedDict[str, tuple[float, tuple[str, ...] | NameNotResolved]] = OrderedDict()
        self._asking: dict[str, asyncio.Future[pycares.AddrInfoResult]] = {}

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Give the addresses of a host name; raises NameNotResolved with the name in its text, or Shortage."""
        # Names in the hosts file have no final dot; elsewhere a final dot keeps search domains out, and stays.
        host = host.removesuffix(".") if host.endswith("localhost.") else host
        known = self._known(host)
        if known is None:
            known = await self._ask(host)
        if isinstance(known, NameNotResolved):
            raise NameNotResolved(*known.args)
        return known

    async def close(self) -> None:
        """Give up all queries."""
        await self._dns.close()

    def __len__(self) -> int:
        return len(self._kept)

    def _known(self, host: str) -> tuple[str, ...] | NameNotResolved | None:
        until, known = self._kept.get(host, (0.0, None))
        if until <= self._loop.time():
            return None
        self._kept.move_to_end(host)
        return known

    async def _ask(self, host: str) -> tuple[str, ...] | NameNotResolved:
        asking = self._asking.get(host)
        if asking is None:
            asking = self._dns.getaddrinfo(host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
            self._asking[host] = asking
            asking.add_done_callback(partial(self._learn, host))
        try:
            # All callers share the query: one that is cancelled must not cancel it for the others.
            return _addresses(await asyncio.shield(asking))
        except aiodns.error.DNSError as exc:
            if (shortage := _short_of_files()) is not None:
                raise shortage from exc
            return _failure(host, exc)

    def _learn(self, host: str, asked: asyncio.Future[pycares.AddrInfoResult]) -> None:
        """Keep an answer, also when no caller waits for it any more."""
        self._asking.pop(host, None)
        if asked.cancelled():
            return
        error = asked.exception()
        if error is None:
            answer = asked.result()
            ttl_s = min((node.ttl for node in answer.nodes), default=0)
            self._keep(host, _addresses(answer), min(max(ttl_s, SHORTEST_KEPT_S), LONGEST_KEPT_S))
        elif isinstance(error, aiodns.error.DNSError) and error.args[0] in _FINAL and _short_of_files() is None:
            # Failures of a server are not kept: the next try must ask again.
            self._keep(host, _failure(host, error), FAILURE_KEPT_S)

    def _keep(self, host: str, known: tuple[str, ...] | NameNotResolved, seconds: float) -> None:
        self._kept[host] = (self._loop.time() + seconds, known)
        self._kept.move_to_end(host)
        while len(self._kept) > MOST_NAMES:
            self._kept.popitem(last=False)


def _addresses(answer: pycares.AddrInfoResult) -> tuple[str, ...]:
    """Give the first addresses of each family, each once, in the order of the answer."""
    found = (node.addr[0] for node in answer.nodes)
    left = {True: MOST_ADDRESSES, False: MOST_ADDRESSES}
    kept: dict[str, None] = {}
    for text in found:
        address = text.decode("ascii") if isinstance(text, bytes) else text
        is_v6 = ":" in address
        if address not in kept and left[is_v6]:
            left[is_v6] -= 1
            kept[address] = None
    return tuple(kept)


def _short_of_files() -> Shortage | None:
    """Give the shortage if this process can open no socket: c-ares then reports a silent server."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    except OSError as exc:
        return shortage_of(exc)
    return None


def _failure(host: str, error: aiodns.error.DNSError) -> NameNotResolved:
    why = str(error.args[1]).lower() if len(error.args) > 1 else "no answer"
    return NameNotResolved(f"the name {host} has no address: {why}")
