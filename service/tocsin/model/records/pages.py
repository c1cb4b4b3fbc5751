"""A watched page and its checks, as surfaces show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, field, to_builtins

from tocsin.configuration.loading import mask_settings
from tocsin.model.browsing import BoundedCount
from tocsin.model.checks import CheckReport
from tocsin.model.common import EPOCH, CheckOutcome, FieldValues, JsonObject, to_rfc3339
from tocsin.model.days import DayMarks
from tocsin.model.knowledge import KnownCopy, PageItems
from tocsin.model.records.fields import Id, Json, Number, Part, Record, Time, id_or_none, time_or_none
from tocsin.model.watching import PageRow
from tocsin.spec.topper.state import FIELDS, PageState

Fields = Annotated[dict[str, str | None], Meta(description="the twelve fields, in the specification's order")]
Mode = Literal["on", "auto", "off"]
_DAYS_SHOWN: Final = 30


class CheckError(Record, frozen=True):
    """Why a check did not receive its page."""

    kind: Annotated[str, Meta(examples=["timeout"])]
    message: Annotated[str, Meta(description="the cause, in words")]


class CheckWitness(Record, frozen=True):
    """What contradicts a change: a declaration that did not change with the content, or the content that did not."""

    signal: Annotated[str, Meta(description="the name of a field or signal, or content")]
    value: Annotated[str | None, Meta(description="of the declaration; null for the content")]
    since: Annotated[Time | None, Meta(description="when it was first found so; null if that is not known")]


class Check(Record, frozen=True):
    """How the check of one page ended."""

    url: Annotated[str, Meta(description="of the page")]
    outcome: Annotated[str, Meta(description="such as unchanged, minor, major or unreachable")]
    changed: Annotated[list[str], Meta(description="names of the fields that changed")]
    reason: Annotated[str | None, Meta(description="topper-major, duration, minor-count or other")]
    rule: Annotated[str | None, Meta(description="the rule that decided", examples=["T44"])]
    basis: Annotated[str | None, Meta(description="declared, inferred or contradicted; null where nothing is declared")]
    declares: Annotated[list[str], Meta(description="names of the fields that the page declares")]
    status: Annotated[int | None, Meta(description="of the last HTTP answer")]
    final_url: Annotated[str | None, Meta(description="after redirects")]
    attempts: Annotated[int, Meta(description="sets of requests that were made")]
    bytes: Annotated[int, Meta(description="received on the wire, of all answers")]
    elapsed_ms: Annotated[int, Meta(description="duration of the check in milliseconds")]
    not_modified: Annotated[bool, Meta(description="the server answered 304")]
    next_try: Annotated[Time | None, Meta(description="when a deferred or skipped check can be made")]
    error: Annotated[CheckError | None, Meta(description="why the page was not received")]
    problem: Annotated[str | None, Meta(description="why the page was skipped, held back, or not read whole")]
    saved_bytes: Annotated[int, Meta(description="bytes that the server did not have to send again (304)")]
    signals: Annotated[list[str], Meta(description="names of the signals that changed")]
    witness: Annotated[
        CheckWitness | None, Meta(description="what contradicts the change, if its basis is contradicted")
    ]


def check_of(report: JsonObject | CheckReport) -> Check:
    """Show a check; the store gives reports as JSON objects, the engine as structs."""
    values = report if isinstance(report, dict) else to_builtins(report)
    error, witness = values["error"], values["witness"]
    return Check(
        **{
            **values,
            "next_try": time_or_none(values["next_try"]),
            "error": CheckError(kind=error[0], message=error[1]) if error else None,
            "witness": CheckWitness(signal=witness[0], value=witness[1], since=time_or_none(witness[2]))
            if witness
            else None,
        }
    )


class PageChange(Record, frozen=True):
    """The last change of a page."""

    at: Annotated[Time, Meta(description="when a check found it")]
    outcome: Annotated[Literal["minor", "major"], Meta(description="minor or major")]
    short: Annotated[
        str | None,
        Meta(description="in at most 60 letters; null where it has no alert yet", examples=["14 instead of 30"]),
    ]


class PageDays(Record, frozen=True):
    """What was found of a page in 30 days."""

    until: Annotated[str, Meta(description="the last of them, and the latest on which anything was found, in UTC")]
    marks: Annotated[
        list[int],
        Meta(description="of each day, the oldest first: 0 nothing, 1 a problem, 2 a minor change, 3 a major one"),
    ]


class Page(Record, frozen=True):
    """A watched page."""

    id: Id
    url: Annotated[str, Meta(title="Page", description="as it is watched: serialized by the URL standard")]
    given: Annotated[str, Meta(description="as you wrote it")]
    host: Annotated[str, Meta(description="of its URL")]
    group: Annotated[str, Meta(description="the group that it is in")]
    text: Annotated[str | None, Meta(description="your own words on it")]
    title: Annotated[str | None, Meta(description="the page's own, as last read: at its first check or with a change")]
    mode: Annotated[Mode, Meta(description="the mode in force")]
    mode_from: Annotated[str, Meta(description="where the mode is set: page, group, all pages or configuration")]
    subject: Annotated[bool, Meta(description="subject to awareness now (T50, T51)")]
    paused: Annotated[bool, Meta(description="it is not checked until it is resumed")]
    settings: Annotated[Json, Meta(description="set for this page; secrets are masked")]
    credentials: Annotated[bool, Meta(description="added with a user name and password")]
    fields: Annotated[Fields | None, Meta(description="of its latest state")]
    declares: Annotated[list[str], Meta(description="names of the fields that its latest state declares")]
    outcome: Annotated[str | None, Meta(description="of its last check")]
    basis: Annotated[str | None, Meta(description="of its last check: declared, inferred or contradicted")]
    last_check: Annotated[Check | None, Meta(description="how its last check ended")]
    stored_at: Annotated[Time | None, Meta(description="when its state was last stored")]
    checked_at: Annotated[Time | None, Meta(title="Last check", description="when its last check began")]
    received_at: Annotated[Time | None, Meta(description="when it was last received")]
    changed_at: Annotated[Time | None, Meta(title="Last change", description="when a check last found a change")]
    last_change: Annotated[PageChange | None, Meta(description="null: no change was found yet")]
    days: Annotated[PageDays | None, Meta(description="null: neither a change nor a problem was found yet")]
    next_at: Annotated[Time | None, Meta(title="Next check", description="when it is due; null: not until you say so")]
    next_why: Annotated[str | None, Meta(description="why it is due then", examples=["every 6h (jittered)"])]
    question: Annotated[Id | None, Meta(description="id of the open question about it")]
    noindex: Annotated[bool, Meta(description="the page asks robots not to index it")]
    nofollow: Annotated[bool, Meta(description="the page asks robots not to follow its links")]
    saved_bytes: Annotated[int, Meta(description="bytes that its server did not have to send again (304), in all")]
    built_by_scripts: Annotated[bool, Meta(description="scripts make its text: changes of it are not seen")]


class EventAhead(Record, frozen=True):
    """An event that a page holds as microdata."""

    name: Annotated[str, Meta(examples=["Meeting of the council"])]
    start: Annotated[str | None, Meta(description="as the page writes it")]


class PageLook(Record, frozen=True):
    """What was found of a page before it is watched."""

    url: Annotated[str, Meta(description="as it would be watched")]
    id: Annotated[Id | None, Meta(description="of the page, if it is watched already")]
    final_url: Annotated[str, Meta(description="after redirects")]
    status: Annotated[int, Meta(description="of the answer")]
    title: Annotated[str | None, Meta(description="of the page")]
    elapsed_ms: Annotated[Number, Meta(description="from the first request to the whole page")]
    bytes: Annotated[Number, Meta(description="received on the wire")]
    declares: Annotated[list[str], Meta(description="names of the fields that it declares")]
    major: Annotated[str | None, Meta(description="the latest date that it declares of a major change")]
    minor: Annotated[str | None, Meta(description="the latest date that it declares of a minor change")]
    signals: Annotated[list[str], Meta(description="names of the signals that it has")]
    items: Annotated[Number, Meta(description="of its microdata, nested ones included")]
    event: Annotated[EventAhead | None, Meta(description="the first event among them")]
    lines: Annotated[Number, Meta(description="of its text that would be compared")]
    built_by_scripts: Annotated[bool, Meta(description="scripts make its text: changes of it would not be seen")]
    suspect: Annotated[str | None, Meta(description="what seems to be in the page's place, such as a login")]
    every: Annotated[str, Meta(description="how often it would be checked", examples=["24h"])]
    problems: Annotated[list[str], Meta(description="what keeps parts of it from being read")]


class KeptItemsHint(Record, frozen=True):
    """That items of a page are kept."""

    count: Annotated[Number, Meta(description="all items, nested ones included")]
    at: Annotated[Time, Meta(description="when they were last read")]


class WholePage(Page, frozen=True):
    """A watched page by itself, with what lists of pages leave out."""

    items: Annotated[KeptItemsHint | None, Meta(description="its microdata; see GET /pages/{page_id}/items")]


class Pages(Part[Page], frozen=True):
    """A part of a list of pages."""

    total: Annotated[BoundedCount | None, Meta(description="pages of the whole list, where `total` asked for it")]


class AddedPage(Record, frozen=True):
    """What became of one page that was to be added."""

    url: Annotated[str, Meta(description="as it is watched")]
    id: Annotated[Id | None, Meta(description="null: it was watched already, and stays as it is")]


class AddedPages(Record, frozen=True):
    """What became of many pages, in the order of the request."""

    items: Annotated[list[AddedPage], Meta(description="one for each different URL")]
    added: Annotated[Number, Meta(description="pages that were added")]
    known: Annotated[Number, Meta(description="pages that were watched already")]


class Modes:
    """The mode of each page: its own, its group's, the one set for all pages, or the configuration's (T50 to T52).

    base     of the configuration
    for_all  what is set for all pages
    groups   name and settings of each group, by number
    """

    def __init__(self, base: str, for_all: JsonObject, groups: Mapping[int, tuple[str, JsonObject]]) -> None:
        self._default = (str(for_all["mode"]), "all pages") if "mode" in for_all else (base, "configuration")
        self._groups = {name: (str(own["mode"]), "group") for name, own in groups.values() if "mode" in own}

    def of(self, page: PageRow) -> tuple[str, str]:
        """Give the mode in force for a page, and where it is set: page, group, all pages or configuration."""
        own = page.settings.get("mode")
        return (str(own), "page") if own is not None else self._groups.get(page.group, self._default)


def is_subject(page: PageRow, mode: str) -> bool:
    """Say whether a page is now subject to awareness (T50, T51), by the mode in force for it."""
    return mode == "on" or (
        mode == "auto" and page.state.fields is not None and PageState(page.state.fields).is_subject
    )


def why_disallowed(page: PageRow) -> str | None:
    """Return what robots.txt disallowed at the last check, and by which rule; None if the page was fetched (LM-43)."""
    report = page.last.report or {}
    return str(report.get("problem") or page.url) if report.get("outcome") == CheckOutcome.DISALLOWED else None


def page_of(row: PageRow, modes: Modes) -> Page:
    """Show a page; secrets are masked."""
    return Page(**_values_of(row, modes))


def whole_page(row: PageRow, modes: Modes, items: PageItems | None) -> WholePage:
    """Show a page by itself."""
    hint = None if items is None else KeptItemsHint(count=items.count, at=to_rfc3339(items.at))
    return WholePage(**_values_of(row, modes), items=hint)


def _values_of(row: PageRow, modes: Modes) -> dict[str, Any]:
    mode, mode_from = modes.of(row)
    check = check_of(row.last.report) if row.last.report else None
    fields = fields_of(row.state.fields) if row.state.fields is not None else None
    return {
        "id": str(row.id),
        "url": row.url,
        "given": row.given,
        "host": row.host,
        "group": row.group,
        "text": row.text,
        "title": row.title,
        "mode": mode,
        "mode_from": mode_from,
        "subject": is_subject(row, mode),
        "paused": row.paused,
        "settings": mask_settings(row.settings),
        "credentials": row.has_secrets,
        "fields": fields,
        "declares": [name for name, value in (fields or {}).items() if value is not None],
        "outcome": check.outcome if check is not None else None,
        "basis": check.basis if check is not None else None,
        "last_check": check,
        "stored_at": time_or_none(row.state.stored_at),
        "checked_at": time_or_none(row.last.checked_at),
        "received_at": time_or_none(row.last.received_at),
        "changed_at": time_or_none(row.last.changed_at),
        "last_change": _change_of(row),
        "days": _days_of(row.days),
        "next_at": time_or_none(row.due.at),
        "next_why": row.due.why,
        "question": id_or_none(row.question_id),
        "noindex": row.flags.noindex,
        "nofollow": row.flags.nofollow,
        "saved_bytes": row.saved_bytes,
        "built_by_scripts": row.flags.is_shell,
    }


def _change_of(row: PageRow) -> PageChange | None:
    at, outcome = row.last.changed_at, row.change.outcome
    if at is None or outcome is None:
        return None
    return PageChange(at=to_rfc3339(at), outcome="major" if outcome == "major" else "minor", short=row.change.short)


def _days_of(days: DayMarks) -> PageDays | None:
    if not days.packed:
        return None
    until = EPOCH + timedelta(days=days.day)
    return PageDays(until=f"{until:%Y-%m-%d}", marks=[int(mark) for mark in days.until(days.day, _DAYS_SHOWN)])


def fields_of(values: FieldValues) -> dict[str, str | None]:
    """Show the twelve fields of a state by name."""
    return dict(zip(FIELDS, values, strict=True))


class CheckRequest(Record, frozen=True):
    """The progress of checks that were asked for."""

    id: Id
    done: Annotated[Number, Meta(description="checks that are over")]
    total: Annotated[Number, Meta(description="fewer than were asked for where pages are paused or asked for anew")]
    is_over: Annotated[bool, Meta(description="all are done")]
    skipped: Annotated[Number | None, Meta(description="pages that were not asked for; null: too many to count")]
    skipped_until: Annotated[
        Time | None, Meta(description="when all pages skipped for their `min_gap` can be asked for")
    ]


class FinishedCheck(Record, frozen=True):
    """A check that was asked for and is over."""

    position: Annotated[int, Meta(ge=1, description="in order of completion")]
    report: Annotated[Check, Meta(description="how it ended")]


class Copy(Record, frozen=True):
    """A copy of a page, as a watched page names it."""

    number: Annotated[int, Meta(ge=1, description="names it in an answer on the command line")]
    url: Annotated[str, Meta(title="Copy", description="of the copy")]
    datetime: Annotated[str | None, Meta(title="Date", description="when the copy was made, as it was written")]
    rel: Annotated[str | None, Meta(description="its link type, such as memento")]
    kind: Annotated[str, Meta(description="how the page names it: mset, memento or timemap")]
    of: Annotated[str, Meta(title="Copy of", description="URL of the page that it is a copy of")]
    from_: Annotated[str, Meta(title="Named by", description="URL of a watched page that names it")] = field(
        name="from"
    )


def copies_of(copies: Sequence[KnownCopy]) -> list[Copy]:
    """Show copies, numbered as they are offered."""
    return [
        Copy(
            number=number,
            url=copy.url,
            datetime=copy.datetime,
            rel=copy.rel,
            kind=copy.kind,
            of=copy.of,
            from_=copy.seen_on,
        )
        for number, copy in enumerate(copies, 1)
    ]
