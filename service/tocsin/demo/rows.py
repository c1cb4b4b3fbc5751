"""Each line that the demo prints, made from one row of the store. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from tocsin import events
from tocsin.model import AlertRow, HistoryEntry, Instant, JsonObject, PageRow, QuestionRow, to_rfc3339
from tocsin.spec.microdata.changes.words import tell_changes
from tocsin.spec.topper.state import FIELDS

Kind: TypeAlias = Literal["check", "verdict", "alert", "question", "try"]


class DemoLine(Struct, frozen=True):
    """One row of the store as the demo prints it.

    at        when it happened, as the row has it
    row       which kind of row it is
    row_id    what identifies it there
    outcome   the outcome of a check or verdict, the end of an event's type, what became of a question or a delivery
    rule      the requirement that decided: from the row, or that of its kind
    sentence  what a person reads
    """

    at: Instant
    row: Kind
    row_id: str
    url: str | None
    outcome: str
    rule: str
    sentence: str

    @property
    def path(self) -> str:
        """The page's path: enough on a small site."""
        return urlsplit(self.url).path if self.url else ""

    def to_json(self, step: str) -> JsonObject:
        """Show the line to a program; `step` is what the story was about meanwhile."""
        return {
            "at": to_rfc3339(self.at),
            "step": step,
            "row": self.row,
            "id": self.row_id,
            "url": self.url,
            "outcome": self.outcome,
            "rule": self.rule,
            "sentence": self.sentence,
        }


_CHECK_RULES = {"unreachable": "T58", "deferred": "T58", "skipped": "T21", "not-subject": "T51"}
_COUNTED = frozenset({"topper", "topper-minor"})
_SHORT = 40


def check_line(page: PageRow) -> DemoLine | None:
    """Describe a page's last check; None if there was none, or if its verdict says more."""
    report = page.last.report
    if report is None or page.last.checked_at is None or report["outcome"] in {"minor", "major"}:
        return None
    outcome = report["outcome"]
    rule = report.get("rule") or _CHECK_RULES.get(outcome, "")
    at = page.last.checked_at
    return DemoLine(at, "check", str(page.id), page.url, outcome, rule, _check_sentence(page, report))


def first_line(page: PageRow, history: list[HistoryEntry]) -> DemoLine | None:
    """Describe a page's first check once later ones have replaced its report; None while its report is there."""
    if not history or page.last.report is None or page.last.report["outcome"] == "first":
        return None
    first = min(history, key=lambda entry: entry.first_at)
    declares = [name for name, value in zip(FIELDS, first.fields, strict=True) if value is not None]
    return DemoLine(first.first_at, "check", str(page.id), page.url, "first", "T40", _first_words(declares))


def verdict_lines(url: str, history: list[HistoryEntry]) -> Iterator[DemoLine]:
    """Describe every comparison that found a change, oldest first."""
    found = sorted({verdict.at: verdict for entry in history for verdict in entry.verdicts}.items())
    for at, verdict in found:
        said = _verdict_words(verdict.rule, verdict.outcome, verdict.data)
        sentence = f"{said}: {_differing_words(verdict.data)}"
        yield DemoLine(at, "verdict", f"{url}#{at}", url, verdict.outcome, verdict.rule, sentence)


def question_lines(question: QuestionRow, *, answer: str) -> Iterator[DemoLine]:
    """Describe a question: its tries, that it was opened, asked and closed.

    answer  the command line that answers it, but for the instruction
    """
    url, key = question.page.url, str(question.id)
    about = f"question {question.id} ({question.host}, {question.cause})"
    for number, attempt in enumerate(question.attempts, 1):
        said = f"try {number} of {len(question.attempts)} failed: {attempt.message}"
        yield DemoLine(attempt.at, "try", f"{key}#{number}", url, "failed", "T58", said)
    sentence = f"{about} is opened"
    yield DemoLine(question.times.opened_at, "question", f"{key}#opened", url, "opened", "T60", sentence)
    if question.times.announced_at is not None:
        sentence = f"question {question.id} is asked; answer it with: {answer} {question.id} again"
        yield DemoLine(question.times.announced_at, "question", f"{key}#asked", url, "asked", "T60", sentence)
    if question.times.closed_at is not None:
        sentence = f"question {question.id} is closed"
        yield DemoLine(question.times.closed_at, "question", f"{key}#closed", url, "closed", "T60", sentence)


def alert_line(alert: AlertRow) -> DemoLine:
    """Describe an alert that was written to the outbox."""
    outcome = alert.type.removeprefix("tocsin.").rpartition(".")[0].rpartition(".")[2]
    data, at = alert.event["data"], alert.created_at
    match alert.type:
        case events.CHANGED:
            # The event's own time is its verdict's; the alert is written when the page was received for it.
            at = from_rfc3339(data["rendering"]["received"]) or at
            outcome, rule = data["outcome"], data["rule"]
            said = f"{outcome}, {_rendering_words(data['rendering'])}{_items_words(data['items'])}"
        case events.UNREACHABLE:
            rule, question = "T60", data["question"]
            said = f"asks what to do; unreachable pages: {question['pages']}"
        case events.RECOVERED:
            rule, question = "T60", data["question"]
            said = "reachable again" + (f", which closes question {question['id']}" if question else "")
        case events.SUSPECT:
            rule, said = "", f"held back: {data['evidence']}"
        case events.NEEDS_BROWSER:
            rule, said = "", "made by scripts, which need a browser"
        case _:
            rule, said = "", outcome
    channels = ", ".join(delivery[0] for delivery in alert.deliveries)
    sentence = f"alert {alert.position} to {channels or 'no channel'}: {said}"
    return DemoLine(at, "alert", alert.id, alert.url, outcome, rule, sentence)


def from_rfc3339(text: str | None) -> Instant | None:
    """Read an instant as events carry it."""
    return round(datetime.fromisoformat(text).timestamp() * 1_000_000) if text else None


def _check_sentence(page: PageRow, report: JsonObject) -> str:
    match report["outcome"]:
        case "first":
            return _first_words(report["declares"])
        case "unchanged":
            return "unchanged: its server answered 304" if report["not_modified"] else "unchanged, read again"
        case "too-soon":
            due = f"; due again at {to_rfc3339(page.due.at, digits=0)[11:]}" if page.due.at is not None else ""
            return f"too soon for its refresh{due}"
        case "unreachable":
            return f"unreachable after {report['attempts']} tries: {_error_words(report)}"
        case outcome:
            problem = report.get("problem")
            return f"{outcome}: {problem}" if problem else str(outcome)


def _first_words(declares: list[str]) -> str:
    return f"stored; declares {', '.join(declares)}" if declares else "stored; declares no change dates"


def _error_words(report: JsonObject) -> str:
    kind, message = report["error"] or ("", "")
    return str(message or kind)


def _verdict_words(rule: str, outcome: str, data: JsonObject) -> str:
    count, most = data["minor_count"], data["thresholds"]["minor"]
    match rule:
        case "T46":
            return f"major ({count} of {most})"
        case "T47" if any(change["field"] in _COUNTED for change in data["changes"]):
            return f"minor ({count} of {most})"
        case "T09":
            return "major: its date is declared as minor and as major"
        case _:
            return outcome


def _differing_words(data: JsonObject) -> str:
    """Say what differs: fields, or else the signals that spoke."""
    spoke = [
        entry["why"]
        for entry in data.get("trace") or ()
        if entry["rule"].startswith("S") and entry["says"] != "nothing"
    ]
    return f"{data['basis']}; {'; '.join(spoke)}" if spoke and not data["changes"] else _changes_words(data["changes"])


def _changes_words(changes: list[JsonObject]) -> str:
    if not changes:
        return "no difference for longer than the durational threshold"
    return "; ".join(_change_words(change["field"], change["previous"], change["latest"]) for change in changes)


def _change_words(field: str, previous: str | None, latest: str | None) -> str:
    """Say what became of a field: of dates, those that came or went."""
    if not field.startswith("topper"):
        return f"{field} is gone" if latest is None else f"{field} now {_shortened(latest)}"
    before, after = (previous or "").split(), (latest or "").split()
    came, went = [token for token in after if token not in before], [token for token in before if token not in after]
    words = [f"gains {_shortened(' '.join(came))}"] if came else []
    words += [f"loses {_shortened(' '.join(went))}"] if went else []
    return f"{field} {' and '.join(words)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _items_words(items: JsonObject | None) -> str:
    """Say what changed in the data that the page holds."""
    return f" ({'; '.join(tell_changes(items))})" if items else ""


def _rendering_words(rendering: JsonObject) -> str:
    if rendering["error"]:
        return f"the page could not be read whole ({rendering['error']['message']}) and will be tried again"
    return f"page read whole, {rendering['bytes']} B"
