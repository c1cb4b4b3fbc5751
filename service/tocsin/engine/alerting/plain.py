"""Messages as plain text and as Markdown, line by line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tocsin.events import HOST_CHANGED
from tocsin.model import JsonObject
from tocsin.wording.words import Words

# What Markdown reads as markup: everywhere, and at the beginning of a line.
_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&~|#@]|:(?=//)|(?<=www)\.")
_START: Final = re.compile(r"^(\s*)([-+=]|\d{1,9}(?=[.)]))")


def escape_markdown(text: str) -> str:
    """Escape a text of a page, so that it is read as that text, without links, marks or HTML."""
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", text)
    return _START.sub(lambda found: found[1] + (f"\\{found[2]}" if found[2] in "-+=" else f"{found[2]}\\"), escaped)


def write_text(words: Words, view: JsonObject) -> str:
    """Write a message as plain text; see `messages.alert_view` and `messages.digest_view`."""
    lines = [*(_digest_text(words, view) if view["is_digest"] else _alert_text(words, view["alert"]))]
    lines += ["-- ", words.say("message.sent", source=view["source"])]
    if view["note"]:
        lines.append(view["note"])
    return "\n".join(lines) + "\n"


def write_markdown(words: Words, view: JsonObject) -> str:
    """Write a message as Markdown."""
    parts = [*(_digest_markdown(words, view) if view["is_digest"] else _alert_markdown(words, view["alert"]))]
    if view["note"]:
        parts.append(escape_markdown(view["note"]))
    return "\n\n".join(parts) + "\n"


def _alert_text(words: Words, alert: JsonObject) -> Iterator[str]:
    yield alert["title"] or alert["label"]
    yield from (alert["summary"], "")
    if alert["rows"]:
        yield from (*_rows_text(words, alert["rows"]), "")
    if alert["details"]:
        yield words.say("message.items") + ":"
        yield from (*(f"  {each}" for each in alert["details"]), "")
    if alert["why"]:
        yield f"{words.say('message.why')}: {alert['why']} ({_rule(alert)})"
        yield ""
    if alert["pages"]:
        yield words.say("message.pages") + ":"
        yield from (*(f"  {each}" for each in alert["pages"]), "")
    if alert["command"]:
        key = "message.release" if alert["type"] == HOST_CHANGED else "message.instruct"
        yield words.say(key, command=alert["command"])
    if alert["address"]:
        yield f"{words.say('message.page')}: {alert['address']}"
    if alert["link"]:
        yield f"{words.say('message.tocsin')}: {alert['link']}"
    if alert["picture"]:
        yield f"{alert['picture']['words']}: {alert['picture']['link']}"
    yield " · ".join(part for part in (alert["label"], alert["group"], alert["time"]) if part)
    yield ""


def _digest_text(words: Words, view: JsonObject) -> Iterator[str]:
    yield from (view["heading"], *view["lead"], "")
    for group in view["groups"]:
        if group["name"]:
            yield from (heading := f"{group['name']} ({group['count']})", "-" * len(heading), "")
        for alert in group["alerts"]:
            yield f"{alert['sign']} {alert['title'] or alert['label']}"
            yield f"  {alert['summary']}"
            yield from (f"  {row}" for row in _rows_text(words, alert["rows"]))
            yield "  " + " · ".join(part for part in (alert["time"], alert["address"]) if part)
            yield ""
    if view["rest"]:
        yield words.say("message.rest", n=view["rest_count"])
        yield from (*(f"  {each['count']}  {each['where']}" for each in view["rest"]), "")
    if view["link"]:
        yield from (f"{words.say('message.all')}: {view['link']}", "")


def _rows_text(words: Words, rows: list[JsonObject]) -> Iterator[str]:
    for row in rows:
        if row["kind"] in ("unchanged", "more"):
            yield f"  … {_counted(words, row)}"
            continue
        if row["kind"] != "added":
            yield f"- {row['before']}"
        if row["kind"] != "removed":
            yield f"+ {row['now']}"


def _alert_markdown(words: Words, alert: JsonObject) -> Iterator[str]:
    yield f"{alert['sign']} {_name(alert)}"
    yield escape_markdown(alert["summary"])
    if alert["rows"]:
        yield "\n>\n".join(f"> {_row_markdown(words, row)}" for row in alert["rows"])
    if alert["details"] or alert["pages"]:
        yield "\n".join(f"- {escape_markdown(each)}" for each in (*alert["details"], *alert["pages"]))
    if alert["why"]:
        yield f"*{words.say('message.why')}:* {escape_markdown(alert['why'])} ({escape_markdown(_rule(alert))})"
    if alert["command"]:
        yield f"`{alert['command'].replace('`', '')}`"
    parts = [alert["label"], escape_markdown(alert["group"]), alert["time"]]
    if alert["link"]:
        is_asked = alert["command"] and alert["type"] != HOST_CHANGED
        parts.append(f"[{words.say('message.answer' if is_asked else 'message.tocsin')}]({alert['link']})")
    if alert["picture"]:
        parts.append(f"[{escape_markdown(alert['picture']['words'])}]({alert['picture']['link']})")
    yield " · ".join(part for part in parts if part)


def _digest_markdown(words: Words, view: JsonObject) -> Iterator[str]:
    yield f"**{escape_markdown(view['heading'])}**"
    yield from map(escape_markdown, view["lead"])
    for group in view["groups"]:
        if group["name"]:
            yield f"**{escape_markdown(group['name'])}** ({group['count']})"
        yield "\n".join(f"- {one['sign']} {_name(one)}: {escape_markdown(one['summary'])}" for one in group["alerts"])
    if view["rest"]:
        yield escape_markdown(words.say("message.rest", n=view["rest_count"]))
        yield "\n".join(f"- {each['count']} · {escape_markdown(each['where'])}" for each in view["rest"])
    if view["link"]:
        yield f"[{words.say('message.all')}]({view['link']})"


def _row_markdown(words: Words, row: JsonObject) -> str:
    if row["kind"] in ("unchanged", "more"):
        return f"*… {_counted(words, row)}*"
    marks = {"removed": "~~", "added": "**"}
    shown, is_marked = "", False
    for kind, text in row["pieces"]:
        mark = marks.get(kind, "") if text.strip() else ""
        # Marks hold only where no space is within them, and two of them only with one between them.
        if (mark and (is_marked or text[:1].isspace())) and not shown[-1:].isspace():
            shown += " "
        shown += f"{mark}{escape_markdown(text.strip() if mark else text)}{mark}"
        if mark and text[-1:].isspace():
            shown += " "
        is_marked = bool(mark)
    return shown.strip()


def _name(alert: JsonObject) -> str:
    title = escape_markdown(alert["title"] or alert["label"])
    return f"[{title}]({alert['url']})" if alert["url"] else f"**{title}**"


def _rule(alert: JsonObject) -> str:
    return ", ".join(part for part in (alert["rule"], alert["basis"]) if part)


def _counted(words: Words, row: JsonObject) -> str:
    """Say how many lines a row stands for."""
    return words.say(f"message.{row['kind']}_lines", n=row["lines"])
