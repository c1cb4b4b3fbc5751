"""Basic values: instants, failures, tries, instructions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from tocsin.settings import Settings

# Microseconds since 1970-01-01T00:00:00Z.
Instant: TypeAlias = int

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

# The twelve canonical values of a state, in the order of `spec.topper.state.FIELDS`.
FieldValues: TypeAlias = tuple[str | None, ...]

JsonObject: TypeAlias = dict[str, Any]

# How many shards hosts fall into (the first 12 bits of BLAKE2b of the host).
SHARDS = 4096
# Instead of a `FailureKind`: this machine ran short of a resource.
SHORTAGE = "shortage"
# Instead of a `FailureKind`: the page's settings in the store cannot be used, so no request was made.
REFUSED_SETTINGS = "settings"
# A reserved name (RFC 6761, 6.4) that only the service's own fetchers resolve.
DEMO_HOST: Final = "demo.tocsin.invalid"
DEMO_GROUP: Final = "demo"
NEIGHBOURS_BITS: Final = 4  # As many rows fit in a leaf of the store.
_STEP_BITS: Final = 16
_MIX: Final = 2654435761  # Knuth's multiplicative hash: any number of its multiples fills the interval evenly.
_ONE: Final = 1 << 32


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
    SET_ASIDE = "set-aside"
    STEP = "step"


class Attempt(Struct, frozen=True, gc=False):
    """One set of requests that did not bring the page."""

    at: Instant
    kind: str
    status: int | None
    message: str
    elapsed_ms: int


class Validators(Struct, frozen=True, gc=False):
    """Validators of an answer for conditional requests, exactly as the server wrote them.

    hop_url  URL of the hop that sent them; they are sent only there
    """

    etag: str | None
    last_modified: str | None
    hop_url: str


class Instruction(Struct, frozen=True, gc=False):
    """The user's answer about pages that could not be received (T60).

    times            for `again`: sets of requests to make
    new_connections  for `again`: in a fresh session
    at               for `again`: when; None is at once, unless `later`
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


def phase_of(page_id: int) -> float:
    """Return a page's fixed place within any span of time, from 0 up to but not including 1.

    Sixteen neighbouring pages follow one another, each 1/65,536 of the span later; the next sixteen are far away.
    """
    # Neighbours are in one leaf of the store, which is then read and written once for all of them. The first group of a
    # list must not be at the very beginning of the span.
    group, place = (page_id >> NEIGHBOURS_BITS) + 1, page_id & (1 << NEIGHBOURS_BITS) - 1
    return (group * _MIX + (place << 32 - _STEP_BITS) & _ONE - 1) / _ONE


class KeptContents(Struct, frozen=True):
    """Contents of pages that the user's settings keep; a page can forbid copies (LM-45).

    texts  to show differences
    items  microdata, to tell its changes
    """

    texts: bool = True
    items: bool = True


KEEPS_ALL: Final = KeptContents()


def what_is_kept(settings: Settings) -> KeptContents:
    """Return the contents of pages that the settings keep."""
    return KeptContents(texts=settings.snapshots.per_page > 0, items=settings.items.keep)


# After as many checks in a row that found an empty shell the user is told that the page needs a browser.
SHELLS_TOLD: Final = 3


class PageFlags(Struct, frozen=True, gc=False):
    """What a page said to robots when it was last read, and what that was.

    not_html  it was read from neither HTML nor XHTML
    is_shell  scripts make its content, so that changes of it are not seen; only checks look at that
    shells    checks in a row that found that, where the user wants to be told (`fetch = "auto"`); up to SHELLS_TOLD
    """

    noindex: bool = False
    nofollow: bool = False
    not_html: bool = False
    is_shell: bool = False
    shells: int = 0


NO_FLAGS: Final = PageFlags()


class DueTime(Struct, frozen=True, gc=False):
    """When a page is due, and the reason in words; `at` is None while it is not due at all."""

    at: Instant | None = None
    why: str | None = None
