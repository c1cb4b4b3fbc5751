"""Actions on questions, standing answers, storms, alerts and channels, shared by web pages and API; audited."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from tocsin.configuration import parse_span
from tocsin.errors import DeliveryError, UsageError
from tocsin.model import EPOCH, AlertQuery, Instant, Instruction, JobRow, JsonObject, KnownCopy, PageRow, QuestionRow
from tocsin.server.access.auditing import audit
from tocsin.server.actions import Act
from tocsin.server.jobs import Job, Progress
from tocsin.server.parts import Caller, Parts
from tocsin.server.problems import Problem

# Future times as users write them. Pure.


_MICROSECOND: Final = timedelta(microseconds=1)
_FURTHEST: Final = timedelta(days=3650)


def read_moment(text: str, now: Instant, zone: tzinfo | None = None) -> Instant:
    """Parse a future time: "2026-01-31T18:00", or "6h" from now.

    zone  of times without an offset; None: the offset is required
    Raises ValueError, whose text names the mend.
    """
    at = _after(text, now)
    if at is None:
        at = _on(text, zone)
    if at is None:
        example = "2026-01-31 18:00" if zone is not None else "2026-01-31T17:00:00Z"
        raise ValueError(f'this is no time: write one such as "{example}", or "6h" for six hours from now')
    if at < now:
        raise ValueError("this time has passed; name one to come")
    if at > now + _FURTHEST // _MICROSECOND:
        raise ValueError(f"this is too far; name a time within {_FURTHEST.days:,} days")
    return at


def _after(text: str, now: Instant) -> Instant | None:
    try:
        return now + parse_span(text) // _MICROSECOND
    except ValueError:
        return None


def _on(text: str, zone: tzinfo | None) -> Instant | None:
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is None and zone is None:
            return None
        there = read if read.tzinfo is not None else read.replace(tzinfo=zone)
        return (there.astimezone(UTC) - EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None


STAYING: Final = ("never", "until-major")  # Instructions that are kept as standing answers.


async def answer_question(
    parts: Parts, act: Act, question_id: int, instruction: Instruction, *, scope: str | None, url: str | None
) -> Job:
    """Apply an instruction (T60) to the pages of a question, or to one of them.

    scope  of a standing answer; None: the page if one is named, else its host and cause
    Raises Problem and UsageError for values that contradict each other.
    """
    question = await _open_question(parts, question_id, url)
    if scope is not None and instruction.kind not in STAYING:
        raise UsageError(f"scope belongs to never and until-major, not to {instruction.kind}")
    if url is not None and scope not in (None, "page"):
        raise UsageError(f"url means one page, scope {scope} more; leave one of them out")
    if instruction.kind == "copy" and url is None and question.pages > 1:
        url = await _page_of_copy(parts, question_id, instruction.copy_url)
    chosen = scope or ("page" if url is not None else "host-cause")
    total = 1 if url is not None else question.pages

    async def work(progress: Progress) -> JsonObject:
        pages = await parts.store.answer(
            question_id, instruction, scope=chosen, url=url, now=parts.clock.now(), on_step=progress.advance
        )
        await audit(
            parts, act.caller, "question.answer", question=str(question_id), instruction=instruction.kind, pages=pages
        )
        return {"pages": pages}

    return await act.jobs.start("question.answer", act.caller.who, work, total=total)


async def lift_standing_answer(parts: Parts, act: Act, answer_id: int) -> Job:
    """Remove a standing answer; its pages are due again."""
    if await parts.store.standing_answer(answer_id) is None:
        raise missing("standing-answer", answer_id, "GET /api/v1/standing-answers")

    async def work(progress: Progress) -> JsonObject:
        pages = await parts.store.lift_standing_answer(answer_id, parts.clock.now(), on_step=progress.advance)
        await audit(parts, act.caller, "standing-answer.lift", answer=str(answer_id), pages=pages)
        return {"pages": pages}

    return await act.jobs.start("standing-answer.lift", act.caller.who, work)


async def release_storm(parts: Parts, act: Act, storm_id: int) -> Job:
    """Send the withheld alerts of a storm, one per page."""
    if await parts.store.storm(storm_id) is None:
        raise missing("storm", storm_id, "GET /api/v1/storms")
    withheld = await parts.store.count_withheld(storm_id)

    async def work(progress: Progress) -> JsonObject:
        pages = await parts.store.release_storm(storm_id, parts.clock.now(), on_step=progress.advance)
        await audit(parts, act.caller, "storm.release", storm=str(storm_id), pages=pages)
        return {"pages": pages}

    return await act.jobs.start("storm.release", act.caller.who, work, total=withheld)


async def redeliver(parts: Parts, act: Act, alert_id: str, *, channel: str | None) -> int:
    """Queue the deliveries of an alert again, accepted ones too; returns their number."""
    _demand_channel(parts, channel)
    if await parts.store.alert(alert_id) is None:
        raise missing("alert", alert_id, "GET /api/v1/alerts")
    deliveries = await parts.store.replay(alert_id, channel=channel, now=parts.clock.now())
    await audit(parts, act.caller, "alert.redeliver", alert=alert_id, channel=channel, deliveries=deliveries)
    return deliveries


async def redeliver_dead(parts: Parts, act: Act, *, channel: str | None) -> Job:
    """Queue dead letters again, of this channel or of all."""
    _demand_channel(parts, channel)
    total = await parts.store.count_dead(channel)

    async def work(progress: Progress) -> JsonObject:
        now = parts.clock.now()
        deliveries = await parts.store.replay_dead(channel=channel, now=now, on_step=progress.advance)
        await audit(parts, act.caller, "alerts.redeliver-dead", channel=channel, deliveries=deliveries)
        return {"deliveries": deliveries}

    return await act.jobs.start("alerts.redeliver-dead", act.caller.who, work, total=total)


async def try_channel(parts: Parts, caller: Caller, name: str) -> None:
    """Send a test event to a channel; success enables a disabled channel.

    Raises Problem for an unknown channel; DeliveryError and UsageError where the test fails.
    """
    if name not in parts.service.settings().channels:
        raise missing("channel", name, "GET /api/v1/channels")
    try:
        await parts.service.try_channel(name)
    except (DeliveryError, UsageError):
        await audit(parts, caller, "channel.test", channel=name, accepted=False)
        raise
    await audit(parts, caller, "channel.test", channel=name, accepted=True)


async def cancel_job(parts: Parts, act: Act, job_id: str) -> JobRow:
    """Cancel a job; a job that has ended is left as it is. Raises Problem for an unknown one."""
    before = await act.jobs.find(job_id)
    row = await act.jobs.cancel(job_id)
    if before is None or row is None:
        raise missing("job", job_id, "GET /api/v1/jobs")
    if before.state == "running":
        await audit(parts, act.caller, "job.cancel", job=job_id)
    return row


async def mark_seen(parts: Parts, act: Act, alert_ids: Sequence[str], *, seen: bool) -> int:
    """Mark alerts as seen or unseen; returns the number changed."""
    changed = await parts.store.mark_seen(alert_ids, parts.clock.now(), seen=seen)
    await audit(parts, act.caller, "alerts.seen", alerts=changed, seen=seen)
    return changed


async def mark_all_seen(parts: Parts, act: Act, query: AlertQuery, *, up_to: int) -> Job:
    """Mark the alerts of a list up to this position as seen."""

    async def work(progress: Progress) -> JsonObject:
        changed = await parts.store.mark_all_seen(query, parts.clock.now(), up_to=up_to)
        progress.advance(changed)
        await audit(parts, act.caller, "alerts.seen", alerts=changed, seen=True)
        return {"alerts": changed}

    return await act.jobs.start("alerts.seen", act.caller.who, work)


def missing(what: str, name: object, see: str) -> Problem:
    """Make the 404 of an unknown thing; `see` names where there are others, and why it may be gone."""
    words = what.replace("-", " ")
    return Problem(404, f"no-such-{what}", f"There is no such {words}", f"{words} {str(name)[:80]}", mend=f"see {see}")


def not_watched(page_id: int) -> Problem:
    """Make the 404 of a page that is not watched."""
    return Problem(
        404,
        "not-watched",
        "This page is not watched",
        f"page {page_id} was taken off the list, or never was on it",
        mend="look for it in the list: at / or with GET /api/v1/pages",
    )


async def demand_page(parts: Parts, page_id: int) -> PageRow:
    """Return a page. Raises Problem where it is not watched."""
    page = await parts.store.page_by_id(page_id)
    if page is None:
        raise not_watched(page_id)
    return page


async def _open_question(parts: Parts, question_id: int, url: str | None) -> QuestionRow:
    question = await parts.store.question(question_id)
    if question is None:
        raise missing("question", question_id, "GET /api/v1/questions")
    if question.times.closed_at is not None:
        raise Problem(
            409,
            "closed",
            "The question is closed",
            f"question {question_id} was answered, or has ended by itself",
            mend="see GET /api/v1/questions for those that are open",
        )
    page = await parts.store.page(url) if url is not None else None
    if url is not None and (page is None or page.question_id != question_id):
        raise UsageError(f"{url[:200]}: not among the pages of question {question_id}; leave url out, or mend it")
    return question


async def _page_of_copy(parts: Parts, question_id: int, copy_url: str | None) -> str | None:
    """Return the page of a question that this is a copy of, if there is only one candidate."""
    copies: Sequence[KnownCopy] = await parts.store.question_copies(question_id)
    of = {copy.of for copy in copies if copy.url == copy_url}
    if len(of) == 1:
        return of.pop()
    raise UsageError("one copy cannot stand for many pages; name in url the page that it is a copy of")


def _demand_channel(parts: Parts, channel: str | None) -> None:
    channels = parts.service.settings().channels
    if channel is not None and channel not in channels:
        known = ", ".join(sorted(channels)) or "none is configured"
        raise UsageError(f"channel {channel[:80]}: there is no such channel ({known})")
