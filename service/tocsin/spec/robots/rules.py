"""The rules of one robots.txt (RFC 9309), read by protego."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from protego import Protego

if TYPE_CHECKING:
    from protego._ruleset import _Rule

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
        """Find the longest rule of the agent's group that forbids the URL, by asking each alone."""
        group = self._parsed._get_matching_rule_set(agent)  # noqa: SLF001 - protego tells whether, not why
        rules: list[_Rule] = group._rules if group else []  # noqa: SLF001 - the same
        for rule in rules:  # the longest first
            text = f"Disallow: {rule.value._pattern}"  # noqa: SLF001 - the same
            if rule.field == "disallow" and not Protego.parse(f"User-agent: *\n{text}").can_fetch(url, agent):
                return text
        return None


def parse_robots(body: bytes) -> RobotsRules:
    """Read a robots.txt: UTF-8, at most its first 500 KiB, whatever is wrong with the rest of it. Never raises.

    Source  RFC 9309, 2.2 to 2.5.
    """
    text = body[:LONGEST_ROBOTS_BYTES].removeprefix(_BOM).decode("utf-8", "replace")
    return RobotsRules(Protego.parse(text))
