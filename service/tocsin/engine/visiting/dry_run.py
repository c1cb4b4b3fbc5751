"""What a check of a page would find, without storing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from tocsin.configuration import resolve_page
from tocsin.engine.judging.assess import decide
from tocsin.engine.judging.judge import was_html
from tocsin.engine.judging.noise import muted_keys
from tocsin.engine.judging.reading import AnswerReading, ReadingContext, read_other_kind, read_page_wholly
from tocsin.engine.judging.signals import combine_verdict, is_read_for_signals, trace_data, weigh_signals, with_witness
from tocsin.engine.policies import asked_as
from tocsin.model import HostNoise, LastAnswer, PageRow, PageTask, SignalContext, StoredState
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.html.page import Kind, find_kind, read_page
from tocsin.spec.html.urls import host_and_origin, watch_url
from tocsin.spec.topper.state import EMPTY, PageState, read_state

if TYPE_CHECKING:
    from tocsin.engine.visiting.receive import Headers
    from tocsin.model import Instant, JsonObject
    from tocsin.ports import Store
    from tocsin.settings import PageSettings

_RECEIVED: Final = 200


class PageInForce(Struct, frozen=True):
    """Settings in force for a page, and what is known of it.

    page     None if it is not watched
    beside   what the last checks found
    of_host  noise on pages of its host
    """

    policy: PageSettings
    page: PageRow | None = None
    beside: SignalContext | None = None
    of_host: tuple[HostNoise, ...] = ()


class DryRun(Struct, frozen=True):
    """What a check would find.

    latest   the twelve fields
    trace    steps to the verdict; empty without a verdict
    outcome  None if the page is not watched
    is_read  signals would count
    is_new   there is nothing to compare with, or it was read in another way
    """

    beheld: AnswerReading
    latest: PageState
    is_html: bool
    problems: tuple[str, ...]
    outcome: str | None = None
    rule: str | None = None
    reason: str | None = None
    basis: str | None = None
    changed: tuple[str, ...] = ()
    trace: tuple[dict[str, Any], ...] = ()
    is_read: bool = True
    is_new: bool = True


async def find_in_force(store: Store, url: str, base: PageSettings) -> PageInForce:
    """Return the settings in force for a page and what is known of it; defaults if it is not watched.

    Raises BadUrl.
    """
    for_all, groups = await store.overrides()
    page = await store.page(watch_url(url).url)
    if page is None:
        return PageInForce(resolve_page(base, for_all, {}, None))
    group: JsonObject = next((settings for name, settings in groups.values() if name == page.group), {})
    learnt = await store.learnt(page.url)
    return PageInForce(
        resolve_page(base, for_all, group, page.settings),
        page,
        learnt[1] if learnt is not None else None,
        tuple(await store.noise_of_host(page.host)),
    )


def look(
    body: bytes, content_type: str | None, headers: Headers, url: str | None, in_force: PageInForce, now: Instant
) -> DryRun:
    """Read a page as a check now would, and judge it.

    headers  of the answer, names in lower case
    url      after redirects; None if unknown
    Raises TooComplex for a page that is too complex to parse.
    """
    policy, page = in_force.policy, in_force.page
    nosniff = is_nosniff([value for name, value in headers if name == "x-content-type-options"])
    found = find_kind(body, content_type, nosniff=nosniff)
    is_html = found[0] is not Kind.OTHER
    reading = read_page(body, content_type, found=found) if is_html else None
    latest = read_state(reading.metas) if reading is not None else EMPTY
    before = page.state.fields if page is not None else None
    url = url or ""
    wanted = ReadingContext(
        msgspec.structs.replace(policy, signals="all", mode="on"),
        _to_be_read(in_force.beside),
        page.url if page is not None else url,
        _RECEIVED,
        asked_as(policy, page.secrets if page is not None else None),
        # A person looks at this very page, so its selectors count as its own.
        own_ignore=True,
    )
    beheld = (
        read_page_wholly(body, content_type, found, headers, url, wanted=wanted, before=before, latest=latest)
        if is_html
        else read_other_kind(body, content_type, headers, url, wanted=wanted)
    )
    odd = reading.problems if reading is not None else found[1]
    problems = (*odd, *([beheld.problem] if beheld.problem else []))
    sight = DryRun(beheld, latest, is_html, tuple(problems))
    return sight if page is None else _judged(sight, in_force, page, now)


def _to_be_read(beside: SignalContext | None) -> SignalContext | None:
    """Forget the digests of the last text, so that the content is read even if it is equal."""
    if beside is None or beside.known is None:
        return beside
    return msgspec.structs.replace(beside, known=msgspec.structs.replace(beside.known, text=0, blocks=0))


def _judged(sight: DryRun, in_force: PageInForce, page: PageRow, now: Instant) -> DryRun:
    """Add the verdict of a check."""
    beheld, policy, beside = sight.beheld, in_force.policy, in_force.beside
    known = beside.known if beside is not None else None
    is_read = is_read_for_signals(policy, sight.latest.values)
    is_new = known is None or beheld.readings is None or known.read_as != beheld.readings.read_as
    sight = msgspec.structs.replace(sight, is_read=is_read, is_new=is_new)
    if (evidence := _evidence_against(sight, page, policy)) is not None:
        return msgspec.structs.replace(sight, outcome="suspect", reason=evidence)
    at = page.state.stored_at or now
    stored = None if page.state.fields is None else StoredState(0, page.state.fields, at, at, 1)
    comparison = decide(stored, sight.latest, now, policy)
    weighed = change = None
    if is_read and stored is not None and beheld.readings is not None:
        task = _task(page, beside, stored)
        change = beheld.change
        weighed = weigh_signals(task, policy, sight.latest, beheld.readings, change, now, may_keep=False).weighed
    ruling = combine_verdict(comparison, weighed, change, declares=sight.latest.values != EMPTY.values)
    if stored is not None:
        ruling = with_witness(ruling, _task(page, beside, stored), sight.latest, muted_keys(beside, now))
    return msgspec.structs.replace(
        sight,
        outcome=str(ruling.outcome),
        rule=ruling.rule,
        reason=ruling.reason,
        basis=ruling.basis,
        changed=(*comparison.changed, *ruling.speaking),
        trace=tuple(trace_data(comparison, ruling)),
    )


def _evidence_against(sight: DryRun, page: PageRow, policy: PageSettings) -> str | None:
    """Return the evidence that an answer is not the page, as `judge.evidence_against` does."""
    if page.state.fields is None or policy.suspects == "accept":
        return None
    if sight.beheld.suspicion is not None:
        return sight.beheld.suspicion
    is_received = page.last.received_at is not None
    if sight.is_html or not was_html(page.state.fields, not_html=page.flags.not_html, is_received=is_received):
        return None
    return "; ".join(sight.problems)


def _task(page: PageRow, beside: SignalContext | None, stored: StoredState) -> PageTask:
    host = host_and_origin(page.url)[0]
    last = LastAnswer(checked_at=page.last.checked_at)
    return PageTask(page.id, 0, host, page.url, 0, page.settings, stored, last, beside=beside)
