"""The store as a whole."""

from __future__ import annotations

from typing import Protocol

from tocsin.ports.access import AccessStore
from tocsin.ports.browsing import BrowseStore
from tocsin.ports.figures import FigureStore
from tocsin.ports.items import ItemStore
from tocsin.ports.keeping import RoundStore, SignalStore, StoreCare, StormStore, TableStore, WatchList
from tocsin.ports.outbox import AlertStore, AttentionStore
from tocsin.ports.snapshots import SnapshotStore
from tocsin.ports.work import RenderStore, WorkStore


class Store(
    WorkStore,
    RenderStore,
    AttentionStore,
    AlertStore,
    WatchList,
    RoundStore,
    SignalStore,
    StormStore,
    SnapshotStore,
    ItemStore,
    TableStore,
    StoreCare,
    BrowseStore,
    AccessStore,
    FigureStore,
    Protocol,
):
    """All of it; one adapter implements the whole."""
