"""Figures of a store: what is counted there now and then, for those who watch the watcher."""

from __future__ import annotations

from msgspec import Struct

from tocsin.model.common import Instant


class ChannelFigures(Struct, frozen=True):
    """How a channel stands.

    waiting    alerts that it is still to be given
    oldest_at  when the first of them was decided
    dead       alerts that it did not take in time
    """

    waiting: int = 0
    oldest_at: Instant | None = None
    dead: int = 0
    is_disabled: bool = False
    is_failing: bool = False


class StoreFigures(Struct, frozen=True):
    """What a store holds at one moment.

    at                 that moment
    position           of the alert last published
    alerts             published since the position asked for, by type and outcome ("" where there is none)
    renders_oldest_at  since when the page waits that has waited longest; as with `questions_oldest_at`
    bytes              of its files
    free_bytes         what the file system has left for it; None where nobody knows
    """

    at: Instant
    pages: int
    position: int
    alerts: dict[tuple[str, str], int]
    channels: dict[str, ChannelFigures]
    renders_waiting: int
    renders_oldest_at: Instant | None
    questions_open: int
    questions_oldest_at: Instant | None
    bytes: int
    snapshot_bytes: int
    free_bytes: int | None = None
