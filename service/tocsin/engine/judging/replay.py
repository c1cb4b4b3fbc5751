"""Versions of a page, judged one after the other as checks of a running service judge them, without a store. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import msgspec

from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.judging.noise import HOST_MUTES_AT
from tocsin.model import (
    CheckResult,
    HopResponse,
    Instant,
    KeptContents,
    LastAnswer,
    PageNoise,
    PageTask,
    ReceivedPage,
    SignalContext,
    StoredState,
)
from tocsin.ports import Chance
from tocsin.settings import PageSettings

_NOTHING_KEPT = KeptContents(texts=False, items=False)
# How long a change of one page counts as that of another one.
_SHARED_FOR_US: Final = 24 * 3_600_000_000


class ReplayedHost:
    """What the pages of a host share: places that are muted on several of them, and changes that many have in common.

    storm_pages  from how many pages on these share one alert; 0 for never
    """

    def __init__(self, storm_pages: int) -> None:
        self._storm_pages = storm_pages
        self._muted: defaultdict[int, set[ReplayedPage]] = defaultdict(set)
        self._changed: defaultdict[bytes, dict[ReplayedPage, Instant]] = defaultdict(dict)

    @property
    def muted(self) -> tuple[int, ...]:
        """The keys of places that are muted on all of its pages."""
        return tuple([key for key, pages in self._muted.items() if len(pages) >= HOST_MUTES_AT])

    def mute(self, page: ReplayedPage) -> None:
        """Count the places that are muted on a page."""
        for each in page.noise:
            if each.since is not None:
                self._muted[each.key].add(page)

    def is_told_already(self, page: ReplayedPage, result: CheckResult) -> bool:
        """Count a change; returns whether one alert has told it for all pages of the host."""
        said = result.verdict
        if said is None or said.storm_key is None or not self._storm_pages:
            return False
        pages = self._changed[said.storm_key]
        for other in [each for each, at in pages.items() if result.checked_at - at > _SHARED_FOR_US]:
            del pages[other]
        pages[page] = result.checked_at
        return len(pages) > self._storm_pages


class ReplayedPage:
    """A page that remembers between its versions what a store would remember."""

    def __init__(self, url: str, policy: PageSettings, chance: Chance, host: ReplayedHost) -> None:
        self._policy, self._host = policy, host
        self._task = PageTask(1, 1, "", url, 1, None, None)
        self._conclusions = Conclusions(EventWriter("tocsin", chance), time_zone="UTC", keeps=_NOTHING_KEPT)

    @property
    def noise(self) -> tuple[PageNoise, ...]:
        """What is learnt of its noise so far."""
        known = self._task.beside.known if self._task.beside is not None else None
        return known.noise if known is not None else ()

    def check(self, body: bytes, at: Instant) -> CheckResult:
        """Judge a version that was received at an instant, later than those before.

        Raises FetchRefused: too-complex, for a page that is too complex to parse.
        """
        url = self._task.url
        if self._task.beside is not None:
            beside = msgspec.structs.replace(self._task.beside, host_muted=self._host.muted)
            self._task = msgspec.structs.replace(self._task, beside=beside)
        answer = HopResponse(url, 200, (("content-type", "text/html"),), body, len(body), 0)
        received = ReceivedPage(at, answer, url, None, not_modified=False, wire_bytes=len(body), elapsed_ms=0)
        conclusion = self._conclusions.of(self._task, self._policy, at)
        result = conclusion.received(received, at, conditional=False, tried=0)
        self._remember(result)
        self._host.mute(self)
        return result

    def _remember(self, result: CheckResult) -> None:
        task, new = self._task, result.state
        beside = task.beside
        if result.learnt.known is not None:
            beside = SignalContext(result.learnt.known)
        state, digest = task.state, task.last.body_digest
        if new is not None:
            storings = state.storings + 1 if state is not None else 1
            first_at = state.first_at if state is not None else new.stored_at
            state, digest = StoredState(1, new.fields, first_at, new.stored_at, storings), new.body_digest
        self._task = msgspec.structs.replace(
            task,
            state=state,
            last=LastAnswer(body_digest=digest, set_at=result.set_at, checked_at=result.checked_at),
            flags=result.flags,
            suspected=result.suspected,
            beside=beside,
        )
