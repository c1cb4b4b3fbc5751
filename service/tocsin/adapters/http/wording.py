"""Foreign text, made safe for messages."""

from __future__ import annotations

from typing import Final

from tocsin.spec.html.urls import mask_user_info
from tocsin.spec.infrastructure.unsafe import safe_line

LONGEST: Final = 200


def one_line(what: object) -> str:
    """Give the first line of a message, cut, without control characters and without credentials in URLs."""
    # Messages of the parser continue with bytes of the page; those of libraries may repeat a proxy with its password.
    said = str(what).strip().partition("\n")[0].strip(" :.")
    masked = mask_user_info(said[: 2 * LONGEST])
    return safe_line(masked)[:LONGEST] or type(what).__name__
