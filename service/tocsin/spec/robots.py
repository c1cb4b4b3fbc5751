"""robots.txt and the directives of a page and its headers: what a site allows. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from tocsin.spec.html.microsyntax import SPACE, lower_ascii
from tocsin.spec.html.urls import host_and_origin, resolve

# The meta name that speaks to every robot.
ROBOTS = "robots"

# Terms without a value. The text lists all, index, nofollow and noindex; the others came later (LM-47, LM-48).
KNOWN_TERMS = frozenset(
    {
        "all",
        "follow",
        "index",
        "indexifembedded",
        "noarchive",
        "nocache",
        "nofollow",
        "noimageindex",
        "noindex",
        "none",
        "nositelinkssearchbox",
        "nosnippet",
        "notranslate",
    }
)

# Terms that are followed by a colon and a value.
VALUED_TERMS = frozenset({"max-image-preview", "max-snippet", "max-video-preview", "unavailable_after"})

_NO_INDEX = frozenset({"noindex", "none"})
_NO_FOLLOW = frozenset({"nofollow", "none"})
_NO_ARCHIVE = frozenset({"noarchive", "nocache"})
_EVERYONE = frozenset({"*", ROBOTS})
# A product token, perhaps with its version; a date's "05 Nov 1994 08" before a colon is none.
_ADDRESSEE = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]++)(?:/[!#$%&'*+.^_`|~0-9A-Za-z-]*+)?")


class Directives(Struct, frozen=True, gc=False):
    """What a page asks of robots; by default everything is allowed.

    index    whether the page's text may be searched, kept and handed on (LM-45)
    follow   whether its links may be offered (LM-46)
    archive  whether a copy of it may be kept
    terms    every term that speaks to us, as `split_terms` gives them, each once, in order, unknown ones too
    """

    index: bool = True
    follow: bool = True
    archive: bool = True
    terms: tuple[str, ...] = ()


_ALLOWED = Directives()


def read_directives(
    metas: Iterable[tuple[str | None, str | None]], x_robots_tag: Iterable[str], agent: str
) -> Directives:
    """Read a page's directives to robots; of several that apply, the most restrictive wins (LM-49).

    metas         name and content of the page's meta elements; all but those named robots, or like us, are ignored
    x_robots_tag  the values of its X-Robots-Tag headers; a term after `name:` speaks to that robot alone, as do
                  the terms after it until another name
    agent         our product token, compared without regard to case
    Source        text 001, META robots, with FOLLOW and NONE as everyone uses them (LM-44 to LM-49)
    """
    us = frozenset({ROBOTS, lower_ascii(agent)})
    terms: dict[str, None] = {}
    for name, content in metas:
        if name is not None and content is not None and lower_ascii(name) in us:
            terms.update(dict.fromkeys(split_terms(content)))
    for value in x_robots_tag:
        terms.update(dict.fromkeys(_terms_for(us | _EVERYONE, value)))
    if not terms:
        return _ALLOWED
    return Directives(
        index=terms.keys().isdisjoint(_NO_INDEX),
        follow=terms.keys().isdisjoint(_NO_FOLLOW),
        archive=terms.keys().isdisjoint(_NO_ARCHIVE),
        terms=tuple(terms),
    )


def split_terms(content: str) -> list[str]:
    """Split the content of a robots meta element: at each comma, trimmed, in lower case, without empty terms."""
    terms = (lower_ascii(term.strip(SPACE)) for term in content.split(","))
    return [term for term in terms if term]


def name_of(term: str) -> str:
    """Return the name of a term of `split_terms`: the part before its colon, if it has one."""
    return term.partition(":")[0].rstrip(SPACE)


def _terms_for(addressees: frozenset[str], value: str) -> Iterable[str]:
    """Return the terms of one header that address one of these robots; terms without a name address all."""
    ours = True
    for term in split_terms(value):
        name, colon, rest = term.partition(":")
        addressee = _ADDRESSEE.fullmatch(name.rstrip(SPACE)) if colon else None
        if addressee is None or addressee[1] in VALUED_TERMS:
            said = term
        else:
            ours = addressee[1] in addressees
            said = rest.strip(SPACE)
        if ours and said:
            yield said


# No library: the line that decided must be named, and matching must be linear in the length of the URL.
_PLAIN = re.compile(r"[A-Za-z0-9._~/-]*").fullmatch
_OCTET = re.compile(rb"%([0-9A-Fa-f]{2})|[^A-Za-z0-9._~/-]")
_UNRESERVED = re.compile(rb"[A-Za-z0-9._~-]")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


class Pattern(NamedTuple):
    """A rule's path.

    parts     the literal pieces between its `*`, as `canonical` writes them; at least one
    anchored  it ends where the URL does (`$`)
    octets    how specific it is: its length once everything that needs it is percent-encoded
    """

    parts: tuple[str, ...]
    anchored: bool
    octets: int

    def is_match(self, path: str) -> bool:
        """Return whether it covers this path and query, written by `canonical`."""
        first, *rest = self.parts
        if not path.startswith(first):
            return False
        if not rest:
            return not self.anchored or len(path) == len(first)
        # The leftmost place of each piece is as good as any other one, so that nothing is ever tried twice.
        at, last = len(first), rest.pop()
        for part in rest:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        if self.anchored:
            return len(path) - len(last) >= at and path.endswith(last)
        return path.find(last, at) >= 0


def parse_pattern(value: str) -> Pattern:
    """Read the value of an `Allow` or `Disallow` line; any text is one."""
    anchored = value.endswith("$")
    literal = value[:-1] if anchored else value
    pieces = literal.split("*")
    # Two stars in a row say no more than one.
    inner = [piece for piece in pieces[1:-1] if piece]
    ends = pieces[-1:] if len(pieces) > 1 else []
    return Pattern(tuple(map(canonical, [pieces[0], *inner, *ends])), anchored, _octets(value))


def canonical(text: str) -> str:
    """Write a path, or a piece of one, so that equal ones are equal: all but unreserved characters and `/` escaped.

    An escaped slash stays another thing than a slash.
    """
    if _PLAIN(text):
        return text
    return _OCTET.sub(_escaped, text.encode("utf-8", "surrogatepass")).decode("ascii")


def path_of(url: str) -> str:
    """Return the path and query of a URL, as written; at least `/`."""
    authority = _AUTHORITY.match(url)
    path = url[authority.end() if authority else 0 :].partition("#")[0]
    return path if path.startswith("/") else f"/{path}"


def _escaped(found: re.Match[bytes]) -> bytes:
    digits = found[1]
    octet = bytes.fromhex(digits.decode()) if digits else found[0]
    return octet if _UNRESERVED.match(octet) else b"%%%02X" % octet[0]


def _octets(value: str) -> int:
    if _PLAIN(value):
        return len(value)
    written = value.encode("utf-8", "surrogatepass")
    needless = sum(1 for found in _OCTET.finditer(written) if found[1] and len(_escaped(found)) == 1)
    return len(written) + 2 * len(_NOT_ASCII.findall(written)) - 2 * needless


# RFC 9309, 2.5: at least 500 KiB are parsed.
LONGEST_ROBOTS_BYTES = 500 * 1024
MOST_SHOWN = 200
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HTML = re.compile(r"\s*+<(?:!doctype\s++html|(?:html|head)[\s>]|\?xml)", re.IGNORECASE)
# A field, and its value after a colon; without a colon, white space is enough for known fields.
_FIELD = re.compile(r"\s*+([^:]*+):(.*)", re.DOTALL)
_BARE = re.compile(r"\s*+(user[- ]?agent|allow|disallow|site-?map|crawl[- ]delay)\s++(.*)", re.IGNORECASE | re.DOTALL)
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")

_FIELDS = {
    "user-agent": "user-agent",
    "useragent": "user-agent",
    "user agent": "user-agent",
    "allow": "allow",
    "disallow": "disallow",
    # Misspellings with an obvious meaning.
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


class RobotsLine(NamedTuple):
    """A line that says something.

    number  from 1
    field   user-agent, allow, disallow, crawl-delay or sitemap
    shown   as the site wrote it, without comment, fit to be shown
    """

    number: int
    field: str
    value: str
    shown: str


class RobotsGroup:
    """The rules for some robots, all named in a row.

    names   in lower case, without version, each with the line that has it
    rules   the lines with allow and disallow that say anything
    delays  the seconds of its Crawl-delay lines
    """

    __slots__ = ("delays", "names", "rules")

    def __init__(self) -> None:
        self.names: list[tuple[str, RobotsLine]] = []
        self.rules: list[RobotsLine] = []
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


def read_records(text: str) -> tuple[list[RobotsGroup], list[RobotsLine]]:
    """Split a robots.txt into its records, in order, and the lines that name sitemaps.

    Blank lines and unknown fields separate nothing. A page of HTML, which servers send instead, has no records.
    """
    records: list[RobotsGroup] = []
    sitemaps: list[RobotsLine] = []
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
                record, is_naming = RobotsGroup(), True
                records.append(record)
            if name := _name(line.value):
                record.names.append((name, line))
        elif record is not None:
            is_naming = False
            _take(record, line)
    return records, sitemaps


def _take(record: RobotsGroup, line: RobotsLine) -> None:
    if line.field == "crawl-delay":
        if _SECONDS.fullmatch(line.value):
            record.delays.append(float(line.value))
    elif line.value:  # an empty one forbids nothing
        record.rules.append(line)


def _read_line(number: int, raw: str) -> RobotsLine | None:
    content = raw.partition("#")[0]
    found = _FIELD.match(content)
    field = _FIELDS.get(found[1].strip().lower()) if found else None
    if found is None or field is None:
        found = _BARE.match(content)
        if found is None:
            return None
        field = _FIELDS[found[1].lower()]
    return RobotsLine(number, field, found[2].strip(), _shown(content))


def _name(value: str) -> str:
    """The name of a robot without its version and other text after it."""
    words = value.partition("/")[0].split()
    name = words[0].lower() if words else ""
    return name if name == "*" else name.replace("*", "")


def _shown(content: str) -> str:
    text = content.strip()
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:MOST_SHOWN])
    return clean if len(text) <= MOST_SHOWN else f"{clean}…"


# Names of robots whose rules are remembered: ours, and a few that hosts are asked with.
_MOST_AGENTS = 8
_WORD = re.compile(r"[\w-]+")
_OK, _CLIENT_ERRORS, _SERVER_ERRORS, _TOO_MANY_REQUESTS = 200, 400, 500, 429


class Policy(StrEnum):
    """The meaning of the status of a robots.txt."""

    PARSE = "parse"
    ALLOW_ALL = "allow_all"
    DISALLOW_ALL = "disallow_all"


class Ruling(Struct, frozen=True, gc=False):
    """Whether a URL may be asked for.

    rule  what decided, with its line and its record's, where something did:
          `line 12: "Disallow: /private/*" for "User-agent: tocsin" (line 10)`
    """

    allowed: bool
    rule: str | None = None


ALLOWED = Ruling(allowed=True)
# Rules times letters of the path: matching must not hold a process.
MOST_STEPS = 64_000_000
# Deviation: RFC 9309 knows no such case. A site that can redirect us anywhere could hold up all others with it.
TOO_COSTLY = Ruling(allowed=False, rule="robots.txt has too many wildcards to be matched against so long a URL")


class _Rule(NamedTuple):
    """A rule of a record that names us; a file may have tens of thousands, so only what is reported is kept."""

    octets: int
    allows: bool
    number: int
    shown: str
    named: RobotsLine

    @property
    def ruling(self) -> Ruling:
        of = f'"{self.named.shown}" (line {self.named.number})'
        return Ruling(self.allows, f'line {self.number}: "{self.shown}" for {of}')


class AgentRules:
    """The rules of a robots.txt for one robot: those of all the records that name it best.

    crawl_delay  seconds that the site asks it to leave between requests; of several the longest
    size         how many rules these are
    """

    def __init__(
        self, records: Sequence[tuple[RobotsGroup, RobotsLine]], also_forbidding: Sequence[AgentRules] = ()
    ) -> None:
        """Collect the rules of the records that are for the robot.

        also_forbidding  of the records that may be for it: they can forbid, but not allow
        """
        self._also_forbidding = also_forbidding
        delays = [delay for record, _ in records for delay in record.delays]
        delays += [rules.crawl_delay for rules in also_forbidding if rules.crawl_delay is not None]
        self.crawl_delay: float | None = max(delays, default=None)
        self._prefixes: dict[str, _Rule] = {}
        self._exact: dict[str, _Rule] = {}
        self._wild: list[tuple[_Rule, Pattern]] = []
        for record, named in records:
            for line in record.rules:
                self._add(line, named)
        self._lengths = tuple(sorted({len(prefix) for prefix in self._prefixes}))
        self._wild.sort(key=lambda found: found[0][:2], reverse=True)
        self.size: int = (
            len(self._prefixes) + len(self._exact) + len(self._wild) + sum(each.size for each in also_forbidding)
        )

    def allows(self, url: str) -> Ruling:
        """Return whether the robot may request this absolute URL: the rule with the most octets decides."""
        ruling = self._rule(url)
        for rules in self._also_forbidding if ruling.allowed else ():
            other = rules.allows(url)
            if not other.allowed:
                return other
        return ruling

    def _rule(self, url: str) -> Ruling:
        path = path_of(url)
        if path.partition("?")[0] == "/robots.txt":
            return ALLOWED
        path = canonical(path)
        best = self._exact.get(path)
        for length in self._lengths:
            if length > len(path):
                break
            best = _better(best, self._prefixes.get(path[:length]))
        for number, (rule, pattern) in enumerate(self._wild):
            if best is not None and rule[:2] <= best[:2]:
                break
            if number * len(path) > MOST_STEPS:
                return TOO_COSTLY
            if pattern.is_match(path):
                best = rule
                break
        return ALLOWED if best is None else best.ruling

    def _add(self, line: RobotsLine, named: RobotsLine) -> None:
        pattern = parse_pattern(line.value)
        rule = _Rule(pattern.octets, line.field == "allow", line.number, line.shown, named)
        if len(pattern.parts) > 1:
            self._wild.append((rule, pattern))
            return
        known = self._exact if pattern.anchored else self._prefixes
        literal = pattern.parts[0]
        better = _better(known.get(literal), rule)
        if better is not None:
            known[literal] = better


class RobotsRules:
    """The rules of one robots.txt.

    sitemaps  the addresses that it names, as written, in order, each once
    """

    def __init__(self, records: Sequence[RobotsGroup], sitemaps: Sequence[RobotsLine]) -> None:
        self._records = records
        self._of_agent: dict[str, AgentRules] = {}
        self.sitemaps = tuple(dict.fromkeys(line.value for line in sitemaps))

    def of(self, agent: str) -> AgentRules:
        """Return the rules for a robot, by its name or its User-Agent: `tocsin`, `Tocsin/1.0`."""
        name = agent.lower()
        found = self._of_agent.get(name)
        if found is None:
            if len(self._of_agent) >= _MOST_AGENTS:
                self._of_agent.clear()
            found = self._of_agent[name] = _rules_for(name, self._records)
        return found

    def allows(self, agent: str, url: str) -> Ruling:
        """Return whether the agent may ask for this URL, which is absolute."""
        return self.of(agent).allows(url)

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds that the site asks the agent to leave between requests; no part of RFC 9309, but often given."""
        return self.of(agent).crawl_delay


def parse_robots(body: bytes, *, cut: bool = False) -> RobotsRules:
    """Read a robots.txt: at most its first 500 KiB, with any faults. Never raises.

    cut  there was more than is given: the line that the cut went through is left out
    Source  RFC 9309, 2.2 to 2.5.
    """
    return read_robots(decode_robots(body, cut=cut))


def read_robots(text: str) -> RobotsRules:
    """Read a robots.txt that was decoded by `decode_robots`. Never raises."""
    return RobotsRules(*read_records(text))


def policy_of(status: int) -> Policy | None:
    """Return the policy for the status of a robots.txt; None for one that is not final (a redirection, 1xx).

    429 counts as a server error: the server is too busy to answer (RFC 9309, 2.3.1.3, allows us to stay away).
    """
    if status >= _SERVER_ERRORS or status == _TOO_MANY_REQUESTS:
        return Policy.DISALLOW_ALL
    if status >= _CLIENT_ERRORS:
        return Policy.ALLOW_ALL
    return Policy.PARSE if status // 100 == _OK // 100 else None


def robots_url(url: str) -> str | None:
    """Return where robots.txt is for this URL: at the root of its scheme, host and port (LM-32).

    None for a text that is not an http(s) URL.
    """
    found = resolve(url, "/robots.txt")
    if found is None or not found.startswith(("http://", "https://")):
        return None
    return f"{host_and_origin(found)[1]}/robots.txt"


def _better(one: _Rule | None, other: _Rule | None) -> _Rule | None:
    """The rule that decides between two: the one with more octets, then the one that allows, then the first."""
    if one is None or other is None:
        return one or other
    return other if other[:2] > one[:2] else one


def _rules_for(agent: str, records: Sequence[RobotsGroup]) -> AgentRules:
    """Find the records that name this robot, by the longest of its names, or else those for every robot.

    Records whose name is only the beginning of one of its names may forbid beside those for every robot, never allow:
    to RFC 9309 (2.2.1) they are for another robot, to text 001 they are for this one.
    """
    naming: dict[str, list[tuple[RobotsGroup, RobotsLine]]] = defaultdict(list)
    for record in records:
        for name, line in dict(record.names).items():
            naming[name].append((record, line))
    words = _WORD.findall(agent)
    whole = max((name for name in naming if name in words), key=len, default=None)
    if whole is not None:
        return AgentRules(naming[whole])
    beginnings = [name for name in naming if any(word.startswith(name) for word in words)]
    return AgentRules(naming.get("*", []), [AgentRules(naming[name]) for name in beginnings])
