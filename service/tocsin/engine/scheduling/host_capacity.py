"""Whether all pages of a host can be checked as often as wanted, at the politeness in force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappush, heappushpop
from typing import Final

import msgspec
from msgspec import Struct

from tocsin.configuration import resolve_readable
from tocsin.engine.hosts.gates import LONGEST_CRAWL_DELAY_S, politeness_of
from tocsin.engine.hosts.robots import RobotsAnswer
from tocsin.engine.judging.cadence import interval_of
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import AGENT, CrowdedHost, CrowdedHosts, Instant, JsonObject
from tocsin.ports import Clock, Store, Telemetry
from tocsin.settings import HostSettings, PageSettings
from tocsin.spec.robots import read_robots

_ROUNDING: Final = 1e-9
# Crowded hosts that are named, the worst first.
NAMED: Final = 10
EVERY_S: Final = 3600.0
# At the start, checks have priority.
_FIRST_S = 5.0


class HostRound(Struct, frozen=True):
    """One request for each page of a host.

    round_s   least duration
    wanted_s  duration that the intervals of its pages allow (of several intervals, the equivalent one)
    delay_s   between requests
    """

    host: str
    pages: int
    round_s: float
    wanted_s: float
    delay_s: float

    @property
    def fits(self) -> bool:
        """Whether every page can be checked when it is due."""
        return self.load <= 1 + _ROUNDING

    @property
    def load(self) -> float:
        """Duration as a multiple of the wanted one."""
        return self.round_s / self.wanted_s


class Crowding(Struct, frozen=True):
    """Crowded hosts, whose rounds do not fit: their number, the number of their pages, and the worst ones."""

    hosts: int = 0
    pages: int = 0
    worst: tuple[HostRound, ...] = ()


def round_of(host: str, delay_s: float, wanted: Sequence[tuple[int, float]]) -> HostRound:
    """Make the round of a host; pages are given as (number, interval in seconds)."""
    pages = sum(number for number, _ in wanted)
    a_second = sum(number / every_s for number, every_s in wanted)
    return HostRound(host, pages, pages * delay_s, pages / a_second if a_second else float("inf"), delay_s)


def delay_of(settings: HostSettings, host: str, kept: Iterable[str]) -> float:
    """Return the seconds between two requests to a host, as `HostGate.delay_s` does.

    kept  stored answers of the robots.txt of its origins
    """
    politeness = politeness_of(settings, host)
    if politeness.has_own_delay or politeness.robots != "obey":
        return politeness.delay_s
    wished_s = max((_wish_of(text) for text in kept), default=0.0)
    return max(politeness.delay_s, min(wished_s, LONGEST_CRAWL_DELAY_S))


def _wish_of(kept: str) -> float:
    try:
        answer = msgspec.json.decode(kept, type=RobotsAnswer)
    except msgspec.DecodeError:  # Of another version: it will be requested again.
        return 0.0
    rules = read_robots(answer.text).of(AGENT)
    return rules.crawl_delay or 0.0


async def look(store: Store, pages: PageSettings, hosts: HostSettings, now: Instant, *, time_zone: str) -> Crowding:
    """Find crowded hosts among those with many pages."""
    for_all, groups = await store.overrides()

    def interval_s(group: JsonObject, own: JsonObject) -> float | None:
        resolved = resolve_readable(pages, for_all, group, own).settings
        return None if resolved.mode == "off" else interval_of(resolved, now, time_zone=time_zone).total_seconds()

    async def wanted_of(host_id: int) -> list[tuple[int, float]]:
        return [
            (number, every_s)
            for group_id, own, number in await store.schedules_of(host_id)
            if (every_s := interval_s(groups.get(group_id, ("", {}))[1], own)) is not None
        ]

    given = [{}, *(settings for _, settings in groups.values())]
    own_schedules = await store.own_schedules()
    known = [interval_s(group, {}) for group in given] + [interval_s({}, own) for own in own_schedules]
    is_one_for_all = not own_schedules and len(set(known)) == 1
    shortest_s = min((every_s for every_s in known if every_s is not None), default=None)
    if shortest_s is None:
        return Crowding()
    slowest_s = max(
        LONGEST_CRAWL_DELAY_S,
        hosts.delay.total_seconds(),
        *(rule.delay.total_seconds() for rule in hosts.rules.values() if rule.delay is not None),
    )
    found, late, worst = 0, 0, list[tuple[float, str, HostRound]]()
    async for crowd in await store.crowds(max(int(shortest_s / slowest_s), 1)):
        delay_s = delay_of(hosts, crowd.host, crowd.robots)
        if crowd.pages * delay_s <= shortest_s:
            continue
        # With one interval for all pages, their rows need not be read.
        wanted = [(crowd.pages, shortest_s)] if is_one_for_all else await wanted_of(crowd.host_id)
        whole = round_of(crowd.host, delay_s, wanted)
        if whole.fits:
            continue
        found, late = found + 1, late + whole.pages
        place = heappush if len(worst) < NAMED else heappushpop
        place(worst, (whole.load, whole.host, whole))
    return Crowding(found, late, tuple(whole for _, _, whole in sorted(worst, reverse=True)))


class HostCapacity:
    """Logs which hosts are crowded once an hour, if that changed."""

    def __init__(
        self,
        store: Store,
        pages: PageSettings,
        hosts: HostSettings,
        clock: Clock,
        telemetry: Telemetry,
        *,
        time_zone: str,
    ) -> None:
        self._store, self._clock, self._telemetry = store, clock, telemetry
        self._pages, self._hosts, self._time_zone = pages, hosts, time_zone
        self._told = Crowding()

    def configure(self, pages: PageSettings, hosts: HostSettings) -> None:
        """Apply another configuration."""
        self._pages, self._hosts = pages, hosts

    @property
    def told(self) -> Crowding:
        """The crowded hosts that were found last."""
        return self._told

    @property
    def crowded(self) -> CrowdedHosts:
        """The same, as the service shows them."""
        worst = (CrowdedHost(row.host, row.pages, row.round_s, row.wanted_s) for row in self._told.worst)
        return CrowdedHosts(self._told.hosts, tuple(worst), self._told.pages)

    async def run(self) -> None:
        """Look every hour, until cancelled."""
        await self._clock.sleep(_FIRST_S)
        while True:
            try:
                await self.tell()
            except StoreError as exc:
                self._telemetry.emit(Happening("hosts.unknown", "error", {"error": str(exc)}))
            await self._clock.sleep(EVERY_S)

    async def tell(self) -> Crowding:
        """Look once, and log a change."""
        found = await look(self._store, self._pages, self._hosts, self._clock.now(), time_zone=self._time_zone)
        if _subject(found) != _subject(self._told):
            worst = [
                f"{each.host}: {each.pages} pages take {each.round_s:.0f} s, and are wanted every {each.wanted_s:.0f} s"
                for each in found.worst
            ]
            values = {"hosts": found.hosts, "pages": found.pages, "worst": worst}
            self._telemetry.emit(Happening("hosts.crowded", "warning" if found.hosts else "info", values))
        self._told = found
        return found


def _subject(crowding: Crowding) -> tuple[int, list[str]]:
    """Return what a new line in the log depends on: hosts, but not their numbers of pages."""
    return crowding.hosts, [each.host for each in crowding.worst]
