"""The store as a whole."""

from __future__ import annotations

from typing import Protocol

from tocsin.ports.attention import AttentionStore, StormStore
from tocsin.ports.awareness import AlertStore, BundleStore, RenderStore
from tocsin.ports.care import AccessStore, FigureStore, SavedStore, StoreCare, TableStore
from tocsin.ports.checking import RoundStore, WorkStore
from tocsin.ports.knowledge import ItemStore, SignalStore, SnapshotStore
from tocsin.ports.pages import BrowseStore, WatchList


class Store(
    WorkStore,
    RenderStore,
    AttentionStore,
    AlertStore,
    BundleStore,
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
    SavedStore,
    FigureStore,
    Protocol,
):
    """All of it; one adapter implements the whole."""
