"""Each request's id: in its answer, in every line that the log has about it, and in problems."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER = "x-request-id"
_FORM = re.compile(r"[A-Za-z0-9._-]{8,64}")
_current: ContextVar[str] = ContextVar("tocsin_request_id", default="")


def current_request_id() -> str:
    """Give the id of the request that is being answered; empty outside of one."""
    return _current.get()


def begin_request(headers: Mapping[str, str], made: str, *, believed: bool) -> str:
    """Give a request its id: what a proxy that is believed says, otherwise the one that was made."""
    said = headers.get(HEADER, "")
    request_id = said if believed and _FORM.fullmatch(said) else made
    _current.set(request_id)
    return request_id
