"""The verdict of signals: each is compared with its own earlier value; the user's rules apply.

The specification's own verdict comes first, and is not changed: signals decide only where it found nothing new, and
confirm or contradict it where it did.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from tocsin.spec.signals.fingerprint import ContentChange


Says: TypeAlias = Literal["major", "minor", "nothing"]

CONTENT: Final = "content"
# How the page looks in a browser: read only where a rule of the user names it.
PICTURE: Final = "picture"
# What changes by a share.
MEASURED: Final = (CONTENT, PICTURE)

_RULE: Final = re.compile(r"([^:]{1,80}):\s*(major|minor|ignore)\s*", re.IGNORECASE)
_TURNED: Final = re.compile(r"\s*(ignore)\s+([^:]{1,80})", re.IGNORECASE)
_SHARE: Final = re.compile(r"(.*?)\s+by\s+([0-9]{1,3})\s*%\s*", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"[\s._]+")
_WHOLE: Final = 100


class SignalRule(Struct, frozen=True):
    """A rule of the user for changes of one signal.

    signal  its name
    says    the verdict on the page
    share   of the content or the picture, from which on it holds, 0 to 1; 0 for other signals
    text    as the user wrote it
    """

    signal: str
    says: Says
    share: float
    text: str


def parse_rule(text: str, names: Collection[str]) -> SignalRule:
    """Read one rule.

    names  of all signals; a unique part of a name is enough, and spaces are read as dots
    Raises ValueError with the fault and the mend.
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
    if by and (signal not in MEASURED or not 0 < share <= 1):
        raise ValueError(
            f"{text!r}: only the content and the picture change by a share, of 1 to 100 %: "
            '"content by 30 %: major", "picture by 5 %: minor"'
        )
    says: Says = {"major": "major", "minor": "minor"}.get(verb.lower(), "nothing")  # type: ignore[assignment]  # of Says
    return SignalRule(signal, says, share, text.strip())


@lru_cache(maxsize=256)
def parse_rules(texts: tuple[str, ...], names: tuple[str, ...]) -> tuple[SignalRule, ...]:
    """Read rules that were checked when they were set; what cannot be read since then says nothing."""
    rules = []
    for text in texts:
        try:
            rules.append(parse_rule(text, names))
        except ValueError:
            continue
    return tuple(rules)


def rule_for(signal: str, rules: Iterable[SignalRule], share: float = 1.0) -> SignalRule | None:
    """Find the rule in force for a signal, by the largest share that was reached; None: the default."""
    reached = [rule for rule in rules if rule.signal == signal and rule.share <= share]
    return max(reached, key=lambda rule: rule.share, default=None)


def heeds(signal: str, rules: Iterable[SignalRule]) -> bool:
    """Tell whether a rule makes a signal count."""
    return any(rule.signal == signal and rule.says != "nothing" for rule in rules)


def _find(said: str, names: Collection[str]) -> str | None:
    """Find the signal that is meant: by its name, or by a part of it that no other has."""
    wanted = _BETWEEN.sub(".", said.strip().lower())
    if wanted in names:
        return wanted
    alike = [name for name in names if wanted in (name.partition(".")[2], name.replace("-", ""))]
    return alike[0] if len(alike) == 1 else None


DECLARED: Final = "declared"
INFERRED: Final = "inferred"
CONTRADICTED: Final = "contradicted"

# A declaration beside the specification's own changed.
OTHERWISE: Final = "S1"
# The content changed.
EDITED: Final = "S2"
# A signal of the server changed, and the content could not be compared.
SERVED: Final = "S3"
# A rule of the user decides.
USER: Final = "S4"
# A signal of the server gives way to the content, which was compared.
GIVES_WAY: Final = "S5"
# A signal changes from check to check, and is muted.
MUTED: Final = "S6"
# A signal appeared or disappeared: there is nothing to compare it with.
NEITHER: Final = "S7"

_STRENGTH: Final[dict[Says, int]] = {"nothing": 0, "minor": 1, "major": 2}
_SERVER: Final = "server"


class Heard(Struct, frozen=True):
    """One signal that differs, and the verdict on it.

    previous, latest  its values; of the content, in words how it differs (latest)
    says              major, minor or nothing
    rule              by which of our rules, or the user's own as written
    why               in words
    """

    signal: str
    previous: str | None
    latest: str | None
    says: Says
    rule: str
    why: str


class Weighed(Struct, frozen=True):
    """The verdict of all signals of a check.

    says   major, minor, or nothing that is new
    basis  of the verdict: declared, inferred or contradicted
    rule   that decided; None where nothing is new
    heard  what differs, in the order of the signals, the content and the picture last
    """

    says: Says
    basis: str
    rule: str | None
    heard: tuple[Heard, ...] = ()


def weigh(
    before: Mapping[str, str],
    latest: Mapping[str, str],
    content: ContentChange | None,
    *,
    sources: Mapping[str, str],
    declares: bool,
    rules: Collection[SignalRule] = (),
    muted: Collection[str] = (),
    picture: float | None = None,
) -> Weighed:
    """Weigh the signals of a page whose twelve fields say nothing new.

    before, latest  values by name, read alike
    content         how the content differs; None where it could not be compared
    sources         of all signals, in their order: "author", "list" or "server" by name
    declares        the page's twelve fields say when or how often it changed
    rules           of the user
    muted           signals that change from check to check
    picture         share of the page's picture that differs, 0 to 1; None where pictures were not compared
    """
    by_content = rule_for(CONTENT, rules, content.share if content is not None and content.is_change else 0.0)
    is_heeded = by_content is None or by_content.says != "nothing"
    heard = [
        _hear(name, before.get(name), latest.get(name), rules, muted, source, is_compared=content is not None)
        for name, source in sources.items()
        if before.get(name) != latest.get(name)
    ]
    if content is not None and content.is_change:
        heard.append(_hear_content(content, by_content))
    if picture:
        heard.append(_hear_picture(picture, rule_for(PICTURE, rules, picture), is_muted=PICTURE in muted))
    loudest = max(heard, key=lambda each: _STRENGTH[each.says], default=None)
    if loudest is None or loudest.says == "nothing":
        return Weighed("nothing", DECLARED, None, tuple(heard))
    speaking = {each.signal for each in heard if each.says != "nothing"}
    is_declared = any(sources.get(name, _SERVER) != _SERVER for name in speaking)
    has_declarations = declares or any(
        source != _SERVER and name in latest and name not in muted for name, source in sources.items()
    )
    is_edited = CONTENT in speaking
    if is_declared:
        is_doubted = content is not None and is_heeded and not content.is_change
        basis = CONTRADICTED if is_doubted else DECLARED
    else:
        basis = CONTRADICTED if is_edited and has_declarations else INFERRED
    return Weighed(loudest.says, basis, loudest.rule, tuple(heard))


def basis_of_declared(content: ContentChange | None) -> str:
    """Return the basis of a change that the twelve fields declare.

    content  how the content differs; None where it could not be compared
    """
    return CONTRADICTED if content is not None and not content.is_change else DECLARED


def in_words(change: ContentChange) -> str:
    """Return, in words, how much of a content changed."""
    parts = [f"{change.added} new" if change.added else "", f"{change.removed} gone" if change.removed else ""]
    counts = " and ".join(part for part in parts if part) or "other figures"
    # The content has no menus, counters and adverts; `share` of an event's difference is one of all text.
    return f"{counts} of {change.blocks} parts, {_percent(change.share)} of the content"


def _percent(share: float) -> str:
    return "less than 1 %" if share < 0.01 else f"{round(share * _WHOLE)} %"  # noqa: PLR2004 - a percent


def _hear(
    name: str,
    previous: str | None,
    latest: str | None,
    rules: Collection[SignalRule],
    muted: Collection[str],
    source: str,
    *,
    is_compared: bool,
) -> Heard:
    """Return the verdict on a signal that differs.

    is_compared  the content was compared; signals of the server give way to it
    """
    says: Says = "nothing"
    if previous is None or latest is None:
        rule, why = NEITHER, f"{name} {'came' if previous is None else 'went'}: there is nothing to compare"
    elif (said := rule_for(name, rules)) is not None:
        says, rule, why = said.says, USER, f"{name} changed; your rule: {said.text}"
    elif name in muted:
        rule, why = MUTED, f"{name} changes from check to check, and is muted"
    elif source != _SERVER:
        says, rule, why = "minor", OTHERWISE, f"{name} changed"
    elif is_compared:
        rule, why = GIVES_WAY, f"{name} changed, but gives way to the content"
    else:
        says, rule, why = "minor", SERVED, f"{name} changed"
    return Heard(name, previous, latest, says, rule, why)


def _hear_content(change: ContentChange, said: SignalRule | None) -> Heard:
    words = in_words(change)
    if said is None:
        return Heard(CONTENT, None, words, "minor", EDITED, f"the content changed: {words}")
    return Heard(CONTENT, None, words, said.says, USER, f"the content changed: {words}; your rule: {said.text}")


def _hear_picture(share: float, said: SignalRule | None, *, is_muted: bool) -> Heard:
    """Return the verdict on a picture that differs: it counts only by a rule of the user."""
    latest, why = f"{_percent(share)} of the picture", f"the picture differs by {_percent(share)}"
    if said is None:
        return Heard(PICTURE, None, latest, "nothing", USER, f"{why}, which is less than your rules ask for")
    # A rule says how much counts, and not that each turn of a slide show is wanted.
    if is_muted:
        return Heard(PICTURE, None, latest, "nothing", MUTED, f"{why}, as it does from check to check, and is muted")
    return Heard(PICTURE, None, latest, said.says, USER, f"{why}; your rule: {said.text}")
