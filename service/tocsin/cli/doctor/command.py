"""`tocsin doctor`: what is wrong with this installation, and the mend; and which settings are in force."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec
from msgspec import Struct

from tocsin.adapters.stores import demand_no_remains, is_postgres, open_store, server_facts
from tocsin.app.assembly import FEW_FILES_MEND, files_are_few
from tocsin.app.executing import fetchers_of, open_files_as_allowed
from tocsin.cli import output
from tocsin.cli.channel import find_refusals
from tocsin.cli.doctor.database import describe_nodes, describe_server
from tocsin.cli.doctor.surroundings import (
    Diagnosis,
    examine_authorities,
    examine_backup,
    examine_browser,
    examine_channels,
    examine_clock,
    examine_files,
    examine_http,
    examine_room,
)
from tocsin.cli.formatting import count, show_time
from tocsin.cli.selection import batches
from tocsin.cli.session import configuration, is_store_there, now, store_path
from tocsin.configuration import Loaded, mask, resolve_page_origins, resolve_readable, show_span
from tocsin.configuration.convert import dotted, to_json, walk
from tocsin.configuration.pages import mend_of, without_unread
from tocsin.engine.scheduling.host_capacity import look
from tocsin.errors import SettingsError, StoreError
from tocsin.model import PageFilter
from tocsin.model.records.service import Setting
from tocsin.model.saved import Saved, merge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tocsin.configuration import Loaded
    from tocsin.configuration.pages import Resolved
    from tocsin.engine.scheduling.host_capacity import Crowding, HostRound
    from tocsin.model import ChannelFigures, Instant, JsonObject
    from tocsin.ports import Store
    from tocsin.settings import ChannelSettings, PageSettings, Settings


# A digest takes some seconds; a receiver that is restarted, a minute.
_LATE_US: Final = 300_000_000


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
        # From two of a unit on it is exact enough; rounded up, so that the advice is not too short.
        if seconds >= 2 * unit:
            whole = -(-seconds // unit)
            return show_span(timedelta(seconds=whole * unit))
    return show_span(timedelta(milliseconds=round(seconds * 1000)))


# Upper limit of pages with invalid settings that are named.
NAMED: Final = 10
# Of the pages that scripts make, at most.
_LOOKED_AT: Final = 1000


async def find_refused(store: Store, base: PageSettings) -> list[Diagnosis]:
    """Find what cannot be used of what is set for all pages, for groups, and for single pages."""
    for_all, groups = await store.overrides()
    # Each level by itself, so that a fault of the group is told once, and not for each of its pages.
    findings = _refused_finding("All pages are", resolve_readable(base, for_all, {}, None))
    for name, own in groups.values():
        findings += _refused_finding(
            f"The pages of group {name} are", resolve_readable(base, {}, own, None), group=name
        )
    more = 0
    # Only pages with settings of their own: the others inherit what was judged above.
    async for pages in batches(store, PageFilter(with_own=True)):
        for page in pages:
            told = _refused_finding(f"{page.url} is", resolve_readable(base, {}, {}, page.settings), url=page.url)
            if len(findings) < NAMED:
                findings += told
            else:
                more += len(told)
    if more:
        what = f"{count(more, 'page')} more are not checked, because of invalid settings in the store."
        findings.append(Diagnosis(what, "Fix the ones above, and run again: tocsin doctor"))
    return findings


async def _has_page_in_browser(store: Store) -> bool:
    async for pages in batches(store, PageFilter(with_own=True)):
        if any(page.settings.get("fetch") == "browser" for page in pages):
            return True
    return False


async def find_shells(store: Store, base: PageSettings) -> list[Diagnosis]:
    """Find pages whose content scripts make, of which no change is seen as they are read now."""
    pages = await store.count_pages(PageFilter(shells=True))
    if not pages:
        return []
    for_all, groups = await store.overrides()
    of_group = dict(groups.values())
    named: dict[bool, list[str]] = {False: [], True: []}
    for page in await store.pages(PageFilter(shells=True), limit=_LOOKED_AT):
        levels = (for_all, of_group.get(page.group, {}), page.settings)
        named[resolve_readable(base, *levels).settings.fetch == "browser"].append(page.url)
    by_http, in_browser = named[False], named[True]
    findings = []
    if by_http:
        # Of very many, only the first were looked at; hardly any will be read in a browser.
        what = count(pages - len(in_browser), "page")
        said = f"Scripts make the content of {what}, so that changes are not seen by HTTP: {_some(by_http)}."
        findings.append(Diagnosis(said, "Read them in a browser: tocsin watch set URL --fetch browser"))
    if in_browser:
        said = f"{count(len(in_browser), 'page')} read in a browser, and empty there, too: {_some(in_browser)}."
        mend = "Say when they are ready, or what to do first: tocsin watch set URL --ready 'css: SELECTOR' --step …"
        findings.append(Diagnosis(said, mend))
    return findings


def _some(urls: Sequence[str]) -> str:
    return ", ".join(urls[:NAMED]) + (", …" if len(urls) > NAMED else "")


def _refused_finding(whose: str, resolved: Resolved, *, url: str = "", group: str = "") -> list[Diagnosis]:
    refused = resolved.refused
    if not refused:
        return []
    mend = mend_of(refused, url=url, group=group)
    what = f"{whose} not checked: {'; '.join(each.why for each in refused)}."
    return [Diagnosis(what, f"{mend[:1].upper()}{mend[1:]}")]


_MINUTE: Final = 60_000_000
# Up to this size a store is read whole, which takes a second or two.
READ_BYTES: Final = 64 * 1024 * 1024


class Examination(Struct):
    """What was found, and what is set at run time: for all pages, and for each group by its name.

    settings  with the channels and routes that were made at run time
    uses_browser  some page is read in it
    """

    findings: list[Diagnosis]
    for_all: JsonObject
    groups: dict[str, JsonObject]
    settings: Settings
    uses_browser: bool = False


def examine(loaded: Loaded, now: Instant, *, thorough: bool = False) -> Examination:
    """Look at everything, and change nothing.

    thorough  read a store whole for damage, however large it is; else only one that takes a second or two
    """
    return asyncio.run(_examine(loaded, now, thorough=thorough))


async def _examine(loaded: Loaded, now: Instant, *, thorough: bool) -> Examination:
    # In this order: what is wrong with the machine explains faults that are found in the store.
    found = Examination(
        [*_of_configuration(loaded), *examine_clock(now), *examine_authorities()], {}, {}, loaded.settings
    )
    has_tokens, is_running = await _of_store(loaded, now, found, thorough=thorough)
    url = loaded.settings.store.url
    found.findings += examine_files(loaded, None if is_postgres(url) else store_path(loaded.settings))
    found.findings += examine_http(
        loaded.settings.http, has_tokens=has_tokens, is_running=is_running, is_shared=is_postgres(url)
    )
    base = loaded.settings
    levels = (found.for_all, *found.groups.values())
    if (
        found.uses_browser
        or base.browser.socket
        or "browser" in {base.pages.fetch, base.render.kind, *(level.get("fetch") for level in levels)}
    ):
        found.findings += examine_browser(base.browser)
    found.findings += await examine_channels(
        found.settings, saved=found.settings.channels.keys() - loaded.settings.channels
    )
    if not found.settings.channels:
        listed = Diagnosis(
            "No channel is configured: alerts are only listed.", "See: tocsin alerts list", is_wrong=False
        )
        found.findings.append(listed)
    return found


def _of_configuration(loaded: Loaded) -> Iterator[Diagnosis]:
    if not loaded.settings.instance.contact:
        yield Diagnosis(
            "No contact is configured, so owners of sites cannot reach you.",
            'Set instance.contact to "mailto:you@example.org" or the URL of a page about you.',
        )
    for doubt in loaded.doubts:
        yield Diagnosis(f"{doubt}.", "Rename the variable, or unset it.")
    for each in without_unread(loaded.settings.pages)[1]:
        what, _, mend = each.why.partition("; ")
        yield Diagnosis(f"Pages that inherit pages.{each.key} are not checked: {what}", _to_sentence(mend))
    fetchers = fetchers_of(loaded.settings)
    by_whom = "fetched in separate processes" if fetchers else "fetched in the main process"
    yield Diagnosis(f"Fetchers: {fetchers}; pages are {by_whom}.", is_wrong=False)
    # As the service does at its start, so that its limit is judged, and not that of this shell.
    open_files_as_allowed()
    few = files_are_few(loaded.settings.fetch, fetchers)
    if few is not None:
        yield Diagnosis(f"{few[:1].upper()}{few[1:]}.", f"For the service, {FEW_FILES_MEND}.", is_wrong=False)


async def _of_store(loaded: Loaded, now: Instant, found: Examination, *, thorough: bool) -> tuple[bool | None, bool]:
    """Examine the store; returns whether it has tokens (None: unknown), and whether an engine works on it."""
    url, password = loaded.settings.store.url, loaded.settings.store.password
    path = store_path(loaded.settings)
    try:
        server = server_facts(url, password=password) if is_postgres(url) else None
        if not is_store_there(loaded.settings):
            if server is not None:
                found.findings += describe_server(server, 1)
            # A user without the right cannot follow its mend.
            if server is None or server.may_create:
                found.findings.append(_of_no_store(url, path))
            return False, False
        # Beside a service that may be running, and of a store as it is: looking must mend or migrate nothing.
        store = await open_store(url, password=password, engine=False, create=False)
        try:
            if server is not None:
                nodes = await store.nodes()
                alive = sum(node.left_s > 0 for node in nodes)
                found.findings += describe_server(server, max(alive, 1))
                parts = server.parts, loaded.settings.store.parts
                found.findings += describe_nodes(nodes, await store.parts_alone(), parts)
            found.settings = _with_saved(loaded.settings, await store.saved(), found.findings)
            found.for_all, groups = await store.overrides()
            found.groups = dict(groups.values())
            found.findings += await _of_integrity(store, await _bytes_of(store, now), thorough=thorough)
            found.findings += await _of_rows(store, now)
            found.findings += await find_refused(store, without_unread(loaded.settings.pages)[0])
            found.findings += await find_shells(store, without_unread(loaded.settings.pages)[0])
            found.uses_browser = await _has_page_in_browser(store)
            found.findings += to_findings(await find_crowding(store, loaded.settings))
            found.findings += await _of_pauses(store, str(found.for_all.get("mode", loaded.settings.pages.mode)))
            found.findings += await _of_channel_states(store, found.settings.channels, now)
            found.findings += await _of_routes(store, found, now)
            found.findings += await _of_texts(store)
            if not is_postgres(url):
                found.findings += [*examine_room(path, url), *examine_backup(url, now)]
            return await store.has_tokens(), await store.is_held()
        finally:
            await store.close()
    except StoreError as exc:
        found.findings.append(_unusable(exc))
        return None, False


def _of_no_store(url: str, path: Path) -> Diagnosis:
    mend = "Create it by adding a page: tocsin watch add URL"
    if is_postgres(url):
        return Diagnosis(f"There is no store yet in {url}.", mend, is_wrong=False)
    try:
        demand_no_remains(f"sqlite:{path}")
    except StoreError as exc:
        # What makes a store refuses it, too: adding a page, or removing an empty file, would mend nothing.
        what, _, mend = str(exc).partition("; ")
        return Diagnosis(f"{what}.", f"{mend[:1].upper()}{mend[1:]}.")
    if path.is_file():
        return Diagnosis(f"The store at {path} is an empty file.", "Restore a backup, or remove it.")
    return Diagnosis(f"There is no store yet at {path}.", mend, is_wrong=False)


def _unusable(exc: StoreError) -> Diagnosis:
    what, _, mend = str(exc).partition("; ")
    return Diagnosis(f"The store cannot be used: {what}.", _to_sentence(mend))


def _to_sentence(mend: str) -> str:
    return f"{mend[:1].upper()}{mend[1:]}." if mend else "Restore a backup: tocsin store restore FILE"


async def _bytes_of(store: Store, now: Instant) -> int:
    return (await store.figures(now)).bytes


async def _of_integrity(store: Store, size: int, *, thorough: bool) -> list[Diagnosis]:
    # Reading gigabytes would make the doctor too slow to be called first.
    if size > READ_BYTES and not thorough:
        what = f"The store has {size / 1e6:,.0f} MB and was not checked for damage."
        return [
            Diagnosis(
                what, "To check it (takes minutes): tocsin store check, or tocsin doctor --thorough", is_wrong=False
            )
        ]
    return [Diagnosis(f"The store is damaged: {finding}", "Restore a backup.") for finding in await store.check()]


async def _of_rows(store: Store, now: Instant) -> list[Diagnosis]:
    findings = []
    questions = [question for question in await store.questions() if question.times.answered_at is None]
    if questions:
        pages = sum(question.pages for question in questions)
        verb = "waits" if len(questions) == 1 else "wait"
        what = f"{count(len(questions), 'question')} about {count(pages, 'page')} {verb} for your answer."
        findings.append(Diagnosis(what, "See: tocsin attention list"))
    return findings + await _of_clock(store, now)


async def _of_clock(store: Store, now: Instant) -> list[Diagnosis]:
    """Find what was written at a time that is yet to come: alerts, checks, states."""
    alerts = await store.alerts(limit=1)
    latest = max(((alert.created_at, "an alert") for alert in alerts), default=(0, ""))
    checked_at, stored_at = await store.last_times()
    at, what = max(latest, (checked_at or 0, "a check"), (stored_at or 0, "a state"))
    # Clocks of containers differ by seconds, and are corrected in small steps.
    if at <= now + _MINUTE:
        return []
    mend = "Set the clock; no new state of a page is stored before the time of its last one."
    return [Diagnosis(f"The clock was set back: {what} has the time {show_time(at)}, which is in the future.", mend)]


async def _of_texts(store: Store) -> list[Diagnosis]:
    if not await store.texts_are_short():
        return []
    what = "Room for texts is short: new pages get their first text stored only when they change, and old texts go."
    return [Diagnosis(what, "Set snapshots.total to more, or snapshots.per_page to less.", is_wrong=False)]


async def _of_pauses(store: Store, mode: str) -> list[Diagnosis]:
    """A pause of everything is loud wherever one looks."""
    if mode == "off":
        return [Diagnosis("ALL PAGES ARE OFF: nothing is checked.", "Resume with: tocsin watch set --all --mode on")]
    pages = await store.count_pages(PageFilter())
    if pages and await store.count_pages(PageFilter(paused=True)) == pages:
        return [Diagnosis("ALL PAGES ARE PAUSED: nothing is checked.", "Resume with: tocsin watch set --all --resume")]
    return []


def late_digest(figures: ChannelFigures | None, now: Instant) -> Instant | None:
    """Return when the digest was due that a channel has not taken for minutes; None if there is none."""
    due_at = figures.digest_due_at if figures is not None else None
    return due_at if due_at is not None and due_at < now - _LATE_US else None


async def _of_channel_states(store: Store, channels: Mapping[str, ChannelSettings], now: Instant) -> list[Diagnosis]:
    findings = []
    figures = (await store.figures(now)).channels if channels else {}
    states = {name: await store.channel_state(name) for name in channels}
    refusals = await find_refusals(store, states)
    for name, state in states.items():
        again = f"When it accepts alerts again: tocsin channel test {name}"
        # The worst of a channel is told alone: its other troubles follow from it.
        if state.disabled:
            findings.append(Diagnosis(f"Channel {name} is disabled: {state.error}", again))
        elif state.failures:
            what = f"Channel {name} failed {count(state.failures, 'time')}, {count(state.waiting, 'alert')} waiting"
            next_try = f"The next try is at {show_time(state.next_at)}; after fixing it: tocsin channel test {name}"
            findings.append(Diagnosis(f"{what}: {state.error}", next_try))
        elif name in refusals:
            mend = f"Fix the receiver or [channels.{name}], then: tocsin channel test {name}"
            findings.append(Diagnosis(f"Channel {name}: {refusals[name].told}", mend))
        if late := late_digest(figures.get(name), now):
            mend = f"It is tried again, with the same content; see: tocsin channel list, tocsin channel test {name}"
            findings.append(Diagnosis(f"Channel {name} did not take a digest that was due at {show_time(late)}.", mend))
        if state.dead:
            mend = f"See: tocsin alerts list --dead; then: tocsin alerts replay --dead --channel {name}"
            findings.append(Diagnosis(f"Channel {name} has {count(state.dead, 'dead letter')}.", mend))
    return findings


def _with_saved(settings: Settings, saved: Saved, findings: list[Diagnosis]) -> Settings:
    """Add what was made at run time; what of it cannot be used is a finding."""
    try:
        merged = merge(settings, saved)
    except SettingsError as exc:
        what, _, mend = str(exc).partition("; ")
        findings.append(Diagnosis(f"The service does not start: {what}.", _to_sentence(mend)))
        return settings
    for name, why in merged.unusable.items():
        mend = f"Correct it on the page Notifications, or: tocsin route remove {quote(name)}"
        findings.append(Diagnosis(f"Route {name} is left out: {why}", mend))
    return merged.settings


async def _of_routes(store: Store, found: Examination, now: Instant) -> list[Diagnosis]:
    names = {route.name for route in found.settings.routes}
    levels = {"all pages": found.for_all, **{f"group {name}": given for name, given in found.groups.items()}}
    findings = [
        Diagnosis(
            f"The settings of {level} name the route {name!r}, which does not exist.",
            f"Add it to the configuration, or: tocsin watch set {_whom(level)} --unset route",
        )
        for level, given in levels.items()
        if (name := given.get("route")) and name not in names
    ]
    # Without routes every channel gets every alert.
    unrouted = (await store.figures(now)).unrouted if names else 0
    if unrouted:
        none_got = f"no channel got {'it' if unrouted == 1 else 'them'}"
        what = f"{count(unrouted, 'alert')} of the last week matched no route: {none_got}."
        mend = "If that is not meant, end the routes with one without `match`. To see why: tocsin route test ID"
        findings.append(Diagnosis(what, mend, is_wrong=False))
    return findings


def _whom(level: str) -> str:
    return "--all" if level == "all pages" else f"--group {quote(level.removeprefix('group '))}"


@click.command("doctor", epilog="Example: tocsin doctor")
@click.option("--settings/--no-settings", "with_settings", default=True, help="Show the settings in force.")
@click.option("--thorough", is_flag=True, help="Check a large store for damage too, as tocsin store check does.")
@output.json_option
@click.pass_context
def command(ctx: click.Context, *, with_settings: bool, thorough: bool) -> int:
    """Find problems of this installation and say how to fix them; show the settings in force and their origin.

    A store of up to 64 MB is also checked for damage; a larger one only with --thorough.

    Secrets are masked. Exit status 1 if anything is wrong.
    """
    loaded = configuration(ctx)
    examination = examine(loaded, now(), thorough=thorough)
    if with_settings:
        _print_settings(loaded, examination)
    wrong = [finding for finding in examination.findings if finding.is_wrong]
    for finding in examination.findings:
        record = {"finding": finding.what, "mend": finding.mend, "wrong": finding.is_wrong}
        output.emit(record, partial(_print, finding))
    if not wrong and not output.is_json():
        output.say("Nothing is wrong.", style="green")
    if wrong:
        output.note(f"{count(len(wrong), 'finding')}.")
    return output.NEEDS_USER if wrong else output.DONE


def _print_settings(loaded: Loaded, examination: Examination) -> None:
    """Show every setting in force with where it came from; what is set at run time wins, and secrets are masked."""
    pages = resolve_readable(loaded.settings.pages, examination.for_all, {}, None).settings
    page_origins = resolve_page_origins(loaded.origins, examination.for_all, {}, None)
    origins = {**loaded.origins, **{f"pages.{key}": origin for key, origin in page_origins.items()}}
    settings = msgspec.structs.replace(loaded.settings, pages=pages)
    rows = [
        (dotted(path), to_json(path, mask(path, value)), origins.get(dotted(path), "default"))
        for path, value in walk(settings)
    ]
    for group, given in examination.groups.items():
        rows += [(f"pages.{key}", mask(("pages", key), value), f"group {group}") for key, value in given.items()]
    if output.is_json():
        for key, value, origin in rows:
            output.print_json(Setting(key=key, value=value, origin=origin))
        return
    shown = [(key, _shown(value), origin) for key, value, origin in rows]
    output.table(("setting", "value", "from"), shown, title=f"Configuration: {loaded.file or 'no file'}")


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print(finding: Diagnosis) -> None:
    output.say(finding.what, style="bold red" if finding.is_wrong else None)
    if finding.mend:
        output.say(f"    {finding.mend}")
