"""All roles of a store together."""

from __future__ import annotations

from tocsin.adapters.stores.sql.attention.questions import AttentionRole
from tocsin.adapters.stores.sql.attention.storms import StormRole
from tocsin.adapters.stores.sql.awareness.alerts import AlertRole
from tocsin.adapters.stores.sql.awareness.renderings import RenderRole
from tocsin.adapters.stores.sql.care.access import AccessRole
from tocsin.adapters.stores.sql.care.care import CareRole
from tocsin.adapters.stores.sql.care.figures import FigureRole
from tocsin.adapters.stores.sql.care.saved import SavedRole
from tocsin.adapters.stores.sql.care.table import TableRole
from tocsin.adapters.stores.sql.checking.work import HostRole, WorkRole
from tocsin.adapters.stores.sql.knowledge.kept import ItemRole, SnapshotRole
from tocsin.adapters.stores.sql.knowledge.knowledge import SignalRole
from tocsin.adapters.stores.sql.knowledge.listings import ListingRole
from tocsin.adapters.stores.sql.pages.lists import BrowseRole
from tocsin.adapters.stores.sql.pages.requests import RequestRole
from tocsin.adapters.stores.sql.pages.watchlist import WatchRole


class SqlStore(
    WorkRole,
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
    ItemRole,
    TableRole,
    CareRole,
    BrowseRole,
    AccessRole,
    SavedRole,
    FigureRole,
):
    """What ports.Store asks for and any SQL database does alike; the rest is each database's own."""
