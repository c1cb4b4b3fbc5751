"""The store itself: its table, its care, its figures, and who may use it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import timedelta
from typing import Protocol

from tocsin.model import (
    AuditEntry,
    Declaration,
    Findings,
    Instant,
    JobRow,
    JsonObject,
    Saved,
    SavedKind,
    Scope,
    SessionRow,
    Slice,
    StoredAnswer,
    StoreFigures,
    TableRow,
    TokenRow,
)


class TableStore(Protocol):
    """The spec's table."""

    async def table_rows(self) -> AsyncIterator[TableRow]:
        """Yield every record of one snapshot, in order of storing (`stored`, then URL by code point)."""

    async def import_table(self, rows: Iterable[TableRow], now: Instant, *, replace: bool) -> int:
        """Store a whole table in one transaction; returns the number of records.

        Raises HasStates naming pages that have states already, unless they are to be replaced.
        """


class StoreCare(Protocol):
    """Backup, check and retention."""

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        """Copy the store as of one instant; yields (pages done, all)."""

    async def check(self) -> list[str]:
        """Return what is wrong with the store's integrity and its invariants; empty if nothing is."""

    async def begin_pruning(self, now: Instant, *, most: timedelta) -> Instant:
        """Return the time to prune by, and note it: `now`, but at most this much later than the time noted before."""

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        """Delete at most `limit` rows that are older than this; returns how many.

        These are history, alerts, closed questions and the audit log; also expired sessions, stored answers after a
        day, requested checks with their reports after seven days, activity after eight and jobs after thirty. An alert
        that waits for a channel is kept, unless the channel is disabled or not configured any more.
        """

    async def forget(self, now: Instant, *, history: timedelta, limit: int) -> dict[str, int]:
        """Do the same as `prune`; returns how many rows of each kind: "states", "alerts", "questions" and so on."""

    async def copy_log(self) -> None:
        """Where commits are gathered in a log, copy them to their places once they are many; others write meanwhile.

        Cheap while they are few. Without these calls the log is copied by commits, which then take longer.
        """

    async def is_held(self) -> bool:
        """Tell whether an engine, of this or another process, holds the store."""

    async def close(self) -> None:
        """Close connections."""


class FigureStore(Protocol):
    """Figures are counted on a connection of their own and hold up neither checks nor people."""

    async def figures(self, now: Instant, *, after: int | None = None) -> StoreFigures:
        """Count what the store holds.

        after  count alerts behind this position; None: none
        """

    async def keep_findings(self, findings: Findings) -> None:
        """Keep what the leader found, without the alerts that were new, for the other nodes."""

    async def findings(self) -> Findings | None:
        """Return what the leader kept last."""


class AccessStore(Protocol):
    """Secrets come and go as digests (BLAKE2b, 32 bytes); the store never sees one."""

    async def add_token(
        self, name: str, scope: Scope, digest: bytes, now: Instant, *, expires_at: Instant | None = None
    ) -> TokenRow:
        """Add a token; raises UsageError where one in force has this name."""

    async def tokens(self) -> list[TokenRow]:
        """Return all tokens, revoked ones as well, in order of id."""

    async def has_tokens(self) -> bool:
        """Tell whether any token was ever made; without one the service is open to its own machine."""

    async def token_of(self, digest: bytes, now: Instant) -> TokenRow | None:
        """Return the token in force with this digest; its use is recorded at most once a minute."""

    async def declare_tokens(self, tokens: Sequence[tuple[str, Scope, bytes]], now: Instant) -> Declaration:
        """Make these (name, scope, digest) the tokens that the configuration declares.

        Tokens that it no longer declares are revoked and their sessions end. Other tokens stay: one in force with the
        same digest becomes a declared one; one with the same name keeps the declared one out. A token that was
        revoked by name stays revoked.
        """

    async def revoke_token(self, name: str, now: Instant) -> TokenRow:
        """Revoke the token of this name and end its sessions; one in force comes before expired ones.

        Raises UsageError if all of this name are revoked.
        """

    async def open_session(self, digest: bytes, token_id: int, csrf: str, now: Instant, *, until: Instant) -> None:
        """Store the session of a browser that logged in; expired sessions are deleted."""

    async def session_of(self, digest: bytes, now: Instant) -> SessionRow | None:
        """Return the session with this digest if it and its token are in force."""

    async def close_session(self, digest: bytes) -> None:
        """Log out."""

    async def write_audit(self, entry: AuditEntry) -> None:
        """Add to the audit log."""

    async def audit(self, *, cursor: str | None = None, limit: int = 50) -> Slice[AuditEntry]:
        """Return the audit log, newest first."""

    async def begin_once(self, key: bytes, fingerprint: bytes, now: Instant, *, node: str = "") -> StoredAnswer | None:
        """Begin an idempotent request; returns its stored answer if it was begun within the last day.

        key   a digest of the client and its idempotency key
        node  that works on it
        """

    async def finish_once(self, key: bytes, answer: StoredAnswer | None) -> None:
        """Store the answer for repeated requests; None: the request failed and may be begun again."""

    async def save_job(self, job: JobRow) -> None:
        """Write the current state of a job."""

    async def job(self, job_id: str) -> JobRow | None:
        """Return one job."""

    async def jobs(self, *, limit: int = 20) -> list[JobRow]:
        """Return jobs, newest first."""

    async def ask_to_cancel(self, job_id: str) -> bool:
        """Ask the node that runs a job to cancel it; False where it does not run."""

    async def jobs_to_cancel(self, node: str) -> list[str]:
        """Return the ids of running jobs of a node that other nodes ask it to cancel; none on a store of one engine."""

    async def interrupt_jobs(self, now: Instant, *, node: str = "") -> int:
        """Mark jobs that an earlier process of a node left running; forget its unfinished idempotent requests.

        On a store of one engine these are the jobs of any name. Returns how many jobs.
        """

    async def interrupt_lost_jobs(self, now: Instant) -> int:
        """Do the same for nodes without a lease in force; they may have begun within the last minute."""


class SavedStore(Protocol):
    """Channels and routes that were made at run time, and mutes of channels. Their secrets are stored in clear."""

    async def saved_revision(self) -> int:
        """Return a number that grows with every change of them."""

    async def saved(self) -> Saved:
        """Read all."""

    async def save_entry(
        self, kind: SavedKind, name: str, settings: JsonObject, now: Instant, *, who: str, if_revision: int | None
    ) -> int | None:
        """Make a channel or a route, or replace it; a new route is the last one.

        if_revision  that the edit is based on; 0: there is none of this name yet; None: any
        Returns its new revision; None where it has another one: nothing was changed.
        """

    async def remove_entry(self, kind: SavedKind, name: str, *, if_revision: int | None) -> bool:
        """Remove a channel, with its mute, or a route; False where there is none, or it has another revision."""

    async def order_routes(self, names: Sequence[str]) -> None:
        """Put the routes into this order."""

    async def mute_channel(self, name: str, now: Instant, *, until_at: Instant | None, who: str) -> None:
        """Give a channel nothing until then (None: until it is unmuted); it may be one of the configuration."""

    async def unmute_channel(self, name: str) -> bool:
        """End a mute; False where there is none."""
