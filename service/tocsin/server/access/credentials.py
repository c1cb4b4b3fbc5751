"""Tokens and session secrets: generated, shown once, stored as digests only."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from hashlib import blake2b

from tocsin.configuration.tokens import PREFIX, check_letters

# 256 bits cannot be guessed; a digest needs no slow function then.
_BYTES = 32


def new_token() -> str:
    """Make a token: `tcs_`, 32 random bytes in base64url, and six check letters that detect typing errors."""
    body = PREFIX + urlsafe_b64encode(secrets.token_bytes(_BYTES)).decode().rstrip("=")
    return body + check_letters(body)


def new_secret() -> str:
    """Make a secret for a session or for its forms: 32 random bytes in base64url."""
    return secrets.token_urlsafe(_BYTES)


def digest_of(secret: str) -> bytes:
    """Compute the stored digest of a secret: BLAKE2b, 32 bytes.

    Secrets are long and random, so that neither a salt nor a slow function is needed. The look-up is by digest, so
    that its timing reveals nothing about the secret.
    """
    return blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"tocsin access").digest()
