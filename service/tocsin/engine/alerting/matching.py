"""Which alerts are meant: the matchers of routes, silences, streams, feeds and lists. Pure, and linear in every input.

There are no regular expressions and no expressions of the user: what needs more is a program behind a webhook.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize
from urllib.parse import urlsplit

from tocsin.events import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import TypeAlias

    from tocsin.model import JsonObject
    from tocsin.settings import MatchSettings

    Takes: TypeAlias = Callable[["AlertFacts"], bool]

# Scripts that write no spaces between words: each of their letters counts as a word.
_NO_SPACES: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[^\W{_NO_SPACES}]+|[{_NO_SPACES}]")
_ASCII_BREAKS: Final = {code: " " for code in range(128) if not _WORD.match(chr(code))}
# Between the words of a text; no word contains it.
_GAP: Final = "\0"
_MOST_SHOWN: Final = 3
# With more phrases than these it costs less to split an alert's texts.
_MOST_SOUGHT: Final = 4


class AlertFacts:
    """What matchers ask of an alert, read from its event once.

    kind         as in lists of alerts: "changed", "storm", …
    group        "" for an alert of no page, like each value that it lacks
    are_unsplit  its texts were not split into words yet: `may_have` is asked first
    """

    def __init__(self, event_type: str, event: JsonObject) -> None:
        self._data = data = _table(event.get("data"))
        self._page = page = _table(data.get("page"))
        self.kind = kind_of(event_type)
        self.outcome = _text(data.get("outcome"))
        self.basis = _text(data.get("basis"))
        self.rule = _text(data.get("rule"))
        self.group = _text(page.get("group"))
        self.url = _text(page.get("url"))
        self.are_unsplit, self._sought = True, 0
        self._folded: str | None = None

    @cached_property
    def host(self) -> str:
        """The host of the page, the question or the storm, in lower case; "" for an outage."""
        named = (_text(_table(self._data.get(key)).get("host")) for key in ("question", "storm"))
        host = next(filter(None, named), "") or host_of(self.url)
        return host.lower().rstrip(".")

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields that changed."""
        return frozenset(_text(each.get("field")) for each in _entries(self._data.get("changes")))

    @cached_property
    def words(self) -> tuple[str, frozenset[str]]:
        """The words of the title, the added lines and the user's text: in their order, and as a set."""
        words = _words_in(self._fold_texts())
        return f"{_GAP}{_GAP.join(words)}{_GAP}", frozenset(words)

    def may_have(self, phrases: Sequence[Sequence[str]]) -> bool:
        """Tell whether all words of one of these phrases may be in its texts; False is certain.

        Most alerts have none that is sought: that is found out without splitting their texts, unless many are sought.
        """
        self._sought += len(phrases)
        if self._sought > _MOST_SOUGHT:
            self.are_unsplit = False
            return True
        text = self._fold_texts()
        for phrase in phrases:
            for word in phrase:
                if word not in text:
                    break
            else:
                self.are_unsplit = False
                return True
        return False

    def _fold_texts(self) -> str:
        if self._folded is None:
            data = self._data
            texts = [_text(_table(data.get("rendering")).get("title")), _text(self._page.get("text"))]
            for key in ("difference", "excerpt"):
                changed = data.get(key)
                if changed is not None:
                    texts.append(_joined(_table(changed).get("added")))
            self._folded = _fold(_GAP.join(texts))
        return self._folded


def host_of(url: str) -> str:
    """Return the host of a URL; "" where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _table(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _joined(lines: Any) -> str:
    """Join lines of a text; in an event above 256 KiB the longest lists are replaced by their digests."""
    if not isinstance(lines, list):
        return ""
    try:
        return _GAP.join(lines)
    except TypeError:
        return _GAP.join(line for line in lines if isinstance(line, str))


def _entries(value: Any) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", text).casefold()


def _words_in(folded: str) -> list[str]:
    if folded.isascii():
        # A quarter of the time that the pattern takes; a word begins and ends at the same places.
        return folded.translate(_ASCII_BREAKS).split()
    return _WORD.findall(folded)


class Matcher:
    """Tells which alerts a `match` means.

    takes  tells whether it means an alert
    """

    __slots__ = ("_checks", "settings", "takes")

    def __init__(self, settings: MatchSettings) -> None:
        self.settings = settings
        self._checks: tuple[tuple[str, Takes], ...] = tuple(
            (key, _CHECKS[key](values)) for key in _CHECKS if (values := getattr(settings, key))
        )
        self.takes: Takes = _all([is_met for _, is_met in self._checks])

    def why_not(self, facts: AlertFacts) -> str | None:
        """Say which key keeps this alert out, and what it is instead; None if the alert is meant."""
        for key, is_met in self._checks:
            if not is_met(facts):
                return _why_not(key, getattr(self.settings, key), facts)
        return None


def _all(checks: Sequence[Takes]) -> Takes:
    """Make one check of several; most matchers have one or two, and an alert meets a hundred matchers."""
    match checks:
        case []:
            return lambda _facts: True
        case [only]:
            return only
        case [first, *others]:
            others_are_met = _all(others)
            return lambda facts: first(facts) and others_are_met(facts)
    raise AssertionError(checks)


def _one_of(key: str) -> Callable[[Sequence[str]], Takes]:
    def check(values: Sequence[str]) -> Takes:
        known = frozenset(values)
        return lambda facts: getattr(facts, key) in known

    return check


def _hosts(patterns: Sequence[str]) -> Takes:
    patterns = [pattern.lower().rstrip(".") for pattern in patterns]
    if "*" in patterns:
        return lambda facts: bool(facts.host)
    exact = frozenset(pattern for pattern in patterns if not pattern.startswith("*."))
    endings = tuple(pattern[1:] for pattern in patterns if pattern.startswith("*."))

    if not endings:
        return lambda facts: facts.host in exact
    return lambda facts: facts.host.endswith(endings) or facts.host in exact


def _urls(patterns: Sequence[str]) -> Takes:
    exact = frozenset(pattern for pattern in patterns if "*" not in pattern)
    parted = [tuple(pattern.split("*")) for pattern in patterns if "*" in pattern]

    def is_met(facts: AlertFacts) -> bool:
        url = facts.url
        if url in exact:
            return True
        for parts in parted:
            if _is_like(parts, url):
                return bool(url)
        return False

    return is_met


def _is_like(parts: tuple[str, ...], text: str) -> bool:
    """Tell whether a text has these parts, each after the one before, the first and the last at its ends."""
    if not text.startswith(parts[0]):
        return False
    first, *between, last = parts
    if not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in between:
        # The first place is always the best one: it leaves the most text for the parts that follow.
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def _fields(names: Sequence[str]) -> Takes:
    known = frozenset(names)
    return lambda facts: not known.isdisjoint(facts.fields)


def _words(phrases: Sequence[str]) -> Takes:
    found = [tuple(_words_in(_fold(phrase))) for phrase in phrases]
    alone = frozenset(words[0] for words in found if len(words) == 1)
    several = [f"{_GAP}{_GAP.join(words)}{_GAP}" for words in found if len(words) > 1]

    def is_met(facts: AlertFacts) -> bool:
        if facts.are_unsplit and not facts.may_have(found):
            return False
        text, known = facts.words
        if not alone.isdisjoint(known):
            return True
        for phrase in several:  # noqa: SIM110 - as with URLs
            if phrase in text:
                return True
        return False

    return is_met


# In the order in which they are tried: what is read already comes before what must be computed.
_CHECKS: Final[dict[str, Callable[[Sequence[str]], Takes]]] = {
    "kind": _one_of("kind"),
    "outcome": _one_of("outcome"),
    "basis": _one_of("basis"),
    "group": _one_of("group"),
    "rule": _one_of("rule"),
    "host": _hosts,
    "url": _urls,
    "field": _fields,
    "words": _words,
}
_WITHOUT: Final = {"url": "it is about no page", "group": "it is about no page", "host": "it is about no host"}


def _why_not(key: str, values: Sequence[str], facts: AlertFacts) -> str:
    wanted = _listed(values)
    if key == "words":
        return f"none of the words {wanted} is in its title, its added lines or your text"
    if key == "field":
        found = _listed(sorted(facts.fields)) if facts.fields else "no field"
        return f"it changed {found}, not {wanted}"
    value = getattr(facts, key)
    if not value:
        return _WITHOUT.get(key, f"it has no {key}")
    return f"its {key} is {value}, not {wanted}"


def _listed(values: Collection[str]) -> str:
    shown = ", ".join(list(values)[:_MOST_SHOWN])
    return shown if len(values) <= _MOST_SHOWN else f"{shown} or {len(values) - _MOST_SHOWN} others"
