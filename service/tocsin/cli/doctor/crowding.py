"""Hosts whose round does not fit the interval of their pages, and what a user can do about it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tocsin.cli.doctor import Diagnosis
from tocsin.cli.formatting import count
from tocsin.cli.session import now
from tocsin.configuration import show_span
from tocsin.engine.scheduling.host_capacity import look

if TYPE_CHECKING:
    from tocsin.engine.scheduling.host_capacity import Crowding, HostRound
    from tocsin.ports import Store
    from tocsin.settings import Settings


async def find_crowding(store: Store, settings: Settings) -> Crowding:
    """Find the hosts with more pages than can be fetched within their intervals."""
    return await look(store, settings.pages, settings.hosts, now(), time_zone=settings.instance.time_zone)


def to_findings(crowding: Crowding) -> list[Diagnosis]:
    """Describe the worst of them with figures, and count the others."""
    findings = [Diagnosis(f"Host {_told(each)}", _mend(each)) for each in crowding.worst]
    more = crowding.hosts - len(crowding.worst)
    if more > 0:
        what = f"{count(more, 'host')} more are crowded; {count(crowding.pages, 'page')} in all are checked late."
        findings.append(Diagnosis(what, "Increase the interval of their pages: tocsin watch set --help"))
    return findings


def to_note(crowding: Crowding) -> str:
    """Describe the worst in one line; "" if every page can be checked in time."""
    if not crowding.worst:
        return ""
    more = f" (and {count(crowding.hosts - 1, 'host')} more)" if crowding.hosts > 1 else ""
    return f"CROWDED: {_told(crowding.worst[0])}{more} See: tocsin doctor"


def _told(one: HostRound) -> str:
    asked = f"at one every {_span(one.delay_s)}, a round takes {_span(one.round_s)} at least"
    wanted = f"{one.load:.1f} times their interval of {_span(one.wanted_s)}"
    return f"{one.host}: {count(one.pages, 'page')}; {asked}, {wanted}."


def _mend(one: HostRound) -> str:
    longer = (
        f"Increase their interval to {_span(one.round_s)} or more (tocsin watch set --every), or watch fewer pages."
    )
    return f'{longer} If the host is yours, lower its delay: hosts.rules."{one.host}".delay'


def _span(seconds: float) -> str:
    """A duration rounded up to what a person would say."""
    for unit in (86_400, 3600, 60, 1):
        if seconds >= 2 * unit:
            whole = -(-seconds // unit)
            return show_span(timedelta(seconds=whole * unit))
    return show_span(timedelta(milliseconds=round(seconds * 1000)))
