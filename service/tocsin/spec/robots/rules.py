"""The rules of one robots.txt (RFC 9309): what they allow, and which line of which record said so."""

from __future__ import annotations

import re
from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from tocsin.spec.html.urls import host_and_origin, resolve
from tocsin.spec.robots.patterns import canonical, parse_pattern, path_of
from tocsin.spec.robots.records import LONGEST_ROBOTS_BYTES, Line, Record, decode_robots, read_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.robots.patterns import Pattern

__all__ = [
    "ALLOWED",
    "LONGEST_ROBOTS_BYTES",
    "AgentRules",
    "Policy",
    "RobotsRules",
    "Ruling",
    "decode_robots",
    "parse_robots",
    "policy_of",
    "read_robots",
    "robots_url",
]

_MOST_AGENTS = 8
_WORD = re.compile(r"[\w-]+")
_OK, _CLIENT_ERRORS, _SERVER_ERRORS, _TOO_MANY_REQUESTS = 200, 400, 500, 429


class Policy(StrEnum):
    """What the status of a robots.txt means."""

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
MOST_STEPS = 64_000_000
# Deviation: RFC 9309 knows no such case. A site that can redirect us anywhere could hold up all others with it.
TOO_COSTLY = Ruling(allowed=False, rule="robots.txt has too many wildcards to be matched against so long a URL")


class _Rule(NamedTuple):
    """A rule of a record that names us; a file may have tens of thousands, so no more is kept than is told."""

    octets: int
    allows: bool
    number: int
    shown: str
    named: Line

    @property
    def ruling(self) -> Ruling:
        of = f'"{self.named.shown}" (line {self.named.number})'
        return Ruling(self.allows, f'line {self.number}: "{self.shown}" for {of}')


class AgentRules:
    """What a robots.txt says to one robot: the rules of all the records that name it best.

    crawl_delay  seconds that the site asks it to leave between requests; of several the longest
    size         how many rules these are
    """

    def __init__(self, records: Sequence[tuple[Record, Line]], also_forbidding: Sequence[AgentRules] = ()) -> None:
        """Take the records that are for the robot.

        also_forbidding  of the records that may be for it: what they forbid is forbidden, what they allow says nothing
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
        """Say whether the robot may ask for this URL, which is absolute: the rule with most octets decides, if any."""
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

    def _add(self, line: Line, named: Line) -> None:
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

    def __init__(self, records: Sequence[Record], sitemaps: Sequence[Line]) -> None:
        self._records = records
        self._of_agent: dict[str, AgentRules] = {}
        self.sitemaps = tuple(dict.fromkeys(line.value for line in sitemaps))

    def of(self, agent: str) -> AgentRules:
        """Give what is said to this robot, by its name or as it presents itself: `tocsin`, `Tocsin/1.0`."""
        name = agent.lower()
        found = self._of_agent.get(name)
        if found is None:
            if len(self._of_agent) >= _MOST_AGENTS:
                self._of_agent.clear()
            found = self._of_agent[name] = _rules_for(name, self._records)
        return found

    def allows(self, agent: str, url: str) -> Ruling:
        """Say whether the agent may ask for this URL, which is absolute."""
        return self.of(agent).allows(url)

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds that the site asks the agent to leave between requests; no part of RFC 9309, but often given."""
        return self.of(agent).crawl_delay


def parse_robots(body: bytes, *, cut: bool = False) -> RobotsRules:
    """Read a robots.txt: at most its first 500 KiB, whatever is wrong with the rest of it. Never raises.

    cut  there was more than is given: the line that the cut went through is left out
    Source  RFC 9309, 2.2 to 2.5.
    """
    return read_robots(decode_robots(body, cut=cut))


def read_robots(text: str) -> RobotsRules:
    """Read a robots.txt that was decoded by `decode_robots`. Never raises."""
    return RobotsRules(*read_records(text))


def policy_of(status: int) -> Policy | None:
    """Say what the status of a robots.txt means; None for one that is no answer (a redirection, 1xx).

    429 is of the server's errors: it is too busy to say (RFC 9309, 2.3.1.3, leaves us free to stay away).
    """
    if status >= _SERVER_ERRORS or status == _TOO_MANY_REQUESTS:
        return Policy.DISALLOW_ALL
    if status >= _CLIENT_ERRORS:
        return Policy.ALLOW_ALL
    return Policy.PARSE if status // 100 == _OK // 100 else None


def robots_url(url: str) -> str | None:
    """Return where robots.txt is for this URL: at the root of its scheme, host and port (LM-32).

    None for what is no http(s) URL.
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


def _rules_for(agent: str, records: Sequence[Record]) -> AgentRules:
    """Find the records that name this robot, by the longest of its names, or else those for every robot.

    Records whose name is only the beginning of one of its names may forbid beside those for every robot, never allow:
    to RFC 9309 (2.2.1) they are for another robot, to text 001 they are for this one.
    """
    naming: dict[str, list[tuple[Record, Line]]] = defaultdict(list)
    for record in records:
        for name, line in dict(record.names).items():
            naming[name].append((record, line))
    words = _WORD.findall(agent)
    whole = max((name for name in naming if name in words), key=len, default=None)
    if whole is not None:
        return AgentRules(naming[whole])
    beginnings = [name for name in naming if any(word.startswith(name) for word in words)]
    return AgentRules(naming.get("*", []), [AgentRules(naming[name]) for name in beginnings])
