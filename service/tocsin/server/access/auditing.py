"""Who changed what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import AuditEntry
from tocsin.server.access.requests import current_request_id

if TYPE_CHECKING:
    from tocsin.server.access.caller import Caller
    from tocsin.server.parts import Parts


async def audit(parts: Parts, caller: Caller, what: str, **detail: Any) -> None:
    """Note that a caller has changed something, once it is done.

    what    as `area.verb`: "pages.remove", "settings.set", "token.revoke"
    detail  what belongs to it, never a secret
    A log that cannot be written undoes nothing: the line stands in the service's own log then.
    """
    request_id = current_request_id()
    entry = AuditEntry(parts.clock.now(), caller.who, what, detail, request_id)
    values = {"who": caller.who, "what": what, "detail": detail}
    parts.telemetry.emit(Happening("access.changed", "info", values))
    try:
        await parts.store.write_audit(entry)
    except StoreError as exc:
        parts.telemetry.emit(Happening("access.unaudited", "error", {**values, "error": str(exc)}))
