"""What the engine needs of the outside world, as protocols; adapters implement them, fakes stand in for them."""

from tocsin.ports.attention import AttentionStore, StormStore
from tocsin.ports.awareness import AlertStore, BundleStore, DeliveryStore, RenderStore, Router, RoutingContext
from tocsin.ports.care import AccessStore, SavedStore, StoreCare, TableStore
from tocsin.ports.channels import Channel, ChannelFinding, Notification
from tocsin.ports.checking import RoundStore, WorkStore
from tocsin.ports.fetching import Fetcher, Renderer, Session
from tocsin.ports.knowledge import SignalStore, SnapshotStore
from tocsin.ports.outside import Chance, Clock, Telemetry
from tocsin.ports.pages import BrowseStore, WatchList
from tocsin.ports.serving import DemoDesk, Service
from tocsin.ports.store import Store

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
    "Fetcher",
    "Notification",
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
