"""What `tocsin doctor` looks at: configuration, contact, store, sinks, clock, questions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msgspec import Struct

from tocsin.adapters.stores import open_store
from tocsin.cli.asking import count
from tocsin.cli.times import show_time
from tocsin.configuration import mask
from tocsin.errors import StoreError
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.configuration import Loaded
    from tocsin.model import Instant
    from tocsin.ports import Store
    from tocsin.settings import SinkSettings

_MINUTE: Final = 60_000_000
_REACH_S: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}
_WITHOUT_EFFECT: Final = ("http.", "fetch.fetchers")
"""Settings that a later version heeds."""


class Finding(Struct, frozen=True):
    """One thing that the doctor says; what is not wrong is only good to know."""

    what: str
    mend: str = ""
    is_wrong: bool = True


def examine(loaded: Loaded, now: Instant) -> list[Finding]:
    """Look at everything, and change nothing."""
    return asyncio.run(_examine(loaded, now))


async def _examine(loaded: Loaded, now: Instant) -> list[Finding]:
    findings = list(_of_configuration(loaded))
    findings += await _of_store(loaded, now)
    for name, sink in loaded.settings.sinks.items():
        findings += await _of_sink(name, sink)
    if not loaded.settings.sinks:
        findings.append(
            Finding("No sink is configured: alerts stay listed.", "See: tocsin alerts list", is_wrong=False)
        )
    return findings


def _of_configuration(loaded: Loaded) -> Iterator[Finding]:
    if not loaded.settings.instance.contact:
        yield Finding(
            "There is no contact: owners of sites cannot reach whoever asks them for pages.",
            'Set instance.contact, such as "mailto:you@example.org" or the address of a page about you.',
        )
    for doubt in loaded.doubts:
        yield Finding(f"{doubt}.")
    for key, origin in loaded.origins.items():
        if key.startswith(_WITHOUT_EFFECT) and origin != "default":
            yield Finding(f"{key} (from {origin}) takes effect in a later version.", is_wrong=False)


async def _of_store(loaded: Loaded, now: Instant) -> list[Finding]:
    url = loaded.settings.store.url
    path = url.partition(":")[2]
    if not _is_there(path):
        return [
            Finding(
                f"There is no store yet at {path}.", "Make it by adding a page: tocsin watch add URL", is_wrong=False
            )
        ]
    try:
        store = await open_store(url, engine=False, create=False)
        try:
            return [*await _of_rows(store, now), *await _of_sink_states(store, loaded.settings.sinks)]
        finally:
            await store.close()
    except StoreError as exc:
        return [Finding(f"The store cannot be used: {exc}")]


async def _of_rows(store: Store, now: Instant) -> list[Finding]:
    findings = [Finding(f"The store is damaged: {finding}", "Restore a backup.") for finding in await store.check()]
    questions = [question for question in await store.questions() if question.answered_at is None]
    if questions:
        pages = sum(question.pages for question in questions)
        findings.append(
            Finding(
                f"{count(len(questions), 'question')} about {count(pages, 'page')} wait for your answer.",
                "See: tocsin attention list",
            )
        )
    latest = await store.alerts(limit=1)
    if latest and latest[0].created_at > now + _MINUTE:
        findings.append(
            Finding(
                f"The clock was set back: an alert is of {show_time(latest[0].created_at)}, which is yet to come.",
                "Set the clock; nothing is stored anew of a page before its last time of storing.",
            )
        )
    return findings + await _of_pauses(store)


async def _of_pauses(store: Store) -> list[Finding]:
    """A pause of everything is loud wherever one looks."""
    for_all, _ = await store.overrides()
    if for_all.get("mode") == "off":
        return [Finding("ALL PAGES ARE OFF: nothing is checked.", "Go on with: tocsin watch set --all --mode on")]
    pages = await store.count_pages(PageFilter())
    if pages and await store.count_pages(PageFilter(paused=True)) == pages:
        return [Finding("ALL PAGES ARE PAUSED: nothing is checked.", "Go on with: tocsin watch set --all --resume")]
    return []


async def _of_sink_states(store: Store, sinks: Mapping[str, SinkSettings]) -> list[Finding]:
    findings = []
    for name in sinks:
        state = await store.sink_state(name)
        if state.disabled:
            mend = f"Once it takes alerts again: tocsin sink test {name}"
            findings.append(Finding(f"Sink {name} is disabled: {state.error}", mend))
        if state.dead:
            mend = f"See: tocsin alerts list --dead; then: tocsin alerts replay --dead --sink {name}"
            findings.append(Finding(f"Sink {name} has {count(state.dead, 'dead letter')}.", mend))
    return findings


async def _of_sink(name: str, sink: SinkSettings) -> list[Finding]:
    """Whether it could be reached; nothing is sent to it."""
    if sink.path:
        folder = _folder_of(sink.path)
        there = _is_there(folder)
        mend = "Make it, or mend the sink's path."
        return [] if there else [Finding(f"Sink {name}: the folder {folder} is not there.", mend)]
    parts = urlsplit(sink.url)
    if not parts.hostname:
        return []
    where = str(mask(("sinks", name, "url"), sink.url))
    try:
        async with asyncio.timeout(_REACH_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or _PORTS.get(parts.scheme, 443))
    except (OSError, TimeoutError, ValueError) as exc:
        reason = str(exc) or "no answer in time"
        return [
            Finding(
                f"Sink {name} cannot be reached at {where}: {reason}", f"Mend its url; then: tocsin sink test {name}"
            )
        ]
    writer.close()
    return []


def _is_there(path: str) -> bool:
    return Path(path).exists()


def _folder_of(path: str) -> str:
    return str(Path(path).absolute().parent)
