"""The store itself: its table, its care, its figures, and who may use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from datetime import timedelta

    from tocsin.model import (
        AuditEntry,
        Declaration,
        Instant,
        JobRow,
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
        """Every record, in order of storing (`stored`, then URL by code point), of one instant."""

    async def import_table(self, rows: Iterable[TableRow], now: Instant, *, replace: bool) -> int:
        """Take a whole table in one transaction; raises HasStates naming pages that have states already."""


class StoreCare(Protocol):
    """Keeping the store well."""

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        """Copy the store as it was at one instant; yields (pages done, all)."""

    async def check(self) -> list[str]:
        """What is wrong with the store: its integrity and the program's own invariants; empty if nothing is."""

    async def without_digest(self) -> dict[str, int]:
        """How many states, verdicts and alerts `check` cannot compare with what was written: they are too old."""

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        """Forget history, alerts, answered questions and the audit log older than this; returns how many rows.

        At most `limit` at once. Sessions that are over go, too, and what has a time of its own: answers to be given
        once more after a day, activity after eight, jobs after thirty.
        An alert that waits for a channel is kept, unless that channel is configured no more, or disabled.
        """

    async def forget(self, now: Instant, *, history: timedelta, limit: int) -> dict[str, int]:
        """The same as `prune`; returns how many of each kind: "states", "alerts", "questions" and so on."""

    async def is_held(self) -> bool:
        """Whether an engine, of this process or another one, holds the store."""

    async def close(self) -> None:
        """Close connections."""


class FigureStore(Protocol):
    """Reads through a connection of its own: neither checks nor people wait for what is counted."""

    async def figures(self, now: Instant, *, after: int | None = None) -> StoreFigures:
        """Count what the store holds.

        after  the position behind which alerts are counted; None counts none
        """


class AccessStore(Protocol):
    """Secrets come and go as digests (BLAKE2b, 32 bytes); the store never sees one."""

    async def add_token(
        self, name: str, scope: Scope, digest: bytes, now: Instant, *, expires_at: Instant | None = None
    ) -> TokenRow:
        """Add a token; raises UsageError where one in force has this name."""

    async def tokens(self) -> list[TokenRow]:
        """All tokens, revoked ones too, in order of id."""

    async def has_tokens(self) -> bool:
        """Say whether any token was ever made; where not, the service is open to its own machine."""

    async def token_of(self, digest: bytes, now: Instant) -> TokenRow | None:
        """The token in force with this digest; its use is noted, once a minute at most."""

    async def declare_tokens(self, tokens: Sequence[tuple[str, Scope, bytes]], now: Instant) -> Declaration:
        """Let exactly these tokens (name, scope, digest) be those that the configuration declares.

        What it declared before and does not declare any more is revoked, its sessions end. Tokens that were made
        otherwise stay; one of them in force with the same digest becomes a declared one, with the same name keeps a
        declared one out. A token that was revoked by its name stays revoked.
        """

    async def revoke_token(self, name: str, now: Instant) -> TokenRow:
        """Revoke the token of this name, and end the sessions made with it.

        One that is in force comes before those that are past their time. Raises UsageError where all are revoked.
        """

    async def open_session(self, digest: bytes, token_id: int, csrf: str, now: Instant, *, until: Instant) -> None:
        """Remember a browser that logged in; sessions that are over go."""

    async def session_of(self, digest: bytes, now: Instant) -> SessionRow | None:
        """The session with this digest, as long as it and its token are in force."""

    async def close_session(self, digest: bytes) -> None:
        """Log out."""

    async def write_audit(self, entry: AuditEntry) -> None:
        """Add to the audit log."""

    async def audit(self, *, cursor: str | None = None, limit: int = 50) -> Slice[AuditEntry]:
        """The audit log, newest first."""

    async def begin_once(self, key: bytes, fingerprint: bytes, now: Instant) -> StoredAnswer | None:
        """Begin what is to be done once; returns what is known where it was begun before (within a day).

        key  a digest of who asks, and of the idempotency key
        """

    async def finish_once(self, key: bytes, answer: StoredAnswer | None) -> None:
        """Keep the answer for whoever asks again; None: it came to nothing, and may be begun anew."""

    async def save_job(self, job: JobRow) -> None:
        """Write a job as it stands."""

    async def job(self, job_id: str) -> JobRow | None:
        """One job."""

    async def jobs(self, *, limit: int = 20) -> list[JobRow]:
        """The latest jobs, newest first."""

    async def interrupt_jobs(self, now: Instant) -> int:
        """Mark jobs that an earlier life of the service left behind, and forget what it was asked for once, and begun.

        Returns how many jobs.
        """
