"""Who may do what over HTTP: tokens, sessions of browsers, what was changed by whom, and what was asked for once."""

from __future__ import annotations

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject
from tocsin.settings import Scope


class TokenRow(Struct, frozen=True):
    """A token as listed; of its secret only a digest is kept.

    is_declared  the configuration declares it, and revokes it by no longer doing so
    """

    id: int
    name: str
    scope: Scope
    created_at: Instant
    expires_at: Instant | None = None
    last_used_at: Instant | None = None
    revoked_at: Instant | None = None
    is_declared: bool = False

    def is_in_force(self, now: Instant) -> bool:
        """Tell whether the token is valid."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class Declaration(Struct, frozen=True):
    """What the tokens that a configuration declares changed, by name.

    refused  name and reason each: what is declared and could not be taken
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


class SessionRow(Struct, frozen=True):
    """A browser session of a user.

    csrf  what its forms must carry
    """

    token: TokenRow
    csrf: str
    created_at: Instant
    until: Instant


class AuditEntry(Struct, frozen=True):
    """A change that a user made.

    who     the token's name
    what    as `area.verb`: "pages.remove", "settings.set", "token.revoke"
    detail  what belongs to it, never a secret
    id      0 for one that has not been written yet
    """

    at: Instant
    who: str
    what: str
    detail: JsonObject
    request_id: str = ""
    id: int = 0


class StoredAnswer(Struct, frozen=True):
    """What was answered to a request with an idempotency key; `status` 0 while it is still being worked on.

    fingerprint  of the request, so that a key used for another one is noticed
    """

    fingerprint: bytes
    status: int
    content_type: str
    body: bytes
    at: Instant
    location: str | None = None


class JobRow(Struct, frozen=True):
    """Work that goes on after its request was answered.

    kind   as in the audit log: "pages.import", "pages.remove" …
    total  of how many, as far as it is known
    state  "running", "done", "failed", "cancelled", or "interrupted" by an end of the service
    node   that runs it
    """

    id: str
    kind: str
    who: str
    started_at: Instant
    state: str = "running"
    done: int = 0
    total: int | None = None
    ended_at: Instant | None = None
    result: JsonObject | None = None
    error: str | None = None
    node: str = ""
