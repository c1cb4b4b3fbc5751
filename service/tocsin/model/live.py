"""A running service at one moment."""

from __future__ import annotations

from msgspec import Struct

from tocsin.model.common import Instant


class ChannelFigures(Struct, frozen=True):
    """Figures of a channel.

    waiting    alerts that are not accepted yet
    oldest_at  when the first of them was decided
    dead       alerts that were given up
    gathered   alerts that wait in digests
    silenced   alerts that silences held back, as far as they are kept
    bundles    how many digests there are of each state: open, sealed, accepted, dead
    digest_due_at  when the digest that is due the longest was due, or the next one is
    """

    waiting: int = 0
    oldest_at: Instant | None = None
    dead: int = 0
    is_disabled: bool = False
    is_failing: bool = False
    gathered: int = 0
    silenced: int = 0
    bundles: dict[str, int] = {}
    digest_due_at: Instant | None = None


class StoreFigures(Struct, frozen=True):
    """Figures of a store at one moment.

    at                 that moment
    position           of the alert last published
    alerts             published since the position asked for, by type and outcome ("" where there is none)
    renders_oldest_at  since when the page waits that has waited longest; as with `questions_oldest_at`
    bytes              of its files
    free_bytes         left on its file system; None if unknown
    unrouted           alerts of the last week that no route took
    nodes              how many there are of each state: working, draining, gone
    parts_alone        parts of the hosts that no node works on, where there are nodes
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
    unrouted: int = 0
    nodes: dict[str, int] = {}
    parts_alone: int = 0


class FetcherLife(Struct, frozen=True):
    """A fetcher process, or, as number 0, the service's own process where that one fetches.

    in_flight  requests under way
    checks     since it was started
    restarts   how often it had to be replaced
    lag_s      how long work that was ready waited for its loop at most, within the last second
    """

    number: int
    pid: int | None
    is_ready: bool
    in_flight: int
    checks: int
    restarts: int
    lag_s: float = 0.0


class CrowdedHost(Struct, frozen=True):
    """A host with more pages than can be asked for in time; see `engine.scheduling.host_capacity`.

    round_s   how long it takes at least to ask for all of them, and
    wanted_s  how long it may take
    """

    host: str
    pages: int
    round_s: float
    wanted_s: float


class CrowdedHosts(Struct, frozen=True):
    """All crowded hosts with their pages, and the worst of them, as they were found within the last hour."""

    total: int = 0
    worst: tuple[CrowdedHost, ...] = ()
    pages: int = 0


class Findings(Struct, frozen=True):
    """What one of several nodes found out about the store, for all of them."""

    figures: StoreFigures
    crowded: CrowdedHosts = CrowdedHosts()


class RenderSlots(Struct, frozen=True):
    """How many pages are rendered at a time, as it is in force; `taken` slots are held by pages."""

    limit: int
    resume_at: int
    taken: int = 0


class Unwritten(Struct, frozen=True):
    """For how long what waits to be written could not be, and the reason with its mend."""

    for_s: float = 0.0
    why: str = ""


class ShortageState(Struct, frozen=True):
    """What this machine is short of, with the mend.

    error    None while it is short of nothing
    put_off  checks, renderings and deliveries that shortages have put off since the start
    """

    error: str | None = None
    put_off: int = 0


class LiveState(Struct, frozen=True):
    """The service as it is now.

    checks          since the start
    node            its name among those that work on the store
    parts           how many parts of the hosts it holds
    outage_since    our own connection is taken to be down
    has_lease       it holds the right to check; without it, it waits for another engine's to end
    lag_s           of the service's own process, as of a fetcher's
    late_s          how long the page is due that is due the longest and was not asked for yet
    figures         of the store, as last read; None before the first time
    unread_channels names of channels whose secret cannot be read
    """

    started_at: Instant
    version: str
    in_flight: int
    checks: int
    fetchers: tuple[FetcherLife, ...]
    renders: RenderSlots
    outage_since: Instant | None = None
    crowded: CrowdedHosts = CrowdedHosts()
    has_lease: bool = True
    unwritten: Unwritten = Unwritten()
    late_s: float = 0.0
    lag_s: float = 0.0
    figures: StoreFigures | None = None
    unread_channels: tuple[str, ...] = ()
    shortage: ShortageState = ShortageState()
    node: str = ""
    parts: int = 0
