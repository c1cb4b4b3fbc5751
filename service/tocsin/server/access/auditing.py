"""The audit log, and the request ids that connect log lines, audit entries and problems."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import AuditEntry

if TYPE_CHECKING:
    # The service reads request ids before it loads the web framework, which these need.
    from tocsin.server.parts import Caller, Parts

HEADER = "x-request-id"
_FORM = re.compile(r"[A-Za-z0-9._-]{8,64}")
_current: ContextVar[str] = ContextVar("tocsin_request_id", default="")


def current_request_id() -> str:
    """Return the id of the current request; empty outside of one."""
    return _current.get()


def begin_request(headers: Mapping[str, str], made: str, *, believed: bool) -> str:
    """Set the id of a request: the one from a trusted proxy, else the one given in `made`."""
    said = headers.get(HEADER, "")
    request_id = said if believed and _FORM.fullmatch(said) else made
    _current.set(request_id)
    return request_id


async def audit(parts: Parts, caller: Caller, what: str, **detail: Any) -> None:
    """Write an audit entry for a completed change.

    what    as `area.verb`: "pages.remove", "settings.set", "token.revoke"
    detail  its values, never a secret
    If the audit log cannot be written, the change stays, and the service's own log has the entry.
    """
    request_id = current_request_id()
    entry = AuditEntry(parts.clock.now(), caller.who, what, detail, request_id)
    values = {"who": caller.who, "what": what, "detail": detail}
    parts.telemetry.emit(Happening("access.changed", "info", values))
    try:
        await parts.store.write_audit(entry)
    except StoreError as exc:
        parts.telemetry.emit(Happening("access.unaudited", "error", {**values, "error": str(exc)}))
