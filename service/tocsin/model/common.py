"""What every other value is made of: instants, failures, tries, instructions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

Instant: TypeAlias = int
"""Microseconds since 1970-01-01T00:00:00Z."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

FieldValues: TypeAlias = tuple[str | None, ...]
"""The twelve canonical values of a state, in the order of `spec.topper.state.FIELDS`."""

JsonObject: TypeAlias = dict[str, Any]

SHARDS = 4096
"""How many shards hosts fall into (the first 12 bits of BLAKE2b of the host)."""


class CheckOutcome(StrEnum):
    """How a check of one page ended."""

    FIRST = "first"
    UNCHANGED = "unchanged"
    TOO_SOON = "too-soon"
    MINOR = "minor"
    MAJOR = "major"
    UNREACHABLE = "unreachable"
    DEFERRED = "deferred"
    DISALLOWED = "disallowed"
    SKIPPED = "skipped"
    NOT_SUBJECT = "not-subject"
    SUSPECT = "suspect"


class FailureKind(StrEnum):
    """Why a page was not received."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    TOO_LARGE = "too-large"
    TOO_COMPLEX = "too-complex"
    EMPTY = "empty"
    STATUS = "status"
    DECODE = "decode"
    REDIRECT = "redirect"
    BLOCKED_ADDRESS = "blocked-address"
    CRASHED = "crashed"


SHORTAGE = "shortage"
"""In the place of a `FailureKind`, of a page that was not received or read: this machine is short of something."""

REFUSED_SETTINGS = "settings"
"""In the place of a `FailureKind`, of a page that was not asked for: its settings in the store cannot be used."""


class Attempt(Struct, frozen=True, gc=False):
    """One set of requests that did not bring the page."""

    at: Instant
    kind: str
    status: int | None
    message: str
    elapsed_ms: int


class Validators(Struct, frozen=True, gc=False):
    """What a server gave to ask "is it still this?" with; both exactly as it wrote them.

    hop_url  the URL of the hop that sent them; they are sent only there
    """

    etag: str | None
    last_modified: str | None
    hop_url: str


class Instruction(Struct, frozen=True, gc=False):
    """The user's word on pages that could not be received (T60).

    times            sets of requests to make, for `again`
    new_connections  in a fresh session, for `again`
    at               when, for `again`; None is at once, unless `later`
    later            for `again`: silent until a time is set
    copy_url         for `copy`
    """

    kind: Literal["again", "never", "until-major", "drop", "copy"]
    times: int = 1
    new_connections: bool = False
    at: Instant | None = None
    later: bool = False
    copy_url: str | None = None


def to_rfc3339(at: Instant, *, digits: int = 3) -> str:
    """Write an instant as RFC 3339 in UTC, with this many digits of a second (0 to 6), cut, not rounded."""
    second, micros = divmod(at, 1_000_000)
    text = _to_the_second(second)
    return f"{text}.{f'{micros:06d}'[:digits]}Z" if digits else f"{text}Z"


@lru_cache(maxsize=1024)  # much happens in one second
def _to_the_second(second: int) -> str:
    return (EPOCH + timedelta(seconds=second)).isoformat()[:19]
