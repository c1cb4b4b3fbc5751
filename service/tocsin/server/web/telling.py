"""Alerts in words: the event, its page, the rule, and the differences. Pure."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from tocsin import events
from tocsin.model import AlertRow, Instant, JsonObject
from tocsin.server.web.formatting import ENGLISH, failure, is_web
from tocsin.spec.microdata.changes.words import Phrases, tell_changes
from tocsin.wording.summary import summarise, why
from tocsin.wording.words import Words, words_of

# Of each event the key of its label, and its tone.
_LABELS: Final[dict[str, tuple[str, str]]] = {
    events.CHANGED: ("changed", "minor"),
    events.HOST_CHANGED: ("storm", "minor"),
    events.UNREACHABLE: ("unreachable", "bad"),
    events.RECOVERED: ("recovered", "good"),
    events.DISALLOWED: ("disallowed", "bad"),
    events.SUSPECT: ("suspect", "bad"),
    events.NEEDS_BROWSER: ("needs-browser", "bad"),
    events.UNCHANGED: ("unchanged", "quiet"),
    events.TOO_SOON: ("too-soon", "quiet"),
    events.OUTAGE_BEGAN: ("outage", "bad"),
    events.OUTAGE_ENDED: ("outage", "good"),
    events.TEST: ("channel", "quiet"),
}
_OUTCOMES: Final = ("major", "minor")

_CHANGE: Final = ("change", "within", "path", "property", "previous", "latest")
_MOST_ROWS: Final = 60  # An event has at most 40, with those between them.
_MOST_DIGITS: Final = 18  # Digits of an id of the store.


# Kinds of alerts to filter by; their titles are in the section `changes` of the words.
KINDS: Final = (
    "changed",
    "storm",
    "unreachable",
    "recovered",
    "disallowed",
    "suspect",
    "needs-browser",
    "outage",
    "unchanged",
    "too-soon",
)


class Differing(Struct, frozen=True):
    """One value before and after; None where it is missing."""

    name: str
    previous: str | None
    latest: str | None
    says: str | None = None
    rule: str | None = None

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """The words of both values, each "same", "gone" or "come", to mark new dates in a list."""
        before, after = (self.previous or "").split(), (self.latest or "").split()
        gone = [(word, "gone") for word in before if word not in after]
        return (*gone, *((word, "same" if word in before else "come") for word in after))


class DifferingRow(Struct, frozen=True):
    """Lines of the text that differ, or those between them.

    kind    changed, added, removed; unchanged or more: only `lines` of them are counted
    pieces  texts of a line in their order, each "same", "removed" or "added"
    """

    kind: str
    lines: int = 0
    pieces: tuple[tuple[str, str], ...] = ()


class AlertInWords(Struct, frozen=True):
    """An alert in words.

    label, tone     the kind of event, and its CSS class
    page_id         None once the page is deleted
    address         its URL; None for an alert about several pages
    name            the user's notes, the title, or the URL
    summary         what the event tells, in a sentence; None of an event that was written without one
    why             the reason of the deciding rule
    fields          the declared fields that differ
    signals         other differences
    added, removed  lines of the text; `is_cut`: there are more
    rows            the same by word, where the event has it
    held            changes of the microdata, a line each
    trace           every rule that was tried: (rule, result, reason)
    notes           further remarks, a sentence each
    storm_id        of a change shared by many pages; question_id of the question
    """

    id: str
    position: int
    at: Instant
    type: str
    label: str
    tone: str
    is_seen: bool
    page_id: int | None = None
    address: str | None = None
    name: str = ""
    summary: str | None = None
    text: str | None = None
    group: str | None = None
    host: str | None = None
    basis: str | None = None
    rule: str | None = None
    why: str | None = None
    fields: tuple[Differing, ...] = ()
    signals: tuple[Differing, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    is_cut: bool = False
    rows: tuple[DifferingRow, ...] = ()
    held: tuple[str, ...] = ()
    trace: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    storm_id: int | None = None
    storm_pages: int = 0
    sample: tuple[str, ...] = ()
    question_id: int | None = None


def tell(alert: AlertRow, language: str = "en", *, is_told_anew: bool = False) -> AlertInWords:
    """Describe an alert in words; a value too long for its event is described by its length.

    language      of label and reason; the sentence is in that of the time when the alert was made
    is_told_anew  the sentence, too, is made in this language
    """
    data, words = _table(alert.event.get("data")), words_of(language)
    key, tone = _LABELS.get(alert.type, ("other", "quiet"))
    if (outcome := data.get("outcome")) in _OUTCOMES and alert.type in (events.CHANGED, events.HOST_CHANGED):
        key, tone = outcome if alert.type == events.CHANGED else key, outcome
    sentence = _words(data.get("summary"))
    page = _table(data.get("page"))
    storm, question = _table(data.get("storm")), _table(data.get("question"))
    rendering = _table(data.get("rendering"))
    address = _words(page.get("url")) or (alert.url if is_web(alert.url) else None)
    title = _words(page.get("title")) or _words(rendering.get("title"))
    shared = alert.type == events.HOST_CHANGED
    difference = _table(data.get("excerpt" if shared else "difference"))
    rule = _words(data.get("rule"))
    trace = _trace(data)
    # As messages have it; an event of an older version, or of a rule without words, has its trace.
    reason = why(words, data, str(alert.event.get("time") or "")) or None
    if reason is None:
        reason = next((told for name, _, told in trace if name == rule), None)
    return AlertInWords(
        id=alert.id,
        position=alert.position,
        at=alert.created_at,
        type=alert.type,
        label=words.say(f"label.{key}"),
        tone=tone,
        is_seen=alert.seen_at is not None,
        page_id=alert.page_id,
        address=address,
        name=_words(page.get("text")) or title or address or _words(storm.get("host")) or "",
        summary=summarise(alert.event, language).sentence if sentence and is_told_anew else sentence,
        text=_words(page.get("text")),
        group=_words(page.get("group")),
        host=_words(storm.get("host")) or _words(question.get("host")),
        basis=_words(data.get("basis")),
        rule=rule,
        why=reason,
        fields=tuple(_differing("field", each, words) for each in _rows(data.get("changes"))),
        signals=tuple(_differing("signal", each, words) for each in _rows(data.get("signals"))),
        added=_lines(difference.get("added")),
        removed=_lines(difference.get("removed")),
        rows=tuple(_row(each) for each in _rows(difference.get("rows"))[:_MOST_ROWS]),
        is_cut=bool(difference.get("cut")) or _is_left_out(difference),
        held=_held(_table(data.get("items")), phrases_of(words)),
        trace=trace,
        notes=tuple(_notes(words, alert.type, data, rendering)),
        storm_id=_number(storm.get("id")),
        storm_pages=_number(storm.get("pages")) or 0,
        sample=_lines(storm.get("sample")) or _lines(question.get("sample")),
        question_id=_number(question.get("id")),
    )


def _notes(words: Words, kind: str, data: JsonObject, rendering: JsonObject) -> list[str]:
    notes = []
    if kind == events.UNREACHABLE:
        error, pages = _table(data.get("error")), _number(_table(data.get("question")).get("pages")) or 1
        notes.append(failure(_words(error.get("kind")) or "", _words(error.get("message")) or "", words))
        if pages > 1:
            notes.append(words.say("note.pages", n=pages))
    if kind == events.DISALLOWED:
        rule = _words(_table(data.get("robots")).get("rule"))
        notes.append(words.say("note.robots", rule=rule) if rule else words.say("note.no_robots"))
    if since := _words(_table(data.get("witness")).get("since")):
        notes.append(words.say("note.since", when=words.day(since) or since))
    if kind == events.SUSPECT:
        evidence = _words(data.get("evidence"))
        told = words.say("note.suspect", evidence=words.retell(evidence, "evidence")) if evidence else ""
        notes.append(told or words.say("note.another_page"))
    if kind == events.NEEDS_BROWSER and (command := _words(data.get("command"))):
        notes.append(words.say("note.needs_browser", command=command))
    if rendering and (failed := _table(rendering.get("error"))):
        said = _words(failed.get("message")) or _words(failed.get("kind")) or ""
        notes.append(words.say("note.unread", why=words.retell(said)) if said else words.say("note.unread_bare"))
    if rendered := _table(data.get("rendered")):
        then = _words(rendered.get("outcome")) or ""
        outcome = words.say(f"outcome.{then}") if f"outcome.{then}" in words else then
        notes.append(words.say("note.changed_again", outcome=outcome))
    if (minor := _number(data.get("minor_count"))) and data.get("outcome") == "minor":
        least = _number(_table(data.get("thresholds")).get("minor"))
        notes.append(words.say("note.minor_of", n=minor, least=least) if least else words.say("note.minor", n=minor))
    return notes


def phrases_of(words: Words) -> Phrases:
    """Give the phrases by which a language tells how the data of a page changed."""
    return Phrases(words.section("items"), words.number)


def _held(items: JsonObject, phrases: Phrases) -> tuple[str, ...]:
    changes = [{key: row.get(key) for key in _CHANGE} | {"item": _item(row)} for row in _rows(items.get("changes"))]
    counts = {word: _number(items.get(word)) or 0 for word in ("added", "removed", "changed")}
    is_cut = bool(items.get("cut"))
    return tuple(tell_changes({**counts, "cut": is_cut, "changes": changes}, phrases)) if changes or is_cut else ()


def _item(row: JsonObject) -> JsonObject:
    item = _table(row.get("item"))
    return {key: item.get(key) for key in ("type", "label", "position")}


def _row(row: JsonObject) -> DifferingRow:
    found = row.get("pieces")
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2] if isinstance(found, list) else []  # noqa: PLR2004 - a kind and a text
    pieces = tuple((str(kind), text) for kind, text in pairs if isinstance(text, str))
    return DifferingRow(_words(row.get("kind")) or "", _number(row.get("lines")) or 0, pieces)


def _trace(data: JsonObject) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (_words(row.get("rule")) or "", _words(row.get("says")) or "", _words(row.get("why")) or "")
        for row in _rows(data.get("trace"))
    )


def _differing(named: str, row: JsonObject, words: Words) -> Differing:
    return Differing(
        _words(row.get(named)) or "",
        _words(row.get("previous"), words),
        _words(row.get("latest"), words),
        _words(row.get("says")),
        _words(row.get("rule")),
    )


def _is_left_out(difference: JsonObject) -> bool:
    return any(isinstance(difference.get(side), dict) for side in ("added", "removed"))


def _words(value: Any, words: Words = ENGLISH) -> str | None:
    """Read a text of an event; a long one is there as digest and length."""
    if isinstance(value, dict) and isinstance(length := value.get("length"), int):
        return words.say("items.too_long", number=words.number(length))
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _table(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _rows(value: Any) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _lines(value: Any) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
