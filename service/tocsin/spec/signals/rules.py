"""What the user says of signals: rules such as "json-ld.version: major", "content by 30 %: major", "etag: ignore"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Says: TypeAlias = Literal["major", "minor", "nothing"]

CONTENT: Final = "content"

_RULE: Final = re.compile(r"([^:]{1,80}):\s*(major|minor|ignore)\s*", re.IGNORECASE)
_TURNED: Final = re.compile(r"\s*(ignore)\s+([^:]{1,80})", re.IGNORECASE)
_SHARE: Final = re.compile(r"(.*?)\s+by\s+([0-9]{1,3})\s*%\s*", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"[\s._]+")
_WHOLE: Final = 100


class Rule(Struct, frozen=True):
    """What a change of one signal comes to.

    signal  its name
    says    what it makes of the page
    share   of the content, from which on it holds, 0 to 1; 0 for other signals
    text    as the user wrote it
    """

    signal: str
    says: Says
    share: float
    text: str


def parse_rule(text: str, names: Collection[str]) -> Rule:
    """Read one rule.

    names  of all signals; a part of one that no other has stands for it, and words may stand for dots
    Raises ValueError with what is wrong and what would be right.
    """
    found = _RULE.fullmatch(text.strip())
    turned = None if found else _TURNED.fullmatch(text)
    if found:
        said, verb = found[1], found[2]
    elif turned:
        said, verb = turned[2], turned[1]
    else:
        raise ValueError(f'{text!r}: write SIGNAL: major, minor or ignore; such as "json-ld.version: major"')
    share, by = 0.0, _SHARE.fullmatch(said)
    if by:
        said, share = by[1], int(by[2]) / _WHOLE
    signal = _find(said, names)
    if signal is None:
        raise ValueError(f"{text!r}: there is no signal {said.strip()!r}; there are: {', '.join(sorted(names))}")
    if by and (signal != CONTENT or not 0 < share <= 1):
        raise ValueError(f'{text!r}: only the content changes by a share, of 1 to 100 %: "content by 30 %: major"')
    says: Says = {"major": "major", "minor": "minor"}.get(verb.lower(), "nothing")  # type: ignore[assignment]  # of Says
    return Rule(signal, says, share, text.strip())


@lru_cache(maxsize=256)
def parse_rules(texts: tuple[str, ...], names: tuple[str, ...]) -> tuple[Rule, ...]:
    """Read rules that were checked when they were set; what cannot be read since then says nothing."""
    rules = []
    for text in texts:
        try:
            rules.append(parse_rule(text, names))
        except ValueError:
            continue
    return tuple(rules)


def rule_for(signal: str, rules: Iterable[Rule], share: float = 1.0) -> Rule | None:
    """Find the rule in force for a signal, the content's by the largest share that was reached; None: the default."""
    reached = [rule for rule in rules if rule.signal == signal and rule.share <= share]
    return max(reached, key=lambda rule: rule.share, default=None)


def _find(said: str, names: Collection[str]) -> str | None:
    """Find the signal that is meant: by its name, or by a part of it that no other has."""
    wanted = _BETWEEN.sub(".", said.strip().lower())
    if wanted in names:
        return wanted
    alike = [name for name in names if wanted in (name.partition(".")[2], name.replace("-", ""))]
    return alike[0] if len(alike) == 1 else None
