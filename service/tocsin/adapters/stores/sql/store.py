"""All roles of a store together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Self

from tocsin.adapters.stores.sql.attention.questions import AttentionRole
from tocsin.adapters.stores.sql.attention.storms import StormRole
from tocsin.adapters.stores.sql.awareness.alerts import AlertRole
from tocsin.adapters.stores.sql.awareness.renderings import RenderRole
from tocsin.adapters.stores.sql.care.access import AccessRole
from tocsin.adapters.stores.sql.care.care import CareRole
from tocsin.adapters.stores.sql.care.figures import FigureRole
from tocsin.adapters.stores.sql.care.saved import SavedRole
from tocsin.adapters.stores.sql.care.table import TableRole
from tocsin.adapters.stores.sql.checking.nodes import NodeRole
from tocsin.adapters.stores.sql.checking.work import HostRole, WorkRole
from tocsin.adapters.stores.sql.knowledge.kept import ItemRole, SnapshotRole
from tocsin.adapters.stores.sql.knowledge.knowledge import SignalRole
from tocsin.adapters.stores.sql.knowledge.listings import ListingRole
from tocsin.adapters.stores.sql.knowledge.pictures import PictureRole
from tocsin.adapters.stores.sql.pages.lists import BrowseRole
from tocsin.adapters.stores.sql.pages.requests import RequestRole
from tocsin.adapters.stores.sql.pages.watchlist import WatchRole
from tocsin.adapters.stores.sql.role import latest_revision

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from tocsin.model import NamedLease


class SqlStore(
    WorkRole,
    NodeRole,
    RenderRole,
    AttentionRole,
    AlertRole,
    WatchRole,
    HostRole,
    RequestRole,
    SignalRole,
    ListingRole,
    StormRole,
    SnapshotRole,
    PictureRole,
    ItemRole,
    TableRole,
    CareRole,
    BrowseRole,
    AccessRole,
    SavedRole,
    FigureRole,
    ABC,
):
    """Implements ports.Store, but for what each database does in its own way."""

    @property
    def is_shared(self) -> bool:
        return self._database.is_shared

    def under(self, lease: NamedLease | None) -> Self:
        if lease is None:
            return self
        led = copy(self)
        led.under_lease = lease
        return led

    async def keep_place(self) -> bool:
        return await self._database.keep_place()

    async def copy_log(self) -> None:
        await self._database.copy_log()

    async def foreign_revision(self) -> int | None:
        return await self._database.foreign_revision(latest_revision)

    async def is_held(self) -> bool:
        return await self._database.is_held()

    @abstractmethod
    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        """Copy the store; see ports.StoreCare."""

    @abstractmethod
    async def check(self) -> list[str]:
        """Return what is wrong with the store; see ports.StoreCare."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections and give up the engine lock; closing twice is closing once."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
