"""Validators: what a server calls one version of a page, given back to it byte for byte. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.model import Validators

if TYPE_CHECKING:
    from tocsin.ports import HopResponse

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
LONGEST_BYTES = 4096
"""Servers refuse requests with longer headers; a page must not become unreachable by its own tag."""


def validators_of(response: HopResponse) -> Validators | None:
    """Take the validators of an answer, for the URL of its hop alone; None if it has none that can be given back.

    Source  RFC 9110, 8.8 and 13.1.
    """
    etag, modified = sendable(response.header("etag")), sendable(response.header("last-modified"))
    return Validators(etag, modified, response.url) if etag or modified else None


def sendable(value: str | None) -> str | None:
    """Give a header value of an answer as it may be put into a request, byte for byte; None if it cannot be.

    value  one character for each byte, as in HopResponse
    Control characters are lost or forbidden on the way back, so a value that has some is none.
    """
    return value if value and len(value) <= LONGEST_BYTES and not _CONTROLS.search(value) else None
