"""Messages for people: an alert or a digest in words, made from its event alone. Pure.

Nothing in a message can act: control characters and changes of direction are shown as escapes, links are http or https
only, texts of pages are escaped for HTML and Markdown, and a subject is one line.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tocsin import events
from tocsin.engine.alerting.plain import write_markdown, write_text
from tocsin.engine.alerting.templating import render_html
from tocsin.model import JsonObject
from tocsin.model.messages import Message
from tocsin.wording.summary import line, number, rows, summarise, table, tell_item, why
from tocsin.wording.words import Words, cut, visible, words_of

MOST_BYTES: Final = 256 * 2**10
MOST_ALERTS: Final = 500
MOST_OF_SHORT: Final = 280
_MOST_OF_SUBJECT: Final = 150
_MOST_OF_TITLE: Final = 100
_MOST_OF_URL: Final = 2000
_MOST_OF_WHERE: Final = 72
_MOST_ITEMS: Final = 8
_MOST_PLACES: Final = 50
# Of an alert in a digest; fewer where the digest has many.
_MOST_ROWS: Final = 6
_MOST_OF_ROW: Final = 160
_SIGNS: Final = {"major": "◆", "minor": "◇", "bad": "▲", "good": "●", "quiet": "○"}
_ORDER: Final = {"major": 0, "bad": 1, "minor": 2}
_TONES: Final = {
    "unreachable": "bad",
    "disallowed": "bad",
    "suspect": "bad",
    "needs-browser": "bad",
    "recovered": "good",
}
_UNSAFE_IN_LINKS: Final = {letter: quote(letter) for letter in " <>()[]\"'\\`{|}^"}
_BIDI_SAFE: Final = str.maketrans(_UNSAFE_IN_LINKS)


def message_of(event: JsonObject, language: str, *, time_zone: str = "UTC", failed: str = "") -> Message:
    """Write an alert or a digest for people.

    event      as `events.cloud_event` makes it
    time_zone  of the times in it
    failed     why a template of the user's own could not be used, which the last line says
    """
    if event.get("type") == events.DIGEST:
        return digest_message(event, language, time_zone=time_zone, failed=failed)
    view = alert_view(event, language, time_zone=time_zone)
    return to_message(view | {"note": _note(language, failed)}, language)


def view_of(event: JsonObject, language: str, *, time_zone: str = "UTC") -> JsonObject:
    """Give what templates show of an alert or a digest."""
    make = digest_view if event.get("type") == events.DIGEST else alert_view
    return make(event, language, time_zone=time_zone)


def digest_message(event: JsonObject, language: str, *, time_zone: str = "UTC", failed: str = "") -> Message:
    """Write a digest for people: text and HTML of at most 256 KiB each; what finds no room is counted."""
    shown = len(rows(table(event.get("data")).get("alerts"))[:MOST_ALERTS])
    with_rows = True
    while True:
        view = digest_view(event, language, time_zone=time_zone, shown=shown, with_rows=with_rows)
        message = to_message(view | {"note": _note(language, failed)}, language)
        size = max(len(body.encode()) for body in (message.text, message.html, message.markdown))
        if size <= MOST_BYTES or not shown:
            return message
        # What differs gives way to alerts, and then the last alerts to the first ones.
        with_rows, shown = False, shown if with_rows else shown * MOST_BYTES // (size + 1)


def _note(language: str, failed: str) -> str:
    return words_of(language).say("message.template_failed", error=line(failed)) if failed else ""


def to_message(view: JsonObject, language: str) -> Message:
    """Render a view by the built-in templates."""
    words = words_of(language)
    return Message(
        id=view["id"],
        subject=view["subject"],
        text=write_text(words, view),
        html=render_html(view, language),
        markdown=write_markdown(words, view),
        short=view["short"],
        thread=view["thread"],
        link=view["link"],
    )


def alert_view(event: JsonObject, language: str, *, time_zone: str = "UTC") -> JsonObject:
    """Give what templates of an alert show: `subject`, `alert`, `source`, `link`; documented in docs/mail.md."""
    words, data = words_of(language), table(event.get("data"))
    alert = _alert(words, event, data, time_zone)
    # "312 pages of example.org changed alike" names the host already.
    is_named = not alert["title"] or (not alert["where"] and alert["title"] in alert["short"])
    subject = alert["short"] if is_named else words.say("message.subject", title=alert["title"], short=alert["short"])
    page_id, source = line(table(data.get("page")).get("id"), 40), line(event.get("source"), 80)
    link = alert["link"] or alert["url"]
    return {
        "id": line(event.get("id"), 120),
        "language": words.language,
        "subject": cut(subject, _MOST_OF_SUBJECT),
        "short": _short(alert["summary"] if is_named else f"{alert['title']}: {alert['summary']}", link),
        "is_digest": False,
        "alert": alert,
        "source": source,
        "link": link,
        "thread": f"{source}.page.{page_id}" if page_id else None,
        "note": "",
    }


def digest_view(
    event: JsonObject, language: str, *, time_zone: str = "UTC", shown: int = MOST_ALERTS, with_rows: bool = True
) -> JsonObject:
    """Give what templates of a digest show: `heading`, `lead`, `groups` of alerts, `rest`.

    shown      alerts in full; the others are counted
    with_rows  also what differs in each
    """
    words, data = words_of(language), table(event.get("data"))
    entries, day = rows(data.get("alerts")), str(event.get("time") or "")
    alerts = [_entry(words, entry, day, time_zone, with_rows=with_rows) for entry in entries[:shown]]
    rest = _rest(data, entries[shown:])
    count = max(number(data.get("count")), len(entries))
    heading, lead = _heading(words, data, count, entries, time_zone)
    names = ", ".join(alert["title"] for alert in alerts[:2])
    subject = words.say("message.digest_subject", count=heading, first=names) if names else heading
    link = safe_link(table(data.get("links")).get("page")) or safe_link(data.get("link"))
    return {
        "id": line(event.get("id"), 120),
        "language": words.language,
        "subject": cut(subject, _MOST_OF_SUBJECT),
        "short": _short(subject, link),
        "is_digest": True,
        "heading": heading,
        "lead": lead,
        "groups": _grouped(alerts, data),
        "rest": [
            {"count": words.number(found), "where": ", ".join(part for part in place if part) or "…"}
            for place, found in rest.most_common(_MOST_PLACES)
        ],
        "rest_count": sum(rest.values()),
        "source": line(event.get("source"), 80),
        "link": link,
        "thread": None,
        "note": "",
    }


def safe_link(value: Any) -> str | None:
    """Give a URL that may be a link: http or https, without characters that could end it; None for any other."""
    if not isinstance(value, str) or len(value) > _MOST_OF_URL or visible(value) != value:
        return None
    if not value.lower().startswith(("http://", "https://")):
        return None
    return value.translate(_BIDI_SAFE)


def _alert(words: Words, event: JsonObject, data: JsonObject, time_zone: str) -> JsonObject:
    """Show one alert."""
    kind, now = str(event.get("type")), str(event.get("time") or "")
    page, said = table(data.get("page")), summarise(event, words.language)
    url = page.get("url") or event.get("subject")
    question, storm = table(data.get("question")), table(data.get("storm"))
    has_many = max(number(question.get("pages")), number(storm.get("pages"))) > 1
    if has_many:
        # It is about the host; the page is the first of its sample.
        page, url = {"group": page.get("group")}, question.get("host") or storm.get("host")
    label, tone = _label(words, kind, data.get("outcome"))
    difference = table(data.get("difference") or data.get("excerpt"))
    told = [each for change in rows(table(data.get("items")).get("changes")) if (each := tell_item(words, change, now))]
    basis = line(data.get("basis"), 20)
    reason = why(words, data, now)
    return {
        "type": kind,
        "label": label,
        "tone": tone,
        "sign": _SIGNS[tone],
        "title": _title(page.get("text"), page.get("title"), url),
        "summary": said.sentence,
        "short": said.short,
        "rows": [_row(row) for row in rows(difference.get("rows"))],
        "details": [visible(each) for each in told[:_MOST_ITEMS]] if len(told) > 1 else [],
        "why": reason,
        "rule": line(data.get("rule"), 40) if reason else "",
        "basis": words.say(f"basis.{basis}") if reason and f"basis.{basis}" in words else "",
        "outcome": line(data.get("outcome"), 20),
        "group": _group(page.get("group")),
        "url": safe_link(url),
        "address": line(url, _MOST_OF_URL) if "://" in str(url) else "",
        "where": "" if has_many else _where(url),
        "link": safe_link(table(question.get("answer")).get("url")) or safe_link(table(data.get("links")).get("page")),
        "command": line(table(question.get("answer")).get("command") or storm.get("command"), 200),
        "picture": _picture(words, data),
        "pages": [line(each, 200) for each in (question or storm).get("sample") or ()] if has_many else [],
        "time": _time(words, now, time_zone),
    }


def _picture(words: Words, data: JsonObject) -> JsonObject | None:
    """Link to the page's picture beside the one before; None where there is none, or no address of the web pages.

    Not within the message: a picture of a whole page is a megabyte, and each server on the way would keep it.
    """
    shot, page = table(table(data.get("rendering")).get("screenshot")), safe_link(table(data.get("links")).get("page"))
    if not shot or not page:
        return None
    share = shot.get("changed")
    if not isinstance(share, int | float) or not share:
        return {"words": words.say("message.picture"), "link": f"{page}/pictures"}
    said = words.say("message.picture_differs", share=words.number(max(round(share * 100), 1)))
    return {"words": said, "link": f"{page}/pictures"}


def _entry(words: Words, entry: JsonObject, day: str, time_zone: str, *, with_rows: bool) -> JsonObject:
    """Show one alert of a digest, which was made on a day."""
    url, now = entry.get("subject"), str(entry.get("time") or "")
    label, tone = _label(words, str(entry.get("type")), entry.get("outcome"))
    return {
        "label": label,
        "tone": tone,
        "sign": _SIGNS[tone],
        "title": _title(None, entry.get("title"), url),
        "summary": line(entry.get("summary")),
        "rows": [_shortened(_row(row)) for row in rows(entry.get("rows"))[:_MOST_ROWS]] if with_rows else [],
        "outcome": line(entry.get("outcome"), 20),
        "group": _group(entry.get("group")),
        "url": safe_link(url),
        "address": line(url, _MOST_OF_URL),
        "where": _where(url),
        "link": safe_link(entry.get("link")),
        "time": _time(words, now, time_zone, now=day),
    }


def _heading(
    words: Words, data: JsonObject, count: int, entries: list[JsonObject], time_zone: str
) -> tuple[str, list[str]]:
    """Say how many alerts a digest has, and of which time."""
    lead: list[str] = []
    first, last = (str(data.get(key) or "") for key in ("from", "to"))
    if first and last:
        lead.append(_period(words, first, last, time_zone))
    outcomes = Counter(str(entry.get("outcome")) for entry in entries)
    changes = outcomes["major"] + outcomes["minor"]
    if changes and len(entries) == count:
        parts = [words.say(f"message.{kind}s", n=outcomes[kind]) for kind in ("major", "minor") if outcomes[kind]]
        if count > changes:
            parts.append(words.say("message.others", n=count - changes))
        lead.append(", ".join(parts))
    if silenced := number(data.get("silenced")):
        lead.append(words.say("message.silenced", n=silenced))
    if not count:
        return words.say("message.nothing"), [words.say("message.nothing_long"), *lead]
    return words.say("message.changes" if changes == count else "message.alerts", n=count), lead


def _grouped(alerts: list[JsonObject], data: JsonObject) -> list[JsonObject]:
    """Gather alerts under their groups, what matters most first; a lone group has no heading."""
    found: dict[str, list[JsonObject]] = {}
    for alert in sorted(alerts, key=lambda alert: _ORDER.get(alert["tone"], len(_ORDER))):
        found.setdefault(alert["group"], []).append(alert)
    lone = len(found) == 1 and not line(data.get("key"), 80)
    return [{"name": "" if lone else name, "count": len(each), "alerts": each} for name, each in found.items()]


def _rest(data: JsonObject, left_out: list[JsonObject]) -> Counter[tuple[str, str]]:
    """Count the alerts that are not shown, by group and host."""
    rest: Counter[tuple[str, str]] = Counter()
    for row in rows(data.get("rest")):
        rest[_group(row.get("group")), line(row.get("host"), _MOST_OF_WHERE)] += number(row.get("count"))
    for entry in left_out:
        rest[_group(entry.get("group")), _host(entry.get("subject"))] += 1
    return rest


def _label(words: Words, kind: str, outcome: Any) -> tuple[str, str]:
    """Name a kind of event, and its tone."""
    name = events.kind_of(kind)
    if name == "changed" and outcome in ("major", "minor"):
        return words.say(f"label.{outcome}"), str(outcome)
    if kind == events.OUTAGE_BEGAN:
        return words.say("label.outage"), "bad"
    if name in ("changed", "storm"):
        return words.say(f"label.{name}"), outcome if outcome in ("major", "minor") else "minor"
    key = f"label.{name}"
    return words.say(key if key in words else "label.other"), _TONES.get(name, "quiet")


def _row(row: JsonObject) -> JsonObject:
    found = row.get("pieces")
    pieces = [[str(kind), visible(str(text))] for kind, text in found] if isinstance(found, list) else []
    return {
        "kind": row.get("kind"),
        "lines": number(row.get("lines")),
        "pieces": pieces,
        "text": "".join(text for _, text in pieces),
        "before": "".join(text for kind, text in pieces if kind != "added"),
        "now": "".join(text for kind, text in pieces if kind != "removed"),
    }


def _shortened(row: JsonObject) -> JsonObject:
    """Cut a row's pieces to what a digest has room for."""
    left, pieces = _MOST_OF_ROW, []
    for kind, text in row["pieces"]:
        if len(text) > left:
            pieces.append([kind, f"{text[:left].rstrip()}…"])
            break
        pieces.append([kind, text])
        left -= len(text)
    return _row({**row, "pieces": pieces})


def _title(own: Any, title: Any, url: Any) -> str:
    """Call a page by the user's own name for it, else its title, else its address."""
    return line(own, _MOST_OF_TITLE) or line(title, _MOST_OF_TITLE) or _where(url)


def _where(url: Any) -> str:
    """Show an address without its scheme, its middle left out if it is long."""
    if not isinstance(url, str) or url == "outage" or url.startswith("channel:"):
        return ""
    shown = visible(url.partition("://")[2] or url).rstrip("/")
    return shown if len(shown) <= _MOST_OF_WHERE else f"{shown[:44]}…{shown[-24:]}"


def _host(url: Any) -> str:
    try:
        return line(urlsplit(str(url)).hostname or str(url), _MOST_OF_WHERE)
    except ValueError:
        return ""


def _group(value: Any) -> str:
    """Name a group; the one that all pages are in at first has no name."""
    name = line(value, 63)
    return "" if name == "main" else name


def _time(words: Words, text: str, time_zone: str, *, now: str = "") -> str:
    """Write an instant of an event in the instance's time; beside that of another one, `now`, in short."""
    try:
        there = datetime.fromisoformat(text).astimezone(ZoneInfo(time_zone))
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return line(text, 40)
    shown = words.day(there.isoformat(), now) or line(text, 40)
    return shown if now else f"{shown} {there.tzname()}"


def _period(words: Words, first: str, last: str, time_zone: str) -> str:
    """Write from when to when; a day, a minute and a zone that both have are written once."""
    began, ended = (_time(words, each, time_zone) for each in (first, last))
    if began == ended:
        return ended
    early, late = (each.rpartition(", ") for each in (began, ended))
    if early[0] == late[0]:
        hour, _, zone = early[2].partition(" ")
        began, ended = f"{early[0]}, {hour if late[2].endswith(f' {zone}') else early[2]}", late[2]
    return words.say("message.from_to", first=began, last=ended)


def _short(text: str, link: str | None) -> str:
    """Write what a chat shows: the text, cut so that the link has room."""
    if link is None or len(link) > MOST_OF_SHORT // 2:
        return cut(text, MOST_OF_SHORT)
    return f"{cut(text, MOST_OF_SHORT - len(link) - 1)} {link}"
