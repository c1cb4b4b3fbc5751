"""Versions of a page, judged one after the other as checks of a running service judge them, without a store. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.model import (
    CheckResult,
    HopResponse,
    KeptContents,
    LastAnswer,
    PageTask,
    ReceivedPage,
    SignalContext,
    StoredState,
)

if TYPE_CHECKING:
    from tocsin.model import Instant, PageNoise
    from tocsin.ports import Chance
    from tocsin.settings import PageSettings

_NOTHING_KEPT = KeptContents(texts=False, items=False)


class ReplayedPage:
    """A page that remembers between its versions what a store would remember, but for what its host shares."""

    def __init__(self, url: str, policy: PageSettings, chance: Chance) -> None:
        self._policy = policy
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
        answer = HopResponse(url, 200, (("content-type", "text/html"),), body, len(body), 0)
        received = ReceivedPage(at, answer, url, None, not_modified=False, wire_bytes=len(body), elapsed_ms=0)
        conclusion = self._conclusions.of(self._task, self._policy, at)
        result = conclusion.received(received, at, conditional=False, tried=0)
        self._remember(result)
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
