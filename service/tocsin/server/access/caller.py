"""Who asks, and by which right."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from tocsin.model import Scope


class Via(StrEnum):
    """How callers showed who they are.

    SESSION, BASIC and LOCAL are sent by a browser without being asked, so that another site could make it send them.
    """

    BEARER = "bearer"
    BASIC = "basic"
    SESSION = "session"
    LOCAL = "local"


class Caller(Struct, frozen=True):
    """Whoever is let in.

    who       the token's name; "local" where no token was ever made
    token_id  None for "local"
    csrf      what the forms made for them must carry; empty for whoever has none
    session   the digest of its secret; empty for whoever has none
    """

    who: str
    scope: Scope
    token_id: int | None = None
    csrf: str = ""
    via: Via = Via.BEARER
    session: bytes = b""

    def may(self, wanted: Scope) -> bool:
        """Say whether they may do what asks for this scope."""
        return self.scope.allows(wanted)
