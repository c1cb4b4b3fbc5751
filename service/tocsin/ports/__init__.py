"""What the engine needs of the outside world, as protocols; adapters implement them, fakes stand in for them."""

from typing import Protocol, Self

from tocsin.model import NamedLease
from tocsin.ports.attention import AttentionStore, StormStore
from tocsin.ports.awareness import AlertStore, BundleStore, DeliveryStore, RenderStore, Router, RoutingContext
from tocsin.ports.care import AccessStore, FigureStore, SavedStore, StoreCare, TableStore
from tocsin.ports.checking import RoundStore, WorkStore
from tocsin.ports.knowledge import ItemStore, PictureStore, SignalStore, SnapshotStore
from tocsin.ports.nodes import NodeStore
from tocsin.ports.outside import (
    Chance,
    Channel,
    ChannelFinding,
    Clock,
    Documents,
    Fetcher,
    Notification,
    Renderer,
    Session,
    Telemetry,
)
from tocsin.ports.pages import BrowseStore, WatchList
from tocsin.ports.serving import DemoDesk, Service

__all__ = [
    "AccessStore",
    "AlertStore",
    "AttentionStore",
    "BrowseStore",
    "BundleStore",
    "Chance",
    "Channel",
    "ChannelFinding",
    "Clock",
    "DeliveryStore",
    "DemoDesk",
    "Documents",
    "Fetcher",
    "NodeStore",
    "Notification",
    "PictureStore",
    "RenderStore",
    "Renderer",
    "RoundStore",
    "Router",
    "RoutingContext",
    "SavedStore",
    "Service",
    "Session",
    "SignalStore",
    "SnapshotStore",
    "Store",
    "StoreCare",
    "StormStore",
    "TableStore",
    "Telemetry",
    "WatchList",
    "WorkStore",
]


class Store(
    WorkStore,
    NodeStore,
    RenderStore,
    AttentionStore,
    AlertStore,
    BundleStore,
    WatchList,
    RoundStore,
    SignalStore,
    StormStore,
    SnapshotStore,
    PictureStore,
    ItemStore,
    TableStore,
    StoreCare,
    BrowseStore,
    AccessStore,
    SavedStore,
    FigureStore,
    Protocol,
):
    """All of it; one adapter implements the whole."""

    def under(self, lease: NamedLease | None) -> Self:
        """Return this store as the holder of a named lease writes to it; None: nothing has to be held.

        Each of its writes raises StaleClaim, and writes nothing, if another node has taken the lease.
        """
