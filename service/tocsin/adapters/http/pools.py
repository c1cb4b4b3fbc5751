"""The two pools of a session: one under the address policy, and one for pages that may have any address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from tocsin.adapters.http.addresses import AddressPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

ANY_ADDRESS: Final = ("0.0.0.0/0", "::/0")


class _Closable(Protocol):
    @property
    def connections(self) -> int: ...

    async def close(self) -> None: ...


_Pool = TypeVar("_Pool", bound=_Closable)


class PoolPair(Generic[_Pool]):
    """Two pools, each opened when it is first asked for.

    A connection that was made for a page that may have any address is never given to one that may not.

    policy  for pages that are not private
    open_   opens a pool under a policy
    """

    def __init__(self, policy: AddressPolicy, open_: Callable[[AddressPolicy], _Pool]) -> None:
        self._policy, self._open = policy, open_
        self._public: _Pool | None = None
        self._private: _Pool | None = None

    def of(self, *, private: bool) -> _Pool:
        """Give the pool for a request; see `HopRequest.private`."""
        if private:
            if self._private is None:
                self._private = self._open(AddressPolicy(ANY_ADDRESS))
            return self._private
        if self._public is None:
            self._public = self._open(self._policy)
        return self._public

    async def close(self) -> None:
        """Close every connection; who asks again has new pools."""
        for pool in (self._public, self._private):
            if pool is not None:
                await pool.close()
        self._public = self._private = None

    @property
    def connections(self) -> int:
        """How many connections stand, busy or idle."""
        return sum(pool.connections for pool in (self._public, self._private) if pool is not None)
