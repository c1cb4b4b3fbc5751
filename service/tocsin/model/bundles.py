"""Bundles: alerts that a channel is given together, as a digest."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from tocsin.model.alerts import DueDelivery
from tocsin.model.common import Instant, JsonObject

BundleState: TypeAlias = Literal["open", "sealed", "accepted", "dead"]


class BundleRow(Struct, frozen=True):
    """Alerts of one channel, route and key that are sent together.

    state       open: alerts join it; sealed: it is given to its channel, always with the same content; accepted; dead
    alerts      how many joined it
    silenced    alerts of its route that silences held back since the digest before
    message_id  of its event and its message; None until these are made
    next_at     of a sealed one: when it is tried next
    error       of the last try, or why it is dead
    """

    id: int
    channel: str
    route: str
    key: str
    state: BundleState
    opened_at: Instant
    due_at: Instant
    alerts: int
    sealed_at: Instant | None = None
    silenced: int = 0
    next_at: Instant | None = None
    tries: int = 0
    error: str | None = None
    message_id: str | None = None


class Digest(Struct, frozen=True):
    """A sealed bundle, as its event and its message are made from it.

    first_at, last_at  of its alerts; None where it has none
    events             of its alerts, in the order of their publishing, as many as are shown
    rest               of the other alerts (group, host, how many), the most first; "" for unknown or too many
    """

    bundle: BundleRow
    first_at: Instant | None
    last_at: Instant | None
    events: tuple[JsonObject, ...]
    rest: tuple[tuple[str, str, int], ...] = ()


class DueBundles(Struct, frozen=True):
    """What a channel's digests are waiting for.

    to_seal  open bundles that are due, the longest due first
    to_give  sealed ones whose next try is due: of each route and key the oldest
    """

    to_seal: tuple[int, ...]
    to_give: tuple[DueDelivery, ...]
