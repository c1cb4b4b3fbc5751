"""What an event tells, as a sentence: the same in messages, feeds, web pages, terminal and log. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from tocsin import events
from tocsin.model import JsonObject
from tocsin.wording.words import Words, cut, visible, words_of

MOST_LETTERS: Final = 280
MOST_OF_SHORT: Final = 60
_LONGEST_LABEL: Final = 60
_LONGEST_VALUE: Final = 40
_MOST_WORDS: Final = 4
_MOST_NAMED: Final = 4
_SHARE: Final = re.compile(r"(\d{1,3}) % of the (?:content|picture)")
_QUOTED: Final = re.compile(r'"([^"]{1,200})"')
_OTHER_KIND: Final = re.compile(r"not HTML but ([^;]{1,60})")
_IN_CODE: Final = '" in its code'
_STARTS: Final = frozenset({"dtstart", "startDate", "start"})
_STATES: Final = frozenset({"eventStatus", "status"})
_DAY_S: Final = 86_400
# What precedes a colon or semicolon says enough, if it is not a single word.
_FIRST_PART: Final = re.compile(r"[^:;]{15,60}(?=[:;] )")
_MARKS: Final = ("“”", "„“", "«»", "»«", '""')
_CHANGES: Final = ("changed", "added", "removed")


class Summary(Struct, frozen=True):
    """An event in words.

    sentence  at most 280 letters, with its full stop
    short     its first clause without the article, at most 60 letters
    """

    sentence: str
    short: str


def summarise(event: JsonObject, language: str) -> Summary:
    """Say in a sentence what an event tells; never raises, whatever keys are missing.

    What pages say is quoted, shortened, and shown without control characters.
    """
    words, data = words_of(language), table(event.get("data"))
    now = str(event.get("time") or "")
    clauses = [clause for clause in _clauses(words, str(event.get("type")), data, now) if clause]
    first = clauses[0] if clauses else words.say("summary.changed")
    sentence = first
    if len(clauses) > 1:
        joined = "format.and_after_comma" if "," in first else "format.and"
        sentence = words.say(joined, first=first, second=clauses[1])
    if share := _share_of(data, clauses):
        sentence = words.say("summary.share", sentence=sentence, share=share)
    sentence = cut(visible(sentence), MOST_LETTERS - 1)
    return Summary(_capital(sentence) + ("" if sentence.endswith("…") else "."), shorten(words, first))


def shorten(words: Words, clause: str) -> str:
    """Cut a clause to what a list has room for, without its article."""
    head, _, rest = clause.partition(" ")
    said = rest if rest and head in words.articles else clause
    if len(said) > MOST_OF_SHORT and (first := _FIRST_PART.match(said)):
        said = first[0]
    return _capital(cut(visible(said), MOST_OF_SHORT))


def _clauses(words: Words, kind: str, data: JsonObject, now: str) -> list[str]:
    """Give the clauses that fit, the most telling first; at most two."""
    if kind == events.CHANGED:
        return _changed(words, data, now)
    if kind == events.UNREACHABLE:
        return [_unreachable(words, data, now)]
    if kind == events.DIGEST:
        count = number(data.get("count"))
        return [words.say("summary.digest", n=count) if count else words.say("summary.no_alerts")]
    if kind == events.HOST_CHANGED:
        storm = table(data.get("storm"))
        what = next(_text_clauses(words, table(data.get("excerpt"))), words.say("summary.text"))
        return [words.say("summary.host", n=number(storm.get("pages")), host=line(storm.get("host")), what=what)]
    key, rule = _KEYS.get(kind, "other"), line(table(data.get("robots")).get("rule"))
    if kind == events.RECOVERED and table(data.get("rendering")).get("kind") == "copy":
        key = "copied"
    elif kind == events.RECOVERED and table(data.get("rendered")):
        key = "recovered_changed"
    elif kind == events.DISALLOWED and not rule:
        key = "no_robots"
    if kind == events.SUSPECT:
        return [_suspect(words, str(data.get("evidence") or ""))]
    return [words.say(f"summary.{key}", type=kind, rule=rule, span=words.span(_lasted_s(data)))]


def _suspect(words: Words, evidence: str) -> str:
    """Tell what is served in place of a page, with the words of it that gave it away; the event has the rest."""
    name, _, found = evidence.partition(": ")
    key = f"suspect.{name}" if f"suspect.{name}" in words else "suspect.file"
    # Letters of code are no words for people.
    said = [] if _IN_CODE in found else [text for text in _QUOTED.findall(found) if text.strip()]
    if key == "suspect.file" and (kind := _OTHER_KIND.match(evidence)):
        return words.say("summary.suspect_says", what=words.say(key), said=line(kind[1]))
    if not said:
        return words.say("summary.suspect", what=words.say(key))
    return words.say("summary.suspect_says", what=words.say(key), said=words.quote(line(said[0], _LONGEST_LABEL)))


_KEYS: Final = {
    events.RECOVERED: "recovered",
    events.DISALLOWED: "disallowed",
    events.NEEDS_BROWSER: "needs_browser",
    events.OUTAGE_BEGAN: "outage_began",
    events.OUTAGE_ENDED: "outage_ended",
    events.TEST: "test",
    events.UNCHANGED: "unchanged",
    events.TOO_SOON: "too_soon",
}


def _changed(words: Words, data: JsonObject, now: str) -> list[str]:
    """Tell of a change: its items and version, then its text; else what the page declares."""
    of_items = [*_item_clauses(words, table(data.get("items")), now)]
    # What a property says, the words of the text say once more.
    text = _text_clauses(words, table(data.get("difference")), with_words=not of_items)
    found = [*of_items, *_version_clause(words, data), *text]
    if found:
        return found[:2]
    declared = _declared(words, data, now)
    if declared and table(data.get("witness")).get("signal") == "content":
        return [words.say("summary.same_text", sentence=declared)]
    return [declared, *_unkept_text(words, data), *_look(words, data)]


def _item_clauses(words: Words, items: JsonObject, now: str) -> Iterator[str]:
    """Tell what a property of an item says now; else how many items differ."""
    changes = rows(items.get("changes"))
    for change in changes:
        if said := _property(words, change, now):
            yield said
            break
    else:
        if len(changes) == 1 and not items.get("cut") and (said := tell_item(words, changes[0], now)):
            yield said
            return
        counts = [(kind, found) for kind in ("added", "removed", "changed") if (found := number(items.get(kind)))]
        said = ""
        for kind, found in counts:
            # Only the first one names the entries: "3 entries added, 1 removed".
            key = "summary.some" if said and kind != "added" else "summary.entries"
            part = words.say(f"{key}_{kind}", n=found)
            said = words.say("format.list", first=said, second=part) if said else part
        if said:
            yield said


def tell_item(words: Words, change: JsonObject, now: str) -> str | None:
    """Tell of one change of an item; None if it is not told in a few words."""
    label = line(table(change.get("item")).get("label"), _LONGEST_LABEL)
    if change.get("change") in ("added", "removed"):
        return words.say(f"summary.entry_{change['change']}", item=words.quote(label)) if label else None
    return _property(words, change, now)


def _property(words: Words, change: JsonObject, now: str) -> str | None:
    """Tell of one property with one short value; None if it is not one."""
    item, name = table(change.get("item")), change.get("property")
    steps = rows(change.get("path"))
    label = line(
        next((step["label"] for step in reversed(steps) if step.get("label")), item.get("label")), _LONGEST_LABEL
    )
    previous, latest = (_one_value(change.get(side)) for side in ("previous", "latest"))
    if not (label and isinstance(name, str)) or previous is None or latest is None or not (previous or latest):
        return None
    quoted = words.quote(label)
    if name in _STARTS and (dates := words.moved(previous, latest, now)):
        return words.say("summary.moved", item=quoted, dates=dates)
    if name in _STATES and (state := _state(latest)):
        return words.say(f"summary.{state}", item=quoted)
    places = {
        "property": _name_of(words, name),
        "item": quoted,
        "latest": words.day(latest, now) or latest,
        "previous": words.day(previous, now) or previous,
    }
    key = "property" if previous and latest else "property_new" if latest else "property_gone"
    return words.say(f"summary.{key}", **places)


def _one_value(values: Any) -> str | None:
    """Read the only value of a property as a short text: "" if it has none; None if it has several or a long one."""
    if values is None or values == []:
        return ""
    if (
        isinstance(values, list)
        and len(values) == 1
        and isinstance(values[0], str)
        and len(values[0]) <= _LONGEST_VALUE
    ):
        return line(values[0])
    return None


def _state(value: str) -> str | None:
    said = value.lower()
    return "cancelled" if "cancel" in said else "postponed" if "postpone" in said else None


def _name_of(words: Words, name: str) -> str:
    last = name.rstrip("/#").replace("#", "/").rpartition("/")[2]
    key = f"property.{last}"
    return words.say(key) if key in words else line(last, _LONGEST_VALUE)


def _version_clause(words: Words, data: JsonObject) -> Iterator[str]:
    """Tell of another version that the page gives itself."""
    for row in (*rows(data.get("changes")), *rows(data.get("signals"))):
        if row.get("field") == "page-version" or str(row.get("signal", "")).endswith(".version"):
            previous, latest = (line(row.get(side), _LONGEST_VALUE) for side in ("previous", "latest"))
            if latest:
                key = "summary.version" if previous else "summary.version_new"
                yield words.say(key, latest=latest, previous=previous)
                return


def _text_clauses(words: Words, difference: JsonObject, *, with_words: bool = True) -> Iterator[str]:
    """Tell how the text differs: its words, its only line, or how many lines.

    with_words  also words within a line
    """
    counts = table(difference.get("lines"))
    if not counts:
        yield from _sentence_clause(words, difference)
        return
    changed, added, removed = (number(counts.get(kind)) for kind in _CHANGES)
    found = [row for row in rows(difference.get("rows")) if row.get("kind") in _CHANGES]
    if (changed, added, removed) == (1, 0, 0) and len(found) == 1 and (said := _words_of_row(words, found[0])):
        if with_words:
            yield said
    elif added + removed == 1 and not changed and len(found) == 1:
        kind = "added" if added else "removed"
        text = "".join(text for _, text in _pieces(found[0]))
        yield words.say(f"summary.line_{kind}", text=words.quote(cut(_unquoted(visible(text)), _LONGEST_LABEL)))
    elif added and removed and not changed:
        yield words.say(
            "format.list",
            first=words.say("summary.lines_new", n=added),
            second=words.say("summary.some_removed", n=removed),
        )
    elif changed + added + removed:
        kind = "added" if not changed + removed else "removed" if not changed + added else "changed"
        yield words.say(f"summary.lines_{kind}", n=changed + added + removed)
    else:
        yield words.say("summary.moved_lines")


def _unquoted(text: str) -> str:
    """Take off quotation marks around a whole line: it is quoted anyway."""
    for first, last in _MARKS:
        if text.startswith(first) and 1 < text.find(last, 1) == len(text) - 1:
            return text[1:-1]
    return text


def _sentence_clause(words: Words, difference: JsonObject) -> Iterator[str]:
    """Tell of a difference whose lines were not counted."""
    added, removed = (difference.get(side) or [] for side in ("added", "removed"))
    if added or removed:
        yield words.say("summary.text")


def _words_of_row(words: Words, row: JsonObject) -> str | None:
    """Tell which few words of a line are others; None if they are many."""
    pieces = _pieces(row)
    places = [place for place, (kind, _) in enumerate(pieces) if kind != "same"]
    if not places:
        return None
    span = pieces[places[0] : places[-1] + 1]
    before, latest = (
        "".join(text for kind, text in span if kind in ("same", side)).strip() for side in ("removed", "added")
    )
    if any(len(side) > _LONGEST_VALUE or len(side.split()) > _MOST_WORDS for side in (before, latest)):
        return None
    if before and latest:
        return words.say("summary.instead", latest=words.quote(line(latest)), previous=words.quote(line(before)))
    key = "summary.word_added" if latest else "summary.word_removed"
    return words.say(key, text=words.quote(line(latest or before))) if latest or before else None


def _pieces(row: JsonObject) -> list[tuple[str, str]]:
    found = row.get("pieces")
    return [(str(kind), str(text)) for kind, text in found] if isinstance(found, list) else []


def _share_of(data: JsonObject, clauses: list[str]) -> int:
    """Give the share of the text that differs, where a clause counts its lines; else 0."""
    difference = table(data.get("difference"))
    counts = table(difference.get("lines"))
    if sum(number(counts.get(kind)) for kind in _CHANGES) <= 1 or not clauses or len(clauses) > 1:
        return 0
    return number(difference.get("share"))


def _declared(words: Words, data: JsonObject, now: str) -> str:
    """Tell what the page, its server or a list declares."""
    said = ""
    names = [str(row.get("signal")) for row in rows(data.get("signals"))]
    if data.get("reason") == "duration":
        said = words.say("summary.duration", n=number(data.get("elapsed_s")) // _DAY_S)
    elif names and all(name.startswith("header.") for name in names):
        said = words.say("summary.served")
    elif rows(data.get("changes")):
        said = words.say("summary.declared")
    return _announced(words, table(data.get("new_dates")), now) or _dated(words, data, now) or said


def _announced(words: Words, dates: JsonObject, now: str) -> str | None:
    """Tell of the dates that the page added to its lists of changes."""
    for kind in ("major", "minor"):
        found = dates.get(kind)
        if isinstance(found, list) and found:
            day = words.day(str(found[0]), now) if len(found) == 1 else None
            return words.say(f"summary.{kind}", day=day) if day else words.say(f"summary.{kind}s", n=len(found))
    return None


def _dated(words: Words, data: JsonObject, now: str) -> str | None:
    """Tell of the first other date that is given anew."""
    for row in (*rows(data.get("changes")), *rows(data.get("signals"))):
        name = str(row.get("field") or row.get("signal") or "")
        previous, latest = (words.day(line(row.get(side), _LONGEST_VALUE), now) for side in ("previous", "latest"))
        if latest is not None and not name.startswith(("topper", "created", "refresh")):
            if name in ("feed", "sitemap"):
                return words.say("summary.listed", latest=latest)
            key = "summary.dated" if previous else "summary.dated_new"
            return words.say(key, latest=latest, previous=previous)
    return None


def _unkept_text(words: Words, data: JsonObject) -> Iterator[str]:
    """Tell by how much the text changed, where the texts themselves are not kept."""
    for row in rows(data.get("signals")):
        if row.get("signal") == "content" and row.get("says") != "nothing":
            found = _SHARE.search(line(row.get("latest")))
            yield words.say("summary.text_share", share=found[1]) if found else words.say("summary.text")


def _look(words: Words, data: JsonObject) -> Iterator[str]:
    """Tell by how much the page looks different."""
    for row in rows(data.get("signals")):
        if row.get("signal") == "picture" and row.get("says") != "nothing":
            found = _SHARE.search(line(row.get("latest")))
            yield words.say("summary.picture", share=found[1] if found else "")


def _unreachable(words: Words, data: JsonObject, now: str) -> str:
    said, question = error_in_words(words, table(data.get("error"))), table(data.get("question"))
    pages, host = number(question.get("pages")), line(question.get("host"))
    if pages > 1:
        return words.say("summary.unreachable_host", n=pages, host=host, error=said)
    attempts = rows(data.get("attempts"))
    began = line(attempts[0].get("at")) if attempts else ""
    if not began or began[:10] == now[:10]:
        return words.say("summary.unreachable", error=said)
    ago = _days_between(began, now)
    day = words.say("summary.yesterday")
    if ago != 1:
        day = words.say("summary.since", day=words.day(began[:10], now) or began[:10])
    return words.say("summary.unreachable_since", day=day, error=said)


def error_in_words(words: Words, error: JsonObject) -> str:
    """Say why a page could not be received."""
    kind = line(error.get("kind"))
    key = f"error.{kind}"
    return words.say(key if key in words else "error.other", status=error.get("status"), kind=kind)


def _lasted_s(data: JsonObject) -> int:
    began, ended = _read_time(data.get("began")), _read_time(data.get("ended"))
    return max(int((ended - began).total_seconds()), 0) if began is not None and ended is not None else 0


def _days_between(began: str, now: str) -> int:
    first, second = _read_time(began[:10]), _read_time(now[:10])
    return (second - first).days if first is not None and second is not None else 0


def _read_time(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).replace(tzinfo=None)
    except ValueError:
        return None


def _capital(text: str) -> str:
    """Begin a sentence with a capital letter; the name of a file, such as robots.txt, keeps its own."""
    return text if "." in text.partition(" ")[0] else text[:1].upper() + text[1:]


def table(value: Any) -> JsonObject:
    """Read an object of an event; empty if it is none."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[JsonObject]:
    """Read a list of objects of an event."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def line(value: Any, most: int = MOST_LETTERS) -> str:
    """Read a text of an event in one line without control characters; "" if there is none."""
    return cut(visible(value), most) if isinstance(value, str) else ""


def number(value: Any) -> int:
    """Read a count of an event; 0 if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def why(words: Words, data: JsonObject, now: str) -> str:
    """Say why a change is major or minor; "" for an event that no rule decided.

    data  of the event; now  its time
    """
    rule = line(data.get("rule"), 40)
    if not rule or data.get("outcome") not in ("major", "minor"):
        return ""
    return " ".join(part for part in (_of_rule(words, rule, data, now), _of_witness(words, data, now)) if part)


def _of_rule(words: Words, rule: str, data: JsonObject, now: str) -> str:
    key, places = rule, dict[str, object]()
    if rule == "T44":
        dates = table(data.get("new_dates")).get("major")
        date = words.day(str(dates[-1]), now) if isinstance(dates, list) and dates else None
        key, places = "T44" if date else "T44_other", {"date": date}
    elif rule == "T45":
        places = {"days": words.number(number(data.get("elapsed_s")) // _DAY_S)}
    elif rule == "T46":
        places = {"n": words.number(number(data.get("minor_count")))}
    elif rule == "T47":
        places = {"fields": _named(words, "field", (row.get("field") for row in rows(data.get("changes"))))}
    elif rule == "S1":
        deciding = (row.get("signal") for row in rows(data.get("signals")) if row.get("rule") == "S1")
        places = {"signals": _named(words, "signal", deciding)}
    elif rule == "S2":
        if data.get("basis") == "contradicted":
            return ""  # the witness says it
        counts = table(table(data.get("difference")).get("lines"))
        changed = sum(number(counts.get(kind)) for kind in ("changed", "added", "removed"))
        total = changed + number(counts.get("unchanged")) + number(counts.get("moved"))
        places = {"changed": words.number(changed), "lines": words.number(total)}
        key = "S2" if changed else "S2_other"
    elif rule == "S4":
        told = next((line(row.get("why")) for row in rows(data.get("trace")) if row.get("rule") == rule), "")
        places = {"rule": told.rpartition("your rule: ")[2] or told}
    if f"why.{key}" not in words:
        key, places = "none", {"rule": rule}
    return words.say(f"why.{key}", **places)


def _of_witness(words: Words, data: JsonObject, now: str) -> str:
    witness = table(data.get("witness"))
    signal = line(witness.get("signal"), 40)
    if not signal:
        return ""
    if signal == "content":
        return words.say("why.witness_content")
    value = line(witness.get("value"), 60)
    key = "why.witness_text" if value else "why.witness_bare"
    kind = "signal" if f"signal.{signal}" in words else "field"
    return words.say(key, signal=_named(words, kind, (signal,)), value=words.quote(words.day(value, now) or value))


def _named(words: Words, kind: str, names: Iterable[object]) -> str:
    """Name signals or fields; one that has no name keeps its own."""
    told = [line(name, _LONGEST_VALUE) for name in names]
    found = dict.fromkeys(words.say(f"{kind}.{name}") if f"{kind}.{name}" in words else name for name in told)
    return ", ".join([*found][:_MOST_NAMED])
