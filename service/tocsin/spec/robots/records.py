"""robots.txt taken apart: records of names and rules, each with its line (RFC 9309, 2.2; text 001)."""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST_ROBOTS_BYTES = 500 * 1024
MOST_SHOWN = 200
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HTML = re.compile(r"\s*+<(?:!doctype\s++html|(?:html|head)[\s>]|\?xml)", re.IGNORECASE)
# A field, and its value behind a colon; where there is none, white space will do for the fields that we know.
_FIELD = re.compile(r"\s*+([^:]*+):(.*)", re.DOTALL)
_BARE = re.compile(r"\s*+(user[- ]?agent|allow|disallow|site-?map|crawl[- ]delay)\s++(.*)", re.IGNORECASE | re.DOTALL)
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")

_FIELDS = {
    "user-agent": "user-agent",
    "useragent": "user-agent",
    "user agent": "user-agent",
    "allow": "allow",
    "disallow": "disallow",
    # Slips of the pen whose meaning nobody doubts.
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "crawl-delay": "crawl-delay",
    "crawl delay": "crawl-delay",
    "sitemap": "sitemap",
    "sitemaps": "sitemap",
    "site-map": "sitemap",
}


class Line(NamedTuple):
    """A line that says something.

    number  from 1
    field   user-agent, allow, disallow, crawl-delay or sitemap
    shown   as the site wrote it, without comment, fit to be shown
    """

    number: int
    field: str
    value: str
    shown: str


class Record:
    """The rules for some robots, all named in a row.

    names   in lower case, without version, each with the line that has it
    rules   the lines with allow and disallow that say anything
    delays  the seconds of its Crawl-delay lines
    """

    __slots__ = ("delays", "names", "rules")

    def __init__(self) -> None:
        self.names: list[tuple[str, Line]] = []
        self.rules: list[Line] = []
        self.delays: list[float] = []


def decode_robots(body: bytes, *, cut: bool = False) -> str:
    """Decode a robots.txt: its first 500 KiB, without the line that the cut went through.

    body  UTF-8; of UTF-16 and of NUL bytes, which are wrong here, is made what was meant
    cut   there was more than is given
    Octets that are not UTF-8 are percent-encoded, as they are in a URL.
    """
    cut = cut or len(body) > LONGEST_ROBOTS_BYTES
    body = body[:LONGEST_ROBOTS_BYTES]
    if body.startswith(_UTF16_MARKS):
        text = body.decode("utf-16", "replace")
    else:
        text = body.removeprefix(_UTF8_MARK).replace(b"\0", b"").decode("utf-8", "surrogateescape")
        text = _NOT_UTF8.sub(lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text)
    return text[: max(text.rfind("\n"), text.rfind("\r")) + 1] if cut else text


def read_records(text: str) -> tuple[list[Record], list[Line]]:
    """Take a robots.txt apart: its records in order, and the lines that name sitemaps.

    Blank lines and unknown fields separate nothing. A page of HTML, which servers send instead, has no records.
    """
    records: list[Record] = []
    sitemaps: list[Line] = []
    record, is_naming = None, False
    if _HTML.match(text):
        return records, sitemaps
    for number, raw in enumerate(_LINE_END.split(text), 1):
        line = _read_line(number, raw)
        if line is None:
            continue
        if line.field == "sitemap":
            if line.value:
                sitemaps.append(line)
        elif line.field == "user-agent":
            if record is None or not is_naming:
                record, is_naming = Record(), True
                records.append(record)
            if name := _name(line.value):
                record.names.append((name, line))
        elif record is not None:
            is_naming = False
            _take(record, line)
    return records, sitemaps


def _take(record: Record, line: Line) -> None:
    if line.field == "crawl-delay":
        if _SECONDS.fullmatch(line.value):
            record.delays.append(float(line.value))
    elif line.value:  # an empty one forbids nothing
        record.rules.append(line)


def _read_line(number: int, raw: str) -> Line | None:
    content = raw.partition("#")[0]
    found = _FIELD.match(content)
    field = _FIELDS.get(found[1].strip().lower()) if found else None
    if found is None or field is None:
        found = _BARE.match(content)
        if found is None:
            return None
        field = _FIELDS[found[1].lower()]
    return Line(number, field, found[2].strip(), _shown(content))


def _name(value: str) -> str:
    """The name of a robot without its version, or what else stands behind it."""
    words = value.partition("/")[0].split()
    name = words[0].lower() if words else ""
    return name if name == "*" else name.replace("*", "")


def _shown(content: str) -> str:
    text = content.strip()
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:MOST_SHOWN])
    return clean if len(text) <= MOST_SHOWN else f"{clean}…"
