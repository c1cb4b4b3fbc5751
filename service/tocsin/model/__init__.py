"""Frozen values that cross ports.

Instants are whole microseconds since the epoch, UTC (`Instant`); spans are `timedelta` or, in rows, whole microseconds.
They are msgspec structs: cheap to make by the thousand, and ready to cross a process boundary.
"""

from tocsin.model.access import AuditEntry, Declaration, JobRow, Scope, SessionRow, StoredAnswer, TokenRow
from tocsin.model.alerts import (
    AlertRow,
    DeliveryResult,
    DueDelivery,
    QuestionRow,
    RuleRow,
    SinkState,
    as_configured,
    unread_sinks,
)
from tocsin.model.browsing import (
    ActivityRow,
    AlertQuery,
    GroupRow,
    PageQuery,
    RenderingEntry,
    Slice,
    StateEntry,
    Tally,
    VerdictEntry,
    View,
)
from tocsin.model.checks import (
    AlertDraft,
    CheckReport,
    CheckResult,
    Claim,
    Failure,
    NewState,
    PageTask,
    StoredState,
    VerdictRow,
)
from tocsin.model.common import (
    REFUSED_SETTINGS,
    SHARDS,
    Attempt,
    CheckOutcome,
    FailureKind,
    FieldValues,
    Instant,
    Instruction,
    JsonObject,
    Validators,
)
from tocsin.model.copies import CopyLink, KnownCopy
from tocsin.model.demo import DEMO_GROUP, DEMO_HOST
from tocsin.model.figures import SinkFigures, StoreFigures
from tocsin.model.items import NO_ITEMS, ItemChanges, PageItems
from tocsin.model.keeping import KEEPS_ALL, Keeps, what_is_kept
from tocsin.model.live import CrowdedHost, FetcherLife, LiveState
from tocsin.model.phase import phase_of
from tocsin.model.rendering import PendingVerdict, RenderCommit, RenderingRow, RenderJob, WaitingPage
from tocsin.model.signals import NO_COPY, Beside, HostNoise, Known, Listing, Noise, Pace, Snapshot, SnapshotRow
from tocsin.model.storms import StormRow, StormVerdict
from tocsin.model.watching import HistoryEntry, HostPages, NewPage, PageFilter, PageRow, TableRow

__all__ = [
    "DEMO_GROUP",
    "DEMO_HOST",
    "KEEPS_ALL",
    "NO_COPY",
    "NO_ITEMS",
    "REFUSED_SETTINGS",
    "SHARDS",
    "ActivityRow",
    "AlertDraft",
    "AlertQuery",
    "AlertRow",
    "Attempt",
    "AuditEntry",
    "Beside",
    "CheckOutcome",
    "CheckReport",
    "CheckResult",
    "Claim",
    "CopyLink",
    "CrowdedHost",
    "Declaration",
    "DeliveryResult",
    "DueDelivery",
    "Failure",
    "FailureKind",
    "FetcherLife",
    "FieldValues",
    "GroupRow",
    "HistoryEntry",
    "HostNoise",
    "HostPages",
    "Instant",
    "Instruction",
    "ItemChanges",
    "JobRow",
    "JsonObject",
    "Keeps",
    "Known",
    "KnownCopy",
    "Listing",
    "LiveState",
    "NewPage",
    "NewState",
    "Noise",
    "Pace",
    "PageFilter",
    "PageItems",
    "PageQuery",
    "PageRow",
    "PageTask",
    "PendingVerdict",
    "QuestionRow",
    "RenderCommit",
    "RenderJob",
    "RenderingEntry",
    "RenderingRow",
    "RuleRow",
    "Scope",
    "SessionRow",
    "SinkFigures",
    "SinkState",
    "Slice",
    "Snapshot",
    "SnapshotRow",
    "StateEntry",
    "StoreFigures",
    "StoredAnswer",
    "StoredState",
    "StormRow",
    "StormVerdict",
    "TableRow",
    "Tally",
    "TokenRow",
    "Validators",
    "VerdictEntry",
    "VerdictRow",
    "View",
    "WaitingPage",
    "as_configured",
    "phase_of",
    "unread_sinks",
    "what_is_kept",
]
