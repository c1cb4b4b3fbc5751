"""Frozen values that cross ports.

Instants are whole microseconds since the epoch, UTC (`Instant`); spans are `timedelta` or, in rows, whole microseconds.
They are msgspec structs: cheap to make by the thousand, and ready to cross a process boundary.
"""

from tocsin.model.alerts import AlertRow, DeliveryResult, DueDelivery, QuestionRow, RuleRow, SinkState
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
from tocsin.model.phase import phase_of
from tocsin.model.rendering import PendingVerdict, RenderCommit, RenderingRow, RenderJob, WaitingPage
from tocsin.model.signals import NO_COPY, Beside, HostNoise, Known, Listing, Noise, Pace, Snapshot, SnapshotRow
from tocsin.model.storms import StormRow, StormVerdict
from tocsin.model.watching import HistoryEntry, HostPages, NewPage, PageFilter, PageRow, TableRow

__all__ = [
    "NO_COPY",
    "SHARDS",
    "AlertDraft",
    "AlertRow",
    "Attempt",
    "Beside",
    "CheckOutcome",
    "CheckReport",
    "CheckResult",
    "Claim",
    "CopyLink",
    "DeliveryResult",
    "DueDelivery",
    "Failure",
    "FailureKind",
    "FieldValues",
    "HistoryEntry",
    "HostNoise",
    "HostPages",
    "Instant",
    "Instruction",
    "JsonObject",
    "Known",
    "KnownCopy",
    "Listing",
    "NewPage",
    "NewState",
    "Noise",
    "Pace",
    "PageFilter",
    "PageRow",
    "PageTask",
    "PendingVerdict",
    "QuestionRow",
    "RenderCommit",
    "RenderJob",
    "RenderingRow",
    "RuleRow",
    "SinkState",
    "Snapshot",
    "SnapshotRow",
    "StoredState",
    "StormRow",
    "StormVerdict",
    "TableRow",
    "Validators",
    "VerdictRow",
    "WaitingPage",
    "phase_of",
]
