"""Hosts whose round does not fit the interval of their pages, and what a user can do about it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tocsin.cli.doctor import Finding
from tocsin.cli.formatting import count
from tocsin.cli.session import now
from tocsin.configuration import show_span
from tocsin.engine.scheduling.host_capacity import look

if TYPE_CHECKING:
    from tocsin.engine.scheduling.host_capacity import Crowding, HostRound
    from tocsin.ports import Store
    from tocsin.settings import Settings


async def find_crowding(store: Store, settings: Settings) -> Crowding:
    """Find the hosts that have more pages than can be asked for in time."""
    return await look(store, settings.pages, settings.hosts, now(), time_zone=settings.instance.time_zone)


def to_findings(crowding: Crowding) -> list[Finding]:
    """Tell the worst of them with their figures, and how many there are besides."""
    findings = [Finding(f"Host {_told(each)}", _mend(each)) for each in crowding.worst]
    more = crowding.hosts - len(crowding.worst)
    if more > 0:
        what = f"{count(more, 'host')} more are crowded; {count(crowding.pages, 'page')} of all are checked too late."
        findings.append(Finding(what, "Raise the interval of their pages: tocsin watch set --help"))
    return findings


def to_note(crowding: Crowding) -> str:
    """Tell the worst in a line; "" where every page can be checked in time."""
    if not crowding.worst:
        return ""
    more = f" (and {count(crowding.hosts - 1, 'host')} more)" if crowding.hosts > 1 else ""
    return f"CROWDED: {_told(crowding.worst[0])}{more} See: tocsin doctor"


def _told(one: HostRound) -> str:
    asked = f"one every {_span(one.delay_s)} takes {_span(one.round_s)} at least"
    wanted = f"they are wanted every {_span(one.wanted_s)}"
    return f"{one.host}: {count(one.pages, 'page')}, {asked}, but {wanted}: {one.load:.1f} times as long."


def _mend(one: HostRound) -> str:
    longer = f"Raise their interval to {_span(one.round_s)} or more: tocsin watch set --every; or watch fewer of them."
    return f'{longer} If the host is yours, lower its delay: hosts.rules."{one.host}".delay'


def _span(seconds: float) -> str:
    """A duration rounded up to what a person would say."""
    for unit in (86_400, 3600, 60, 1):
        if seconds >= 2 * unit:
            whole = -(-seconds // unit)
            return show_span(timedelta(seconds=whole * unit))
    return show_span(timedelta(milliseconds=round(seconds * 1000)))
