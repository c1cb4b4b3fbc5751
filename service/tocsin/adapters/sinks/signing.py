"""Signatures of Standard Webhooks: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.model import Instant

PREFIX = "whsec_"


def read_secret(secret: str) -> bytes:
    """Return the key that a configured secret stands for.

    secret  `whsec_` and base64, as Standard Webhooks writes it; anything else is the key itself, in UTF-8
    Raises ValueError if what follows `whsec_` is not base64, or nothing.
    """
    if not secret.startswith(PREFIX):
        return secret.encode()
    text = secret.removeprefix(PREFIX).rstrip("=")
    try:
        # Libraries of receivers take it without its padding too.
        key = b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as exc:
        raise ValueError(f"what follows {PREFIX} is not base64") from exc
    if not key:
        raise ValueError(f"nothing follows {PREFIX}")
    return key


def sign(key: bytes, message_id: str, at: Instant, body: bytes) -> dict[str, str]:
    """Return the three headers that prove where a message comes from, and when it was sent."""
    timestamp = str(at // 1_000_000)
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    signature = b64encode(hmac.new(key, signed, sha256).digest()).decode()
    return {"webhook-id": message_id, "webhook-timestamp": timestamp, "webhook-signature": f"v1,{signature}"}
