"""Alerts, channels, storms and questions, as surfaces show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from tocsin.configuration.loading import shown_address
from tocsin.configuration.saved import shown_section
from tocsin.model.alerts import AlertRow, ChannelState, QuestionRow, StandingAnswerRow, StormRow, StormVerdict
from tocsin.model.common import Attempt, to_rfc3339
from tocsin.model.knowledge import KnownCopy
from tocsin.model.records.fields import Id, Json, Number, Record, Time, Ulid, id_or_none, time_or_none
from tocsin.model.records.pages import Copy, copies_of
from tocsin.model.saved import ChannelMute
from tocsin.settings import ChannelSettings, unread_in


class DeliveryStatus(Record, frozen=True):
    """The delivery of an alert to one channel."""

    channel: Annotated[str, Meta(description="its name")]
    state: Annotated[str, Meta(description="waiting, gathered (in a digest), silenced, accepted or dead")]
    tries: Annotated[int, Meta(description="that were made")]
    error: Annotated[str | None, Meta(title="Last error", description="of the last try")]
    digest: Annotated[Id | None, Meta(description="number of the digest that it is in")] = None
    due_at: Annotated[Time | None, Meta(title="Due", description="when that digest is, or was, due")] = None
    at: Annotated[Time | None, Meta(title="Last try", description="when it was last tried")] = None
    silence: Annotated[Id | None, Meta(description="number of the silence that holds it back")] = None


class Alert(Record, frozen=True):
    """The message about a change or a failure, and its deliveries."""

    id: Ulid
    position: Annotated[int, Meta(description="grows with each alert")]
    type: Annotated[str, Meta(examples=["tocsin.page.changed.v1"])]
    page: Annotated[Id | None, Meta(description="null: it is not about a single page")]
    url: Annotated[str | None, Meta(description="of the page")]
    at: Annotated[Time, Meta(description="when it was decided")]
    outcome: Annotated[str | None, Meta(description="of the change: major or minor")]
    seen_at: Annotated[Time | None, Meta(description="when you marked it as seen")]
    deliveries: Annotated[list[DeliveryStatus], Meta(description="one for each channel")]
    event: Annotated[Json, Meta(description="the CloudEvent, as channels receive it")]


def _statuses(row: AlertRow) -> Iterator[DeliveryStatus]:
    for channel, state, tries, error, at in row.deliveries:
        yield DeliveryStatus(channel=channel, state=state, tries=tries, error=error, at=time_or_none(at))
    for each in row.bundled:
        yield DeliveryStatus(
            channel=each.channel,
            state=each.state,
            tries=each.tries,
            error=each.error,
            digest=str(each.bundle),
            due_at=to_rfc3339(each.due_at),
            at=time_or_none(each.at),
        )
    for channel, silence in row.silenced:
        yield DeliveryStatus(channel=channel, state="silenced", tries=0, error=None, silence=str(silence))


def alert_of(row: AlertRow) -> Alert:
    """Show an alert."""
    return Alert(
        id=row.id,
        position=row.position,
        type=row.type,
        page=id_or_none(row.page_id),
        url=row.url,
        at=to_rfc3339(row.created_at),
        outcome=(row.event.get("data") or {}).get("outcome"),
        seen_at=time_or_none(row.seen_at),
        deliveries=[*_statuses(row)],
        event=row.event,
    )


class ConfiguredChannel(Record, frozen=True):
    """Where alerts go."""

    name: Annotated[str, Meta(title="Channel", description="its key in the configuration")]
    type: Annotated[str, Meta(examples=["webhook"])]
    to: Annotated[str, Meta(description="where it leads: the path of a file; of a URL the scheme and host")]
    state: Annotated[
        Literal["ok", "failing", "disabled", "muted", "unreadable"],
        Meta(description="disabled: nothing until a test succeeds; unreadable: a secret or setting cannot be read"),
    ]
    since: Annotated[Time | None, Meta(description="of the first failure in a row, or of the mute")]
    accepted: Annotated[Number, Meta(description="alerts that it accepted")]
    accepted_at: Annotated[Time | None, Meta(title="Last accepted", description="when it accepted the newest of these")]
    waiting: Annotated[Number, Meta(description="alerts that it is still to be given")]
    gathered: Annotated[Number, Meta(description="alerts that wait in digests")]
    dead: Annotated[Number, Meta(description="alerts that were given up")]
    failures: Annotated[Number, Meta(description="failed tries in a row")]
    disabled: Annotated[bool, Meta(description="it is given nothing until a test succeeds")]
    next_try: Annotated[Time | None, Meta(description="when it is tried again after failures")]
    error: Annotated[str | None, Meta(description="why it failed last, or refuses alerts")]
    mend: Annotated[str | None, Meta(description="what to do about it")]
    muted_until: Annotated[Time | None, Meta(description="its alerts wait until then; null: until you unmute it")]
    muted_by: Annotated[str | None, Meta(description="who muted it: a token, or `command line`")]
    source: Annotated[
        Literal["configuration", "saved"], Meta(description="saved: it was made at run time, and can be edited")
    ]
    settings: Annotated[Json, Meta(description="that differ from the default; secrets are masked")]


_MENDS: Final = {
    "failing": "its alerts wait and are tried again; a test tries it now",
    "disabled": "correct its settings or its receiver, then send a test: that enables it",
    "muted": "unmute it, and its alerts are sent",
}


def channel_of(
    state: ChannelState, settings: ChannelSettings, *, is_saved: bool = False, mute: ChannelMute | None = None
) -> ConfiguredChannel:
    """Show a channel; secrets are masked."""
    why = unread_in(settings)
    shown: Literal["ok", "failing", "disabled", "muted", "unreadable"] = "failing" if state.failures else "ok"
    if why is not None:
        shown = "unreadable"
    elif mute is not None:
        shown = "muted"
    elif state.disabled:
        shown = "disabled"
    return ConfiguredChannel(
        name=state.name,
        type=settings.type,
        to=shown_address(settings),
        state=shown,
        since=time_or_none(mute.at if mute is not None else state.since),
        accepted=state.accepted,
        accepted_at=time_or_none(state.accepted_at),
        waiting=state.waiting,
        gathered=state.gathered,
        dead=state.dead,
        failures=state.failures,
        disabled=state.disabled,
        next_try=time_or_none(state.next_at),
        error=state.error,
        mend=_MENDS.get(shown) if why is None else why.rpartition("; ")[2],
        muted_until=time_or_none(mute.until_at if mute is not None else None),
        muted_by=mute.who if mute is not None else None,
        source="saved" if is_saved else "configuration",
        settings=shown_section(state.name, settings),
    )


class SettingField(Record, frozen=True):
    """A key of a type of channels."""

    key: Annotated[str, Meta(description="as in the configuration")]
    hint: Annotated[str, Meta(description="what it means")]
    kind: Annotated[str, Meta(description="text, secret, truth, choice, list or table")]
    choices: Annotated[list[str], Meta(description="allowed values, where there are only these")]
    default: Annotated[str, Meta(description="as it is written")]


class TypeOfChannels(Record, frozen=True):
    """A type of channels and its keys."""

    type: Annotated[str, Meta(description="its name")]
    fields: Annotated[list[SettingField], Meta(description="without files of the machine, which only a command sets")]
    schema: Annotated[Json, Meta(description="the JSON Schema of `[channels.NAME]` in the configuration")]


class Storm(Record, frozen=True):
    """One change that many pages of a host had in common."""

    id: Id
    host: Annotated[str, Meta(description="of the pages")]
    pages: Annotated[Number, Meta(description="that had the change so far")]
    sample: Annotated[list[str], Meta(description="URLs of the first pages, at most ten")]
    outcome: Annotated[str, Meta(description="minor or major")]
    basis: Annotated[str, Meta(description="declared, inferred or contradicted")]
    excerpt: Annotated[Json | None, Meta(description="what changed: `removed` and `added`")]
    first_at: Annotated[Time, Meta(description="of its first verdict")]
    latest_at: Annotated[Time, Meta(description="of its latest verdict")]
    told_at: Annotated[Time | None, Meta(description="when its alert was written")]
    released_at: Annotated[Time | None, Meta(description="when you asked for an alert of each page after all")]


def storm_of(row: StormRow) -> Storm:
    """Show a storm."""
    return Storm(
        id=str(row.id),
        host=row.host,
        pages=row.pages,
        sample=list(row.sample),
        outcome=row.outcome,
        basis=row.basis,
        excerpt=row.excerpt,
        first_at=to_rfc3339(row.first_at),
        latest_at=to_rfc3339(row.latest_at),
        told_at=time_or_none(row.announced_at),
        released_at=time_or_none(row.released_at),
    )


class StormPage(Record, frozen=True):
    """The verdict on one page of a storm."""

    storm: Id
    page: Id
    url: Annotated[str, Meta(description="of the page")]
    verdict: Id
    at: Time
    outcome: Annotated[str, Meta(description="minor or major")]
    alert: Annotated[str | None, Meta(description="the alert that the page was given all the same")]
    withheld: Annotated[bool, Meta(description="no alert of its own is due")]


def storm_page_of(storm_id: int, row: StormVerdict) -> StormPage:
    """Show a page of a storm."""
    return StormPage(
        storm=str(storm_id),
        page=str(row.page_id),
        url=row.url,
        verdict=str(row.id),
        at=to_rfc3339(row.at),
        outcome=row.outcome,
        alert=row.alert_id,
        withheld=row.withheld,
    )


class FailedAttempt(Record, frozen=True):
    """One set of requests that did not bring the page."""

    at: Annotated[Time, Meta(title="When")]
    kind: Annotated[str, Meta(title="Cause", examples=["timeout"])]
    status: Annotated[int | None, Meta(description="of the HTTP answer")]
    message: Annotated[str, Meta(description="the cause, in words")]
    elapsed_ms: Annotated[int, Meta(title="Duration", description="duration in milliseconds")]


def attempt_of(attempt: Attempt) -> FailedAttempt:
    """Show a set of requests that failed."""
    return FailedAttempt(
        at=to_rfc3339(attempt.at),
        kind=attempt.kind,
        status=attempt.status,
        message=attempt.message,
        elapsed_ms=attempt.elapsed_ms,
    )


class Question(Record, frozen=True):
    """Pages of one host that could not be received for one cause."""

    id: Id
    host: Annotated[str, Meta(description="of the pages")]
    cause: Annotated[str, Meta(examples=["timeout", "status 404"])]
    during: Annotated[str, Meta(description="check or rendering")]
    pages: Annotated[Number, Meta(description="that it is about")]
    sample: Annotated[list[str], Meta(description="URLs of some of its pages")]
    opened_at: Annotated[Time, Meta(description="of the first failure")]
    asked_at: Annotated[Time | None, Meta(description="when you were asked; null: failures are being gathered")]
    answered_at: Annotated[Time | None, Meta(description="when you answered it")]
    closed_at: Annotated[Time | None, Meta(description="when it was answered in full, or ended by itself")]
    instruction: Annotated[str | None, Meta(description="the answer: again, never, until-major, drop or copy")]
    attempts: Annotated[list[FailedAttempt], Meta(description="of the page that failed first")]
    last_received_at: Annotated[Time | None, Meta(description="when that page was last received")]
    next_occasion: Annotated[Time | None, Meta(description="when it is tried without an answer (T61)")]
    pending_change: Annotated[Json | None, Meta(description="a change that was found and could not be rendered")]
    copies: Annotated[list[Copy], Meta(description="that can be received instead of the page")]


class WholeQuestion(Question, frozen=True):
    """A question with its pages and the copies of all of them."""

    urls: Annotated[list[str], Meta(description="of its pages, at most 1,000")]


def question_of(row: QuestionRow) -> Question:
    """Show a question, with copies of its first page."""
    return Question(**_values_of(row, row.copies))


def whole_question(row: QuestionRow, urls: Sequence[str], copies: Sequence[KnownCopy]) -> WholeQuestion:
    """Show a question with its pages, and the copies of all of them."""
    return WholeQuestion(**_values_of(row, copies), urls=list(urls))


def _values_of(row: QuestionRow, copies: Sequence[KnownCopy]) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "host": row.host,
        "cause": row.cause,
        "during": row.during,
        "pages": row.pages,
        "sample": list(row.sample),
        "opened_at": to_rfc3339(row.times.opened_at),
        "asked_at": time_or_none(row.times.announced_at),
        "answered_at": time_or_none(row.times.answered_at),
        "closed_at": time_or_none(row.times.closed_at),
        "instruction": None if row.instruction is None else row.instruction.kind,
        "attempts": [attempt_of(attempt) for attempt in row.attempts],
        "last_received_at": time_or_none(row.last_received),
        "next_occasion": time_or_none(row.next_occasion),
        "pending_change": row.pending_change,
        "copies": copies_of(copies),
    }


class StandingAnswer(Record, frozen=True):
    """An answer that is kept: `never` or `until-major`."""

    id: Id
    instruction: Annotated[Literal["never", "until-major"], Meta(title="Answer", description="the answer")]
    scope: Annotated[Literal["page", "host-cause", "host", "cause"], Meta(title="For", description="what it holds for")]
    url: Annotated[str | None, Meta(description="of the page, with scope page")]
    host: Annotated[str | None, Meta(description="with scope host or host-cause")]
    cause: Annotated[str | None, Meta(description="with scope cause or host-cause")]
    since: Annotated[Time, Meta(description="when it was given")]


def standing_answer_of(row: StandingAnswerRow) -> StandingAnswer:
    """Show a standing answer."""
    return StandingAnswer(
        id=str(row.id),
        instruction="never" if row.instruction.kind == "never" else "until-major",
        scope=row.scope,
        url=row.page_url,
        host=row.host,
        cause=row.cause,
        since=to_rfc3339(row.created_at),
    )
