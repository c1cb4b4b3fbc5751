"""Names to addresses for aiohttp: judged by the address policy."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver, ResolveResult

from tocsin.adapters.http.deadlines import CURRENT, Phase
from tocsin.adapters.http.resolver import AddressRefused, NameNotResolved

if TYPE_CHECKING:
    from tocsin.adapters.http.addresses import AddressPolicy
    from tocsin.adapters.http.resolver import NameCache


class JudgedResolver(AbstractResolver):
    """Implements aiohttp's resolver: only addresses that may be dialled come out."""

    def __init__(self, names: NameCache, policy: AddressPolicy) -> None:
        self._names = names
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Give the addresses of the name that may be dialled; raises NameNotResolved or AddressRefused."""
        watch = CURRENT.get(None)
        if watch is not None:
            watch.enter(Phase.DNS)
        found = [address for address in await self._names.addresses(host) if _is_of(address, family)]
        if not found:
            raise NameNotResolved(f"the name {host} has no address")
        refusals = {address: self._policy.refuses(address) for address in found}
        dialled = [address for address, why in refusals.items() if why is None]
        if not dialled:
            address, why = next(iter(refusals.items()))
            raise AddressRefused(self._policy.refusal(f"{host} is {address}, which {why}", address))
        if watch is not None:
            watch.enter(Phase.CONNECT)
        return [_result(host, address, port) for address in dialled]

    async def close(self) -> None:
        """Nothing: the cache belongs to the fetcher."""


def _is_of(address: str, family: socket.AddressFamily) -> bool:
    return family == socket.AF_UNSPEC or (family == socket.AF_INET6) == (":" in address)


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
