"""Tokens and session secrets: made once, shown once, kept as digests only."""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64encode
from hashlib import blake2b

PREFIX = "tcs_"
_BYTES = 32
_CHECK = 6
_FORM = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}[a-z2-7]{{{_CHECK}}}")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def new_token() -> str:
    """Make a token: `tcs_`, 32 random bytes in base64url, and six letters by which a mistyped one is known."""
    body = PREFIX + urlsafe_b64encode(secrets.token_bytes(_BYTES)).decode().rstrip("=")
    return body + _check(body)


def is_token(text: str) -> bool:
    """Say whether this can be a token at all."""
    return _FORM.fullmatch(text) is not None and _check(text[:-_CHECK]) == text[-_CHECK:]


def new_secret() -> str:
    """Make a secret for a session or for its forms: 32 random bytes in base64url."""
    return secrets.token_urlsafe(_BYTES)


def digest_of(secret: str) -> bytes:
    """Give what is kept of a secret: BLAKE2b, 32 bytes.

    Secrets are random and long, so that no salt and no slow function is needed; what is looked up is the digest, of
    which the time that a look-up takes tells nothing.
    """
    return blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"tocsin access").digest()


def _check(body: str) -> str:
    number = int.from_bytes(blake2b(body.encode(), digest_size=4, person=b"tocsin check").digest())
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_CHECK))
