"""The rules of one robots.txt (RFC 9309), read by protego."""

from __future__ import annotations

from msgspec import Struct
from protego import Protego
from protego._utils import _quote_path

LONGEST_ROBOTS_BYTES = 500 * 1024
_BOM = b"\xef\xbb\xbf"


class Ruling(Struct, frozen=True, gc=False):
    """Whether a URL may be asked for.

    rule  what decided, as the site wrote it, where something did
    """

    allowed: bool
    rule: str | None = None


ALLOWED = Ruling(allowed=True)


class RobotsRules:
    """The rules of one robots.txt."""

    def __init__(self, parsed: Protego) -> None:
        self._parsed = parsed

    def allows(self, agent: str, url: str) -> Ruling:
        """Say whether the agent (its product token) may ask for this URL, which is absolute."""
        if self._parsed.can_fetch(url, agent):
            return ALLOWED
        return Ruling(allowed=False, rule=self._deciding_rule(agent, url))

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds that the site asks the agent to leave between requests; no part of RFC 9309, but often given."""
        return self._parsed.crawl_delay(agent)

    def _deciding_rule(self, agent: str, url: str) -> str | None:
        group = self._parsed._get_matching_rule_set(agent)  # noqa: SLF001 - protego tells whether, not why
        path = _quote_path(url)
        rules = (rule.value for rule in (group._rules if group else ()))  # noqa: SLF001 - the same; the longest first
        deciding = next((pattern for pattern in rules if pattern.match(path)), None)
        return None if deciding is None else f"Disallow: {deciding._pattern}"  # noqa: SLF001 - the same


def parse_robots(body: bytes) -> RobotsRules:
    """Read a robots.txt: UTF-8, at most its first 500 KiB, whatever is wrong with the rest of it. Never raises.

    Source  RFC 9309, 2.2 to 2.5.
    """
    text = body[:LONGEST_ROBOTS_BYTES].removeprefix(_BOM).decode("utf-8", "replace")
    return RobotsRules(Protego.parse(text))
