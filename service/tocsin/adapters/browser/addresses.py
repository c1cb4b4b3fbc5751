"""Addresses of documents as they are told: a form that is sent by GET writes what was typed into its address."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import unquote_plus

_HIDDEN: Final = "***"


def hide_secrets(url: str, secrets: Collection[str]) -> str:
    """Replace the values of a query that are secrets.

    Whole values alone: a name may be a part of an address for other reasons, and is then no secret to its readers.
    """
    before, mark, query = url.partition("?")
    if not mark or not secrets:
        return url
    query, hash_mark, fragment = query.partition("#")
    shown = []
    for pair in query.split("&"):
        name, sign, value = pair.partition("=")
        shown.append(f"{name}={_HIDDEN}" if sign and unquote_plus(value) in secrets else pair)
    return f"{before}?{'&'.join(shown)}{hash_mark}{fragment}"
