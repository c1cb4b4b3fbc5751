"""All roles of a store together."""

from __future__ import annotations

from tocsin.adapters.stores.sql.attention.attention import AttentionRole
from tocsin.adapters.stores.sql.attention.question_lists import QuestionListRole
from tocsin.adapters.stores.sql.attention.storming import StormRole
from tocsin.adapters.stores.sql.awareness.alert_lists import AlertListRole
from tocsin.adapters.stores.sql.awareness.alerts import AlertRole
from tocsin.adapters.stores.sql.awareness.render_queue import RenderRole
from tocsin.adapters.stores.sql.care.access import AccessRole
from tocsin.adapters.stores.sql.care.activity import ActivityRole
from tocsin.adapters.stores.sql.care.care import CareRole
from tocsin.adapters.stores.sql.care.figures import FigureRole
from tocsin.adapters.stores.sql.care.jobs import JobRole
from tocsin.adapters.stores.sql.care.table import TableRole
from tocsin.adapters.stores.sql.checking.rounds import RoundRole
from tocsin.adapters.stores.sql.checking.work import WorkRole
from tocsin.adapters.stores.sql.knowledge.items import ItemRole
from tocsin.adapters.stores.sql.knowledge.signals import SignalRole
from tocsin.adapters.stores.sql.knowledge.snapshots import SnapshotRole
from tocsin.adapters.stores.sql.pages.browsing import BrowseRole
from tocsin.adapters.stores.sql.pages.watchlist import WatchRole


class SqlStore(
    WorkRole,
    RenderRole,
    AttentionRole,
    AlertRole,
    WatchRole,
    RoundRole,
    SignalRole,
    StormRole,
    SnapshotRole,
    ItemRole,
    TableRole,
    CareRole,
    BrowseRole,
    AlertListRole,
    QuestionListRole,
    ActivityRole,
    AccessRole,
    JobRole,
    FigureRole,
):
    """What ports.Store asks for and any SQL database does alike; the rest is each database's own."""
