"""Everything that follows from a rendering: alerts, the state it found, and pruning, as one value. Pure."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from msgspec.structs import replace

from tocsin.engine.judging.assess import assess, decide
from tocsin.engine.judging.conclude import cause_of
from tocsin.engine.judging.contents import (
    TextPair,
    difference_of_items,
    find_copies,
    may_keep,
    to_keep,
    values_of,
)
from tocsin.engine.judging.events import rendered_data
from tocsin.engine.judging.judge import evidence_against
from tocsin.engine.judging.reading import ReadingContext, read_text
from tocsin.engine.judging.signals import NO_SIGNALS, is_read_for_signals, wants_signals, weigh_signals
from tocsin.engine.policies import asked_as
from tocsin.errors import DamagedItems, DamagedText
from tocsin.events import Happening
from tocsin.model import Attempt, Failure, NewState, PageFlags, RenderCommit, RenderingRow, Snapshot, Validators
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.signals.texts import pack_text
from tocsin.spec.topper.compare import Mode, Outcome, is_stored
from tocsin.spec.topper.state import PageState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.engine.judging.assess import Assessment
    from tocsin.engine.judging.events import EventWriter
    from tocsin.errors import FetchError
    from tocsin.model import (
        AlertDraft,
        CopyLink,
        Instant,
        JsonObject,
        KeptPicture,
        PageItems,
        PageKnowledge,
        PageTask,
        PendingVerdict,
        Rendered,
        RenderJob,
        Snapshot,
    )
    from tocsin.ports import Telemetry
    from tocsin.settings import PageSettings


# Compared within the loop: 50 us where a sentence was added, a few ms at worst. A thread takes 30 us by itself.
_FEW_CHARACTERS = 1000

# How the texts and items of a page differ from those kept before, as its alerts show it.


class ContentStore(Protocol):
    """Where texts and items of pages are kept; `ports.RenderStore` implements it."""

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        """Return the packed texts before and at an instant; None where one of them was not kept."""

    async def latest_text(self, page_id: int) -> bytes | None:
        """Return the packed text that was kept last; None without any."""

    async def items_before(self, page_id: int) -> PageItems | None:
        """Return what the items of a page are compared with; None where nothing is known of them."""


# A smaller body is read within some 20 ms; a page of 4 MB takes 0.7 s, in which the loop would do nothing else.
LARGE_BYTES: Final = 128 * 1024


class Comparisons:
    """Reads large pages and compares contents on a thread beside the loop, one at a time."""

    def __init__(self, kept: ContentStore, telemetry: Telemetry) -> None:
        self._kept, self._telemetry = kept, telemetry
        # One thread at a time: comparing holds the interpreter, and further threads would only delay the loop.
        self._one = asyncio.Lock()

    async def look(
        self, awareness: Awareness, job: RenderJob, rendered: Rendered, policy: PageSettings, now: Instant
    ) -> RenderedAssessment:
        """Assess the answer of a rendering; see `Awareness.look`."""
        if len(rendered.body) < LARGE_BYTES:
            return awareness.look(job, rendered, policy, now)
        async with self._one:
            return await asyncio.to_thread(awareness.look, job, rendered, policy, now)

    async def add_differences(self, job: RenderJob) -> RenderJob:
        """Add to each verdict of a job the difference between the page's text at it and the one before.

        The difference is None where two texts were not kept. Raises StoreError.
        """
        verdicts = [await self._add_difference(job, verdict) for verdict in job.verdicts]
        return replace(job, verdicts=tuple(verdicts))

    async def add_last_difference(self, job: RenderJob, text: Snapshot | None) -> RenderJob:
        """Add to a job's last verdict the difference between its rendering's text and the one kept before.

        text  None where the rendering takes none
        A difference found by checks stays. Raises StoreError.
        """
        if text is None or not job.verdicts or job.verdicts[-1].data["difference"] is not None:
            return job
        before = await self._kept.latest_text(job.page_id)
        if before is None:
            return job
        *others, last = job.verdicts
        difference = await self._compare_texts(job, before, text.packed)
        return replace(job, verdicts=(*others, replace(last, data=last.data | {"difference": difference})))

    async def compare_items(self, job: RenderJob, found: PageItems | None) -> JsonObject | None:
        """Show how a rendering's items differ from those kept before; None where they do not.

        found  None where the items were not read
        Raises StoreError.
        """
        if found is None or not found.packed:
            return None
        before = await self._kept.items_before(job.page_id)
        if before is None:
            return None
        try:
            async with self._one:
                return await asyncio.to_thread(difference_of_items, before, found)
        except DamagedItems as exc:
            self._warn("items.damaged", job, exc)
            return None

    async def _add_difference(self, job: RenderJob, verdict: PendingVerdict) -> PendingVerdict:
        texts = await self._kept.texts_around(job.page_id, verdict.at)
        difference = await self._compare_texts(job, *texts) if texts is not None else None
        return replace(verdict, data=verdict.data | {"difference": difference})

    async def _compare_texts(self, job: RenderJob, before: bytes, latest: bytes) -> JsonObject | None:
        try:
            texts = TextPair(before, latest)
            if texts.characters <= _FEW_CHARACTERS:
                return texts.difference()
            async with self._one:
                return await asyncio.to_thread(texts.difference)
        except DamagedText as exc:
            self._warn("text.damaged", job, exc)
            return None

    def _warn(self, name: str, job: RenderJob, exc: Exception) -> None:
        values: JsonObject = {"page_id": job.page_id, "url": job.task.url, "error": str(exc)}
        self._telemetry.emit(Happening(name, "warning", values))


COPY = "copy"


class RenderedState(NamedTuple):
    """What becomes of the state that a rendering found.

    same      it equals the judged state
    state     to be stored, or None
    rendered  the state as the alert shows it, if it differs from the judged one
    known     of the page beside its state; None if unchanged
    snapshot  of a new text that may be kept
    """

    same: bool
    state: NewState | None
    rendered: JsonObject | None
    known: PageKnowledge | None = None
    snapshot: Snapshot | None = None


class RenderedAssessment(NamedTuple):
    """The answer of a rendering, assessed.

    text     of a page that checks do not read for signals; None if it may not be kept
    items    to be kept; None if they were not read, or the answer is a suspect
    is_page  the answer is no suspect
    """

    assessment: Assessment
    text: Snapshot | None = None
    items: PageItems | None = None
    is_page: bool = True

    @property
    def may_keep(self) -> bool:
        """Whether a copy of the answer may be kept (LM-45)."""
        return self.is_page and may_keep(self.assessment.directives)


class Awareness:
    """Concludes the renderings of one instance.

    keeps_texts  texts of pages are kept, to show differences
    """

    def __init__(self, alerts: EventWriter, *, keeps_texts: bool = True) -> None:
        self._alerts, self._keeps_texts = alerts, keeps_texts

    def look(self, job: RenderJob, rendered: Rendered, policy: PageSettings, now: Instant) -> RenderedAssessment:
        """Assess the answer of a rendering. Raises FetchRefused (too-complex)."""
        task, shape = job.task, asked_as(policy, job.task.secrets, in_browser=rendered.kind == "browser")
        is_text_wanted = self._keeps_texts and takes_text(task, policy)
        assessment = assess(
            rendered.final_url,
            rendered.body,
            rendered.content_type,
            task.state,
            # Only a page that is read says whether a copy may be kept, so an equal body is read again.
            None if is_text_wanted or rendered.picture is not None else task.last.body_digest,
            headers=rendered.headers,
            asked_as=shape,
            wanted=ReadingContext(
                policy,
                task.beside,
                task.url,
                rendered.status,
                shape,
                rendered.started_at,
                own_ignore="ignore" in (task.settings or ()),
            ),
        )
        text, is_page = "", evidence_against(assessment, task, policy) is None
        if is_text_wanted and is_page and assessment.readings is None and may_keep(assessment.directives):
            nosniff = is_nosniff(values_of(rendered.headers, "x-content-type-options"))
            text = read_text(rendered.body, rendered.content_type, policy, nosniff=nosniff)
        return RenderedAssessment(
            assessment,
            Snapshot(*pack_text(text), at=now) if text else None,
            rendered.items if is_page else None,
            is_page,
        )

    def given(
        self,
        job: RenderJob,
        rendered: Rendered,
        policy: PageSettings,
        now: Instant,
        looked: RenderedAssessment | None = None,
        changes: JsonObject | None = None,
        picture: KeptPicture | None = None,
    ) -> RenderCommit:
        """Conclude a rendering that received the page: each of its verdicts has its alert now (T57, T70).

        now      of the assessment: the time that a state is stored with
        looked   result of `look`, if it was called before
        changes  of the page's items, as the event shows them
        picture  of the page, whose file is kept by now
        Raises FetchRefused (too-complex).
        """
        if job.copy_url is not None:
            return self._copied(job, rendered, now)
        task = job.task
        assessment, text, items, is_page = looked = looked or self.look(job, rendered, policy, now)
        found = _find(job, rendered, looked, policy, now, keeps_texts=self._keeps_texts)
        row = self._row(rendered, rendered.kind, same_state=found.same, picture=picture)
        alerts = self._alerts_of(job, row, found.rendered, changes)
        if job.owed:
            # The state and items of the rendering are told once: by the last verdict's alert, if there is one.
            told = (None, None) if job.verdicts else (found.rendered, changes)
            alerts.append(
                self._alerts.recovered_event(task, task.order.question_id, now, row, rendered=told[0], items=told[1])
            )
        return RenderCommit(
            page_id=job.page_id,
            host_id=task.host_id,
            rendering=row,
            served=tuple(verdict.id for verdict in job.verdicts),
            alerts=tuple(alerts),
            set_at=rendered.started_at,
            state=found.state,
            prune=True,
            recovered=job.owed,
            flags=_flags_of(assessment, task) if found.state is not None else None,
            copies=_copies_of(task.url, rendered) if is_page else None,
            known=found.known,
            snapshot=text or (to_keep(assessment.directives, found.snapshot) if found.state is not None else None),
            items=items,
            changes=changes,
        )

    def failed(
        self, job: RenderJob, attempts: Sequence[Attempt], error: FetchError, kind: str = "http"
    ) -> RenderCommit:
        """Conclude a rendering that failed: the alerts say so, nothing is pruned, and it stays owed (T60).

        attempts  every set of requests that was made, the last one included
        kind      of the rendering; so below
        """
        # A failing copy gathers in a question of its own.
        cause = cause_of(error) if job.copy_url is None else f"{COPY} {cause_of(error)}"
        failure = Failure(cause, tuple(attempts), "rendering")
        return self._withheld(job, attempts[0].at, (error.kind, error.status, error.detail), failure, kind)

    def disallowed(self, job: RenderJob, now: Instant, why: str, kind: str = "http") -> RenderCommit:
        """Conclude a rendering that robots.txt forbids, so that it stays owed."""
        # The page's own check tells of it. For a copy there is no such check, so the user is asked again.
        failure = Failure("disallowed", (), "rendering", silent=True)
        if job.copy_url is not None:
            failure = Failure(f"{COPY} disallowed", (Attempt(now, "disallowed", None, why, 0),), "rendering")
        return self._withheld(job, now, ("disallowed", None, why), failure, kind)

    def declined(self, job: RenderJob, now: Instant, kind: str = "http") -> RenderCommit:
        """Conclude the rendering of a page that was turned off meanwhile, without a request (T62)."""
        # A silent failure: the rendering stays owed until a check receives the page.
        why = ("skipped", None, "the page was turned off before it was rendered")
        return self._withheld(job, now, why, Failure("off", (), "rendering", silent=True), kind)

    def _copied(self, job: RenderJob, rendered: Rendered, now: Instant) -> RenderCommit:
        """Conclude the rendering of a copy: it is told, but is no state of the page, so nothing is stored or pruned."""
        task = job.task
        row = self._row(rendered, COPY, same_state=None)
        return RenderCommit(
            page_id=job.page_id,
            host_id=task.host_id,
            rendering=row,
            served=(),
            alerts=(self._alerts.recovered_event(task, task.order.question_id, now, row),),
            set_at=None,
            recovered=True,
        )

    def _withheld(
        self,
        job: RenderJob,
        started_at: Instant,
        error: tuple[str, int | None, str],
        failure: Failure,
        kind: str,
    ) -> RenderCommit:
        row = RenderingRow(
            kind=kind if job.copy_url is None else COPY,
            started_at=started_at,
            received=None,
            status=error[1],
            final_url=None,
            content_type=None,
            title=None,
            bytes=None,
            digest=None,
            same_state=None,
            error=error,
        )
        is_copy = job.copy_url is not None
        return RenderCommit(
            page_id=job.page_id,
            host_id=job.task.host_id,
            rendering=row,
            served=() if is_copy else tuple(verdict.id for verdict in job.verdicts),
            alerts=() if is_copy else tuple(self._alerts_of(job, row, None)),
            set_at=None,
            failure=failure,
        )

    def _alerts_of(
        self, job: RenderJob, row: RenderingRow, rendered: JsonObject | None, items: JsonObject | None = None
    ) -> list[AlertDraft]:
        """Write an alert for each verdict; the last one also tells what the rendering stored."""
        last = len(job.verdicts) - 1
        return [
            self._alerts.changed_event(job.task, verdict, row, *((rendered, items) if place == last else ()))
            for place, verdict in enumerate(job.verdicts)
        ]

    def _row(
        self, rendered: Rendered, kind: str, *, same_state: bool | None, picture: KeptPicture | None = None
    ) -> RenderingRow:
        return RenderingRow(
            kind=kind,
            started_at=rendered.started_at,
            received=rendered.received_at,
            status=rendered.status,
            final_url=rendered.final_url,
            content_type=rendered.content_type,
            title=rendered.title,
            bytes=len(rendered.body),
            digest=f"sha256:{sha256(rendered.body).hexdigest()}",
            same_state=same_state,
            error=None,
            picture=picture,
        )


def takes_text(task: PageTask, policy: PageSettings) -> bool:
    """Tell whether a page's text is read at its renderings, since its checks do not read it."""
    return wants_signals(policy) and task.state is not None and not is_read_for_signals(policy, task.state.fields)


def _copies_of(url: str, rendered: Rendered) -> tuple[CopyLink, ...]:
    return find_copies(url, rendered.final_url, rendered.body, rendered.content_type, rendered.headers)


def _flags_of(assessment: Assessment, task: PageTask) -> PageFlags:
    said = assessment.directives
    noindex, nofollow = (task.flags.noindex, task.flags.nofollow) if said is None else (not said.index, not said.follow)
    return PageFlags(noindex=noindex, nofollow=nofollow, not_html=not assessment.is_html)


def _find(
    job: RenderJob,
    rendered: Rendered,
    looked: RenderedAssessment,
    policy: PageSettings,
    now: Instant,
    *,
    keeps_texts: bool,
) -> RenderedState:
    """Decide what becomes of the state that a rendering found (T20, T21)."""
    assessment = looked.assessment
    task, before, latest = job.task, job.task.state, assessment.state
    same = before is not None and before.fields == latest.values
    gap_us = round(policy.min_gap.total_seconds() * 1_000_000)
    was_subject = before is not None and PageState(before.fields).is_subject
    if (
        (task.last.set_at is not None and rendered.started_at - task.last.set_at <= gap_us)
        or not is_stored(Mode(policy.mode), answer_subject=latest.is_subject, latest_subject=was_subject)
        # The next check tells of a suspect; here it must not be compared silently.
        or not looked.is_page
        # Scripts made another document than the one that checks compare.
        or (rendered.kind == "browser" and policy.fetch != "browser")
    ):
        return RenderedState(same, None, None)
    stored_at = max(now, before.last_at) if before is not None else now
    comparison = decide(before, latest, stored_at, policy)
    if comparison.outcome is Outcome.TOO_SOON:
        return RenderedState(same, None, None)
    etag, modified = rendered.validators
    validators = Validators(etag, modified, rendered.hop_url) if etag or modified else None
    followed = NO_SIGNALS
    if assessment.readings is not None:
        keeps = keeps_texts and may_keep(assessment.directives)
        followed = weigh_signals(
            task, policy, latest, assessment.readings, assessment.change, stored_at, may_keep=keeps
        )
    if same and followed.known is not None and (followed.weighed is None or followed.weighed.rule is not None):
        # This content was not told: without validators and digest, the next check reads it and tells.
        return RenderedState(same, NewState(stored_at, latest.values, same, None, None, rendered.wire_bytes), None)
    state = NewState(stored_at, latest.values, same, validators, assessment.digest or None, rendered.wire_bytes)
    if same or before is None:
        return RenderedState(same, state, None)
    shown = rendered_data(comparison, before=before.fields, latest=latest.values, stored_at=stored_at)
    return RenderedState(same, state, shown, followed.known, followed.snapshot)
