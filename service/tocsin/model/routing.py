"""Where alerts go: answers of the routes, and silences."""

from __future__ import annotations

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject


class RateLimit(Struct, frozen=True, gc=False):
    """The window in which at most so many alerts of a route go alone to a channel; further ones join a digest.

    start  of the window, and
    end    its end. An alert that is held back by quiet hours counts in the window in which it may go
    """

    most: int
    start: Instant
    end: Instant


class Routed(Struct, frozen=True, gc=False):
    """One answer of the routes for one event: what a channel gets of it; a channel has at most one answer.

    route      name of the route that decided; "" where there are no routes
    key        values of `group_by`, as `GROUP/HOST` in the order of the setting; "" without `group_by`
    due_at     None: at once. Otherwise never before now: the end of the quiet hours, or the occasion of the digest
    is_digest  it joins the open digest of this channel, route and key; a digest that is open already keeps its due time
    silence    number of the silence that holds it back: it is neither a delivery nor in a digest
    """

    channel: str
    route: str
    key: str = ""
    due_at: Instant | None = None
    is_digest: bool = False
    silence: int | None = None


class Silence(Struct, frozen=True):
    """Alerts that are not sent: those that match, from an instant until another.

    match     as in `[[routes]]`, a list for each key: {"host": ["staging.example.org"]}
    until_at  None: until it is ended
    who       made it: the name of a token, "command line", or "configuration" for one of the configuration file
    ended_at  when it was ended before its time; None: it was not
    """

    id: int
    match: JsonObject
    from_at: Instant
    until_at: Instant | None = None
    reason: str = ""
    who: str = ""
    ended_at: Instant | None = None

    def is_in_force(self, now: Instant) -> bool:
        """Tell whether it holds alerts back now."""
        return self.ended_at is None and self.from_at <= now and (self.until_at is None or now < self.until_at)
