"""The same change on many pages of a host, which is told once."""

from __future__ import annotations

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject


class StormRow(Struct, frozen=True):
    """One change that many pages of a host had in common.

    pages         that had it so far
    sample        the URLs of at most ten of them, those that had it first
    outcome       of its verdicts, and their
    basis
    excerpt       what changed, as `difference` in an event shows it; None where nobody knows, or was told yet
    first_at      the first verdict of it, and
    latest_at     the latest so far
    announce_at   when it is to be told, and
    announced_at  when it was; None: not yet
    released_at   when the user asked for an alert of each page after all
    """

    id: int
    host: str
    pages: int
    sample: tuple[str, ...]
    outcome: str
    basis: str
    excerpt: JsonObject | None
    opened_at: Instant
    first_at: Instant
    latest_at: Instant
    announce_at: Instant
    announced_at: Instant | None = None
    released_at: Instant | None = None


class StormVerdict(Struct, frozen=True, gc=False):
    """What a storm was for one of its pages.

    alert_id   of the alert that the page was given all the same: it was told before the storm was one, or the user
               asked for it
    withheld   no alert of its own is due
    """

    id: int
    page_id: int
    url: str
    at: Instant
    outcome: str
    alert_id: str | None
    withheld: bool
