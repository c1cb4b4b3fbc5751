"""The alerts, as CloudEvents: what receivers are promised, key by key.

Every key is always present, null where nothing is known; an event is at most 256 KiB.
"""

from __future__ import annotations

import hashlib
from copy import deepcopy
from shlex import quote
from typing import TYPE_CHECKING, Any

import msgspec

from tocsin import events
from tocsin.engine.judging.signals import combine_verdict, signals_data, trace_data, witness_data
from tocsin.events import alert_link, cloud_event, page_link, picture_link, question_link
from tocsin.model import SHELLS_TOLD, AlertDraft, fit_title, to_rfc3339
from tocsin.spec.topper.state import FIELDS
from tocsin.wording.summary import summarise
from tocsin.wording.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.engine.judging.signals import OverallVerdict
    from tocsin.model import (
        Attempt,
        FieldValues,
        Instant,
        JsonObject,
        KeptPicture,
        KnownCopy,
        PageTask,
        PendingVerdict,
        QuestionRow,
        RenderingRow,
        StoredState,
        StormRow,
    )
    from tocsin.ports import Chance
    from tocsin.spec.topper.compare import Comparison, Thresholds


# The answers of T60; further ones are in docs/alert-receivers.md.
INSTRUCTIONS = ("again", "never", "until-major")

MAX_EVENT_BYTES = 256 * 2**10
_MOST_OF_COPIES = MAX_EVENT_BYTES // 2
# Receivers find the page and its states by these keys, so no digest may replace their values.
_KEPT = frozenset({"id", "url", "final_url", "sample", "stored", "received", "command", "field", "digest"})
_BOUNDED = frozenset({"summary", "short"})
_SHORTEST_REPLACED = 128
_encode = msgspec.json.encode
_EXAMPLE: JsonObject = {
    "added": ["Open from 9 to 18.", "Closed on Fridays."],
    "removed": ["Open from 9 to 16."],
    "cut": False,
    "lines": {"added": 1, "removed": 0, "changed": 1, "moved": 0, "unchanged": 12},
    "share": 7,
    "rows": [
        {
            "kind": "changed",
            "lines": 1,
            "pieces": [["same", "Open from 9 to "], ["removed", "16"], ["added", "18"], ["same", "."]],
        },
        {"kind": "unchanged", "lines": 5, "pieces": []},
        {"kind": "added", "lines": 1, "pieces": [["added", "Closed on Fridays."]]},
    ],
}


def page_data(page_id: int, url: str, group: str, text: str | None, title: str | None = None) -> JsonObject:
    """Show a page as every event of it does; the store adds the title that it keeps where none is given."""
    return {"id": str(page_id), "url": url, "group": group, "text": text, "title": fit_title(title)}


def fields_data(fields: FieldValues) -> JsonObject:
    """Show the fields of a state by name."""
    return dict(zip(FIELDS, fields, strict=True))


def state_data(stored_at: Instant, fields: FieldValues) -> JsonObject:
    """Show a stored state."""
    return {"stored": to_rfc3339(stored_at), "fields": fields_data(fields)}


def changes_data(changed: tuple[str, ...], previous: FieldValues, latest: FieldValues) -> list[JsonObject]:
    """Show the values of the fields that differ, in the order of a state."""
    places = zip(FIELDS, previous, latest, strict=True)
    return [{"field": name, "previous": before, "latest": after} for name, before, after in places if name in changed]


def changed_data(
    *,
    page: PageTask,
    comparison: Comparison,
    before: StoredState,
    latest: FieldValues,
    stored_at: Instant,
    elapsed_s: int,
    thresholds: Thresholds,
    ruling: OverallVerdict | None = None,
    in_browser: bool = False,
) -> JsonObject:
    """Make the data of `tocsin.page.changed.v1`, and of `unchanged` and `too-soon`.

    before     the state compared with, stored at its `last_at`
    latest     the judged values, stored at `stored_at`
    elapsed_s  whole seconds between the two storings
    ruling     the verdict of fields and signals; by default that of the comparison alone
    in_browser  the page was read in a browser
    The rendering and the difference are filled in later.
    """
    ruling = ruling or combine_verdict(comparison)
    return {
        "page": page_data(page.page_id, page.url, page.group, page.text),
        "outcome": ruling.outcome.value,
        "reason": ruling.reason,
        "rule": ruling.rule,
        "basis": ruling.basis,
        "elapsed_s": elapsed_s,
        "minor_count": comparison.minor_count,
        "thresholds": {"durational_s": int(thresholds.durational.total_seconds()), "minor": thresholds.minor},
        "changes": changes_data(comparison.changed, before.fields, latest),
        "previous": state_data(before.last_at, before.fields),
        "latest": state_data(stored_at, latest),
        "new_dates": {"major": list(comparison.new_dates.major), "minor": list(comparison.new_dates.minor)},
        "signals": signals_data(ruling),
        "trace": trace_data(comparison, ruling, in_browser=in_browser),
        "witness": witness_data(ruling.witness),
        "difference": None,
        "rendering": None,
        "rendered": None,
        "items": None,
        "storm": None,
        "links": {"page": None},
    }


def rendered_data(
    comparison: Comparison, *, before: FieldValues, latest: FieldValues, stored_at: Instant
) -> JsonObject:
    """Show the state that a rendering stored, if it is not the one judged."""
    return {
        "outcome": str(comparison.outcome),
        "reason": str(comparison.reason) if comparison.reason is not None else None,
        "changes": changes_data(comparison.changed, before, latest),
        "latest": state_data(stored_at, latest),
    }


def rendering_data(row: RenderingRow, public_url: str = "") -> JsonObject:
    """Show what a rendering received.

    public_url  of the web pages, for the link to its picture
    """
    error = None
    if row.error is not None:
        kind, status, message = row.error
        error = {"kind": kind, "status": status, "message": message}
    return {
        "kind": row.kind,
        "received": to_rfc3339(row.received) if row.received is not None else None,
        "status": row.status,
        "final_url": row.final_url,
        "content_type": row.content_type,
        "title": row.title,
        "bytes": row.bytes,
        "digest": row.digest,
        "same_state": row.same_state,
        "screenshot": _picture_data(row.picture, public_url) if row.picture is not None else None,
        "error": error,
    }


def _picture_data(kept: KeptPicture, public_url: str) -> JsonObject:
    return {
        "url": picture_link(public_url, kept.digest),
        "digest": f"sha256:{kept.digest}",
        "width": kept.width,
        "height": kept.height,
        "changed": kept.difference.share if kept.difference is not None else None,
    }


class EventWriter:
    """Writes the alerts of one instance.

    source      name of the instance, the `source` of its events
    chance      of their ids
    public_url  of the web pages, for links; empty without any
    language    of the summaries
    """

    def __init__(self, source: str, chance: Chance, *, public_url: str = "", language: str = "en") -> None:
        self._source, self._chance, self._public_url = source, chance, public_url
        # Read now: a process that has no file handle left must still be able to tell of a page.
        self._language = words_of(language).language

    def changed_event(
        self,
        page: PageTask,
        verdict: PendingVerdict,
        rendering: RenderingRow,
        rendered: JsonObject | None = None,
        items: JsonObject | None = None,
    ) -> AlertDraft:
        """Tell of a verdict and its rendering: one verdict, one alert, with the time of the verdict.

        rendered  data of `rendered_data`, if the rendering stored another state than the one judged
        items     difference to the items of the rendering before; None without any
        """
        found: JsonObject = {
            "page": page_data(page.page_id, page.url, page.group, page.text, rendering.title),
            "rendering": rendering_data(rendering, self._public_url),
            "rendered": rendered,
            "items": items,
            "links": self._links(page),
        }
        return self._draft(events.CHANGED, page, verdict.at, verdict.data | found)

    def unchanged_event(self, page: PageTask, data: JsonObject, at: Instant) -> AlertDraft:
        """Report that nothing changed, if asked for (T42); `data` comes from `changed_data`."""
        return self._draft(events.UNCHANGED, page, at, data | {"links": self._links(page)})

    def too_soon_event(self, page: PageTask, data: JsonObject, at: Instant) -> AlertDraft:
        """Report that the page's refresh is not over, if asked for (T43); `data` comes from `changed_data`."""
        return self._draft(events.TOO_SOON, page, at, data | {"links": self._links(page)})

    def disallowed_event(
        self, page: PageTask, at: Instant, *, robots_url: str, rule: str | None, next_try: Instant | None
    ) -> AlertDraft:
        """Tell, once, that robots.txt forbids the page.

        rule  the line that forbids it; None or empty if the file could not be received
        """
        data = {
            "page": page_data(page.page_id, page.url, page.group, page.text),
            "robots": {"url": robots_url, "rule": rule or None},
            "next_try": to_rfc3339(next_try) if next_try is not None else None,
            "links": self._links(page),
        }
        return self._draft(events.DISALLOWED, page, at, data)

    def suspect_event(self, page: PageTask, at: Instant, *, evidence: str, content_type: str | None) -> AlertDraft:
        """Tell, once, that something else replaced the page, so that nothing was compared.

        evidence  what was received instead, for people
        """
        data = {
            "page": page_data(page.page_id, page.url, page.group, page.text),
            "evidence": evidence,
            "content_type": content_type,
            "latest": state_data(page.state.last_at, page.state.fields) if page.state is not None else None,
            "links": self._links(page),
        }
        return self._draft(events.SUSPECT, page, at, data)

    def needs_browser_event(self, page: PageTask, at: Instant) -> AlertDraft:
        """Tell, once, that scripts make the page's content, so that its changes are not seen by HTTP."""
        data = {
            "page": page_data(page.page_id, page.url, page.group, page.text),
            "checks": SHELLS_TOLD,
            "command": f"tocsin watch set {quote(page.url)} --fetch browser",
            "links": self._links(page),
        }
        return self._draft(events.NEEDS_BROWSER, page, at, data)

    def recovered_event(
        self,
        page: PageTask,
        question_id: int | None,
        at: Instant,
        rendering: RenderingRow | None = None,
        *,
        rendered: JsonObject | None = None,
        items: JsonObject | None = None,
    ) -> AlertDraft:
        """Tell that the page was received again.

        question_id  the question that it leaves; None if the user answered it before
        rendering    the owed one; of kind "copy" if the user chose a copy
        Whether the question is over for all its pages is known when the event is stored: the store fills it in.
        """
        question = {"id": str(question_id), "ended": True} if question_id is not None else None
        title = rendering.title if rendering is not None else None
        data = {
            "question": question,
            "page": page_data(page.page_id, page.url, page.group, page.text, title),
            "received": to_rfc3339(at),
            "rendering": rendering_data(rendering, self._public_url) if rendering is not None else None,
            "rendered": rendered,
            "items": items,
            "links": self._links(page),
        }
        return self._draft(events.RECOVERED, page, at, data)

    def unreachable_event(self, question: QuestionRow, at: Instant) -> AlertDraft:
        """Ask the user for an instruction for pages that could not be received (T60)."""
        url = question.page.url or (question.sample[0] if question.sample else None)
        page = None
        if question.page.id is not None and url is not None:
            page = page_data(question.page.id, url, question.page.group, question.page.text)
        data = {
            "question": {
                "id": str(question.id),
                "scope": "page" if question.pages == 1 else "host",
                "host": question.host,
                "pages": question.pages,
                "sample": list(question.sample),
                "answer": {
                    "command": f"tocsin attention answer {question.id} again",
                    "url": question_link(self._public_url, question.id),
                },
            },
            "page": page,
            "during": question.during,
            "attempts": [_attempt_data(attempt) for attempt in question.attempts],
            "error": _error_data(question),
            "last_received": _time_or_none(question.last_received),
            "next_occasion": _time_or_none(question.next_occasion),
            "instructions": list(INSTRUCTIONS),
            "copies": _copies_data(question.copies),
            "pending_change": question.pending_change,
        }
        subject = url or question.host
        return self._finish(events.UNREACHABLE, subject, question.page.id, at, data)

    def host_changed_event(self, storm: StormRow, excerpt: JsonObject | None, at: Instant) -> AlertDraft:
        """Tell of a change that many pages of a host share, instead of an alert for each.

        excerpt  of the change, as `difference` in the event of a page
        """
        id_ = self._chance.ulid(at)
        data: JsonObject = {
            "storm": {
                "id": str(storm.id),
                "host": storm.host,
                "pages": storm.pages,
                "sample": list(storm.sample),
                "command": release_command(storm),
            },
            "basis": storm.basis,
            "outcome": storm.outcome,
            "excerpt": excerpt,
            "first": to_rfc3339(storm.first_at),
            "latest": to_rfc3339(storm.latest_at),
            # It is about no single page: its own shows all of them, and sends an alert for each.
            "links": {"page": alert_link(self._public_url, id_)},
        }
        return self._finish(events.HOST_CHANGED, storm.host, None, at, data, id_=id_)

    def outage_began_event(self, began_at: Instant, at: Instant, *, node: str) -> AlertDraft:
        """Tell, once, that this node can reach nothing, so that its checking pauses."""
        data = {"began": to_rfc3339(began_at), "ended": None, "node": node}
        return self._finish(events.OUTAGE_BEGAN, "outage", None, at, data)

    def outage_ended_event(self, began_at: Instant, ended_at: Instant, *, node: str) -> AlertDraft:
        """Tell, once, that checking goes on."""
        data = {"began": to_rfc3339(began_at), "ended": to_rfc3339(ended_at), "node": node}
        return self._finish(events.OUTAGE_ENDED, "outage", None, ended_at, data)

    def test_event(self, channel: str, at: Instant) -> AlertDraft:
        """Test a channel; this event is never stored."""
        data = {"channel": channel, "message": "This is a test: alerts of this instance reach you."}
        return self._finish(events.TEST, f"channel:{channel}", None, at, data)

    def example_event(self, at: Instant) -> JsonObject:
        """Make up a change, to show how messages look where there is no alert yet."""
        date = to_rfc3339(at)[:10]
        data = {
            "page": page_data(1, "https://example.org/notices", "main", None, "Notices of the town hall"),
            "outcome": "major",
            "rule": "T44",
            "basis": "declared",
            "new_dates": {"major": [date], "minor": []},
            "difference": _EXAMPLE,
            "links": {"page": page_link(self._public_url, 1)},
        }
        return self._finish(events.CHANGED, "https://example.org/notices", None, at, data).event

    def _links(self, page: PageTask) -> JsonObject:
        return {"page": page_link(self._public_url, page.page_id)}

    def _draft(self, kind: str, page: PageTask, at: Instant, data: JsonObject) -> AlertDraft:
        return self._finish(kind, page.url, page.page_id, at, data)

    def _finish(
        self, kind: str, subject: str, page_id: int | None, at: Instant, data: JsonObject, *, id_: str = ""
    ) -> AlertDraft:
        id_ = id_ or self._chance.ulid(at)
        event = cloud_event(id=id_, source=self._source, type=kind, subject=subject, at=at, data=data)
        said = summarise(event, self._language)
        event["data"] = {"summary": said.sentence, "short": said.short} | data
        return AlertDraft(id=id_, type=kind, page_id=page_id, at=at, event=fit_event(event))


def release_command(storm: StormRow) -> str:
    """Give the command that requests an alert of each page of a storm."""
    return f"tocsin alerts release {storm.id}"


def _attempt_data(attempt: Attempt) -> JsonObject:
    return {
        "at": to_rfc3339(attempt.at),
        "kind": attempt.kind,
        "status": attempt.status,
        "message": attempt.message,
        "elapsed_ms": attempt.elapsed_ms,
    }


def _error_data(question: QuestionRow) -> JsonObject:
    if not question.attempts:
        return {"kind": question.cause.partition(" ")[0], "status": None, "message": question.cause}
    last = question.attempts[-1]
    return {"kind": last.kind, "status": last.status, "message": last.message}


def _copies_data(copies: tuple[KnownCopy, ...]) -> list[JsonObject]:
    """Show the newest of the offered copies, as many as leave room for the rest of the event."""
    shown: list[JsonObject] = []
    left = _MOST_OF_COPIES
    for copy in copies:
        entry = {"url": copy.url, "datetime": copy.datetime, "rel": copy.rel, "from": copy.seen_on}
        left -= len(msgspec.json.encode(entry))
        if left < 0:
            break
        shown.append(entry)
    return shown


def _time_or_none(at: Instant | None) -> str | None:
    return to_rfc3339(at) if at is not None else None


def fit_event(event: JsonObject) -> JsonObject:
    """Return the event with its longest values replaced until it fits into 256 KiB of JSON in UTF-8.

    A text or a list of texts becomes `{"digest": "sha256:...", "length": n}`, both of the text in UTF-8 or of the
    list as compact JSON. Ids, URLs and times stay. The result is deterministic; the argument is not changed.
    """
    excess = len(_encode(event)) - MAX_EVENT_BYTES
    if excess <= 0:
        return event
    fitted: JsonObject = deepcopy(event)
    places = sorted(_places(fitted["data"], ()), key=lambda place: (-place[0], place[1]))
    for size, path in places:
        if excess <= 0:
            break
        excess -= size - _shorten(fitted["data"], path)
    return fitted


def _places(value: Any, path: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    if path and path[-1] in _KEPT | _BOUNDED:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list) and not all(isinstance(item, str) for item in value):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, str(index)))
    elif isinstance(value, str | list) and (size := len(_encode(value))) >= _SHORTEST_REPLACED:
        yield size, path


def _shorten(data: Any, path: tuple[str, ...]) -> int:
    """Replace the value there; returns the size of the replacement."""
    for key in path[:-1]:
        data = data[int(key)] if isinstance(data, list) else data[key]
    last: Any = int(path[-1]) if isinstance(data, list) else path[-1]
    value = data[last]
    content = value.encode() if isinstance(value, str) else _encode(value)
    data[last] = {"digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "length": len(content)}
    return len(_encode(data[last]))
