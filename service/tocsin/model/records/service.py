"""The service: jobs, groups, settings, tokens, the audit log and what it does now, as surfaces show them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec import field as named

from tocsin.configuration.loading import mask_settings
from tocsin.model.access import AuditEntry, JobRow, TokenRow
from tocsin.model.browsing import ActivityRow, BoundedCount, GroupRow
from tocsin.model.common import Instant, to_rfc3339
from tocsin.model.live import FetcherLife, LiveState
from tocsin.model.records.fields import Id, Json, Number, Record, Time, Ulid, time_or_none
from tocsin.settings import Scope


class JobStatus(Record, frozen=True):
    """Work that goes on after its request was answered."""

    id: Ulid
    kind: Annotated[str, Meta(title="What", examples=["pages.import"])]
    who: Annotated[str, Meta(title="By", description="name of the token that asked for it")]
    state: Annotated[str, Meta(description="running, done, failed, cancelled or interrupted")]
    done: Annotated[Number, Meta(description="steps, such as pages, that are done")]
    total: Annotated[int | None, Meta(description="steps in all, as far as it is known")]
    started_at: Time
    ended_at: Annotated[Time | None, Meta(description="null: it is running")]
    result: Annotated[Json | None, Meta(description="as the operation that started it says")]
    error: Annotated[str | None, Meta(description="why it failed, or ended early")]
    node: Annotated[str, Meta(description="node that runs it, or ran it")]


def job_of(row: JobRow) -> JobStatus:
    """Show a job."""
    return JobStatus(
        id=row.id,
        kind=row.kind,
        who=row.who,
        state=row.state,
        done=row.done,
        total=row.total,
        started_at=to_rfc3339(row.started_at),
        ended_at=time_or_none(row.ended_at),
        result=row.result,
        error=row.error,
        node=row.node,
    )


class ImportCounts(Record, frozen=True):
    """What became of the lines of a list."""

    taken: Annotated[bool, Meta(description="false: nothing was imported (a dry run, or strict with invalid lines)")]
    added: Annotated[Number, Meta(description="pages that were added, or would be")]
    known: Annotated[Number, Meta(description="pages that are watched already, or twice in the list")]
    refused: Annotated[Number, Meta(description="invalid lines")]
    sitemaps: Annotated[Number, Meta(description="sitemaps that were read, or that the list names")]


class ImportedFile(ImportCounts, frozen=True):
    """What became of a list that the command line imported; invalid lines are on standard error."""

    file: Annotated[str, Meta(description="its name or URL, as it was given")]


class ImportedList(ImportCounts, frozen=True):
    """What became of a list that was sent: the result of its job."""

    lines: Annotated[list[str], Meta(description="the first invalid lines, at most 100, each with its number")]


class PageGroup(Record, frozen=True):
    """A group of pages."""

    name: Annotated[str, Meta(title="Group", description="of the group")]
    pages: Annotated[Number, Meta(description="that are in it")]
    settings: Annotated[Json, Meta(description="set for it; secrets are masked")]


def group_of(row: GroupRow) -> PageGroup:
    """Show a group; secrets are masked."""
    return PageGroup(name=row.name, pages=row.pages, settings=mask_settings(row.settings))


class SettingsForAll(Record, frozen=True):
    """What is set for all pages."""

    settings: Annotated[Json, Meta(description="secrets are masked", examples=[{"mode": "on"}])]


class Setting(Record, frozen=True):
    """One setting as it is in force."""

    key: Annotated[str, Meta(examples=["pages.every"])]
    value: Annotated[Any, Meta(description="secrets are masked", examples=["24h"])]
    origin: Annotated[str, Meta(title="From", description="a file, a variable, an option, the store, or default")]


class Token(Record, frozen=True):
    """A token as listed; only a digest of its secret is kept."""

    id: Id
    name: Annotated[str, Meta(description="as you chose it")]
    scope: Annotated[Scope, Meta(description="read, write or admin")]
    state: Annotated[Literal["in force", "expired", "revoked"], Meta(description="whether it is accepted")]
    declared: Annotated[bool, Meta(description="the configuration declares it, and revokes it")]
    created_at: Time
    expires_at: Annotated[Time | None, Meta(title="Expires", description="null: never")]
    last_used_at: Annotated[Time | None, Meta(description="null: never")]
    revoked_at: Annotated[Time | None, Meta(description="null: not revoked")]


class NewToken(Token, frozen=True):
    """A token that was just made."""

    token: Annotated[str, Meta(description="the secret; it is shown this once")]


def token_of(row: TokenRow, now: Instant) -> Token:
    """Show a token."""
    return Token(**_token_values(row, now))


def new_token_of(row: TokenRow, now: Instant, secret: str) -> NewToken:
    """Show a token that was just made, with its secret."""
    return NewToken(**_token_values(row, now), token=secret)


def _token_values(row: TokenRow, now: Instant) -> dict[str, Any]:
    state = "revoked" if row.revoked_at is not None else "in force" if row.is_in_force(now) else "expired"
    return {
        "id": str(row.id),
        "name": row.name,
        "scope": row.scope,
        "state": state,
        "declared": row.is_declared,
        "created_at": to_rfc3339(row.created_at),
        "expires_at": time_or_none(row.expires_at),
        "last_used_at": time_or_none(row.last_used_at),
        "revoked_at": time_or_none(row.revoked_at),
    }


class AuditLine(Record, frozen=True):
    """A change that a user or a program made."""

    id: Id
    at: Annotated[Time, Meta(title="When")]
    who: Annotated[str, Meta(description="name of the token")]
    what: Annotated[str, Meta(examples=["pages.remove"])]
    verb: Annotated[str, Meta(description="what was done", examples=["remove"])]
    object: Annotated[str, Meta(description="the kind of thing that it was done to", examples=["page"])]
    object_id: Annotated[str | None, Meta(description="its id or name; null: several, or none")]
    detail: Annotated[Json, Meta(description="what was changed, without secrets")]
    request_id: Annotated[str, Meta(description="names the request in the log")]


def audit_line_of(entry: AuditEntry) -> AuditLine:
    """Show an entry of the audit log."""
    kind, _, verb = entry.what.rpartition(".")
    # Of several things, the detail has their number.
    name = entry.detail.get("of") if kind == "settings" else None if kind.endswith("s") else entry.detail.get(kind)
    return AuditLine(
        id=str(entry.id),
        at=to_rfc3339(entry.at),
        who=entry.who,
        what=entry.what,
        verb=verb,
        object=kind,
        object_id=None if name is None else str(name),
        detail=entry.detail,
        request_id=entry.request_id,
    )


class About(Record, frozen=True):
    """The service that answers."""

    name: Annotated[str, Meta(description="instance.name, the `source` of its events")]
    version: Annotated[str, Meta(description="of Tocsin")]
    now: Annotated[Time, Meta(description="by its clock")]
    started_at: Time
    time_zone: Annotated[str, Meta(description="of the configuration")]
    who: Annotated[str, Meta(description="name of the token that asks")]
    scope: Annotated[Scope, Meta(description="of the token that asks")]


class FetcherProcess(Record, frozen=True):
    """A fetcher process; number 0 is the service's own process where that one fetches."""

    number: Annotated[int, Meta(title="Fetcher", description="from 0")]
    pid: Annotated[int | None, Meta(description="of the process")]
    ready: Annotated[bool, Meta(description="it takes pages")]
    in_flight: Annotated[Number, Meta(description="requests under way")]
    checks: Annotated[Number, Meta(description="since it was started")]
    restarts: Annotated[Number, Meta(description="how often it was replaced")]


class Live(Record, frozen=True):
    """What the service is doing at this moment."""

    in_flight: Annotated[Number, Meta(description="requests under way")]
    checks: Annotated[Number, Meta(description="since the start")]
    fetchers: Annotated[list[FetcherProcess], Meta(description="by number")]
    renders_limit: Annotated[int, Meta(description="renderings at one time, at most")]
    renders_resume_at: Annotated[int, Meta(description="renderings below which waiting pages are let in again")]
    rendering: Annotated[Number, Meta(description="pages that hold a slot")]
    waiting_renders: Annotated[BoundedCount, Meta(description="pages that wait for a slot")]
    open_questions: Annotated[BoundedCount, Meta(description="that wait for an answer")]
    outage_since: Annotated[Time | None, Meta(description="when our own connection was found down")]


def live_of(state: LiveState, waiting_renders: BoundedCount, open_questions: BoundedCount) -> Live:
    """Show what the service is doing."""
    return Live(
        in_flight=state.in_flight,
        checks=state.checks,
        fetchers=[_fetcher_of(fetcher) for fetcher in state.fetchers],
        renders_limit=state.renders.limit,
        renders_resume_at=state.renders.resume_at,
        rendering=state.renders.taken,
        waiting_renders=waiting_renders,
        open_questions=open_questions,
        outage_since=time_or_none(state.outage_since),
    )


def _fetcher_of(fetcher: FetcherLife) -> FetcherProcess:
    return FetcherProcess(
        number=fetcher.number,
        pid=fetcher.pid,
        ready=fetcher.is_ready,
        in_flight=fetcher.in_flight,
        checks=fetcher.checks,
        restarts=fetcher.restarts,
    )


class ActivitySpan(Record, frozen=True):
    """What happened within five minutes."""

    at: Annotated[Time, Meta(description="when the span began")]
    outcomes: Annotated[dict[str, int], Meta(description="checks by outcome")]
    alerts: Annotated[int, Meta(description="that were written")]
    rendered: Annotated[int, Meta(description="pages received whole")]
    wire_bytes: Annotated[int, Meta(description="bytes received")]
    saved_bytes: Annotated[int, Meta(description="bytes that servers did not have to send again (304)")]
    delays: Annotated[
        dict[str, int],
        Meta(description='checks by upper bound of their delay, in milliseconds; `""`: more than two hours'),
    ]
    delivered: Annotated[int, Meta(description="alerts that channels accepted, once for each channel")]
    late: Annotated[int, Meta(description="of these, accepted more than 10 s after they were due")]


def activity_of(row: ActivityRow) -> ActivitySpan:
    """Show a span of activity."""
    return ActivitySpan(
        at=to_rfc3339(row.at),
        outcomes=row.outcomes,
        alerts=row.alerts,
        rendered=row.rendered,
        wire_bytes=row.wire_bytes,
        saved_bytes=row.saved_bytes,
        delays=row.delays,
        delivered=row.delivered,
        late=row.late,
    )


class InvalidValue(Record, frozen=True):
    """One value of a request that is not as described."""

    in_: Annotated[str, Meta(examples=["body"])] = named(name="in")
    field: Annotated[str, Meta(examples=["settings.every"])]
    message: Annotated[str, Meta(description="why it is invalid")]


class ProblemDetails(Struct, frozen=True):
    """Why a request was refused, and the mend (RFC 9457)."""

    type: Annotated[str, Meta(description="a stable name of the kind of problem")]
    title: str
    status: Annotated[int, Meta(ge=400, le=599)]
    request_id: Annotated[str, Meta(description="names this request in the log")]
    detail: Annotated[str, Meta(description="what went wrong")] | UnsetType = UNSET
    mend: Annotated[str, Meta(description="what to do about it")] | UnsetType = UNSET
    errors: Annotated[list[InvalidValue], Meta(description="each invalid value")] | UnsetType = UNSET
