"""Signatures of Standard Webhooks: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from secrets import token_bytes
from typing import Final

from tocsin.model import Instant

PREFIX: Final = "whsec_"
RAW: Final = "raw:"
# The least that Standard Webhooks asks of a key; its libraries accept shorter ones.
_LEAST_BYTES: Final = 24
# Standard Webhooks asks for 24 to 64.
_NEW_BYTES: Final = 32
_HASH: Final = "sha256"


def new_secret() -> str:
    """Make a secret that any library of Standard Webhooks reads."""
    return PREFIX + b64encode(token_bytes(_NEW_BYTES)).decode()


def read_secrets(text: str) -> tuple[bytes, ...]:
    """Read the keys of a configured secret: one a line, the newest first.

    Raises ValueError with what is wrong and the mend, never with the secret.
    """
    keys = tuple(read_secret(line.strip("\r")) for line in text.split("\n") if line.strip())
    if not keys:
        raise ValueError(f"the secret is empty; {_MEND}")
    return keys


def read_secret(secret: str) -> bytes:
    """Read the key of one secret.

    secret  base64, with or without `whsec_` before it, as in Standard Webhooks; or `raw:` and the key itself, in UTF-8
    Raises ValueError as above.
    """
    if secret.startswith(RAW):
        if key := secret.removeprefix(RAW).encode():
            return key
        raise ValueError(f"nothing follows {RAW}; {_MEND}")
    text = secret.strip().removeprefix(PREFIX).rstrip("=")
    try:
        # Libraries of receivers accept it without padding, too.
        key = b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError as exc:
        raise ValueError(f"the secret is not base64; {_MEND}") from exc
    if not key:
        raise ValueError(f"nothing follows {PREFIX}; {_MEND}")
    return key


def doubts_of(text: str) -> list[str]:
    """Say why a receiver may reject a secret that can be used: a sentence each, with the mend."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    doubts = []
    if any(not line.startswith((PREFIX, RAW)) for line in lines):
        doubts.append(
            f"the secret has no {PREFIX} before it: it is read as base64, as libraries of Standard Webhooks do; "
            f"write {RAW} before it for a receiver that takes its characters as the key"
        )
    if any(len(read_secret(line)) < _LEAST_BYTES for line in lines):
        doubts.append(
            f"the secret is shorter than {_LEAST_BYTES} bytes, the least that Standard Webhooks allows; "
            "`tocsin channel secret` makes one"
        )
    return doubts


def sign(keys: Sequence[bytes], message_id: str, at: Instant, body: bytes) -> dict[str, str]:
    """Give the three headers that prove the sender of a message and its time.

    keys  each makes a signature: while a secret is replaced, the receiver knows one of them
    """
    timestamp = str(at // 1_000_000)
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    signatures = [f"v1,{b64encode(hmac.digest(key, signed, _HASH)).decode()}" for key in keys]
    return {"webhook-id": message_id, "webhook-timestamp": timestamp, "webhook-signature": " ".join(signatures)}


_MEND: Final = (
    f"`tocsin channel secret NAME` makes one; write {RAW} before it for a receiver that takes its characters as the key"
)
