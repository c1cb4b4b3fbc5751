"""What the engine needs of the outside world, as protocols; adapters implement them, fakes stand in for them."""

from tocsin.ports.access import AccessStore
from tocsin.ports.browsing import BrowseStore
from tocsin.ports.demo import DemoDesk
from tocsin.ports.fetching import Channel, Fetcher, Renderer, Session
from tocsin.ports.keeping import RoundStore, SignalStore, StoreCare, StormStore, TableStore, WatchList
from tocsin.ports.outbox import AlertStore, AttentionStore
from tocsin.ports.outside import Chance, Clock, Telemetry
from tocsin.ports.serving import Service
from tocsin.ports.snapshots import SnapshotStore
from tocsin.ports.store import Store
from tocsin.ports.work import RenderStore, WorkStore

__all__ = [
    "AccessStore",
    "AlertStore",
    "AttentionStore",
    "BrowseStore",
    "Chance",
    "Channel",
    "Clock",
    "DemoDesk",
    "Fetcher",
    "RenderStore",
    "Renderer",
    "RoundStore",
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
