"""Tokens, sessions, the audit log, answers that are given again, and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import AuditEntry, Declaration, Instant, JobRow, Scope, SessionRow, Slice, StoredAnswer, TokenRow


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
