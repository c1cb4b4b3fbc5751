"""What follows from a page's signals: what they come to, what is known of the page now, what is kept of it. Pure."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import Struct
from xxhash import xxh3_64

from tocsin.engine.judging.noise import learn, muted_keys, muted_signals, signal_place
from tocsin.model import PageKnowledge, SignalContext, Snapshot
from tocsin.spec.signals import SOURCES
from tocsin.spec.signals.content import content_digest
from tocsin.spec.signals.fingerprint import ContentChange
from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.reading import Readings
from tocsin.spec.signals.texts import pack_text
from tocsin.spec.signals.weigh import CONTENT, DECLARED, Heard, Weighed, basis_of_declared, parse_rules, weigh
from tocsin.spec.topper.compare import Outcome
from tocsin.spec.topper.state import FIELDS, TOPPER_FIELDS

if TYPE_CHECKING:
    from tocsin.model import FieldValues, Instant, JsonObject, PageNoise, PageTask
    from tocsin.settings import PageSettings
    from tocsin.spec.signals.fingerprint import Content
    from tocsin.spec.signals.weigh import Heard, Says, Weighed
    from tocsin.spec.topper.compare import Comparison
    from tocsin.spec.topper.state import PageState


NOTHING: Final = SignalContext()
_TOPPER: Final = itemgetter(*(FIELDS.index(field) for field in TOPPER_FIELDS))
_NO_TOPPER: Final = (None,) * len(TOPPER_FIELDS)
BACK: Final = "S8"
"""The page goes back and forth between versions that were told."""
_MOST_VERSIONS: Final = 8
_STRENGTH: Final[dict[Says, int]] = {"nothing": 0, "minor": 1, "major": 2}
_DATED: Final = ("dc.modified", "dcterms.modified", "article:modified_time", "page-version")
_NAMES: Final = (*SOURCES, CONTENT)
_LISTED: Final = tuple(name for name, source in SOURCES.items() if source == "list")
_SERVED: Final = frozenset(name for name, source in SOURCES.items() if source == "server")
_DECLARED: Final = tuple(name for name in SOURCES if name not in _SERVED)


class SignalsResult(NamedTuple):
    """What follows from the signals of one check.

    weighed   what they come to; None where there was nothing to compare them with
    change    how the content differs; None where it was not compared
    known     of the page now; None: as before
    snapshot  of its text, where it is another one than before, and may be kept
    storm_key names the change where only the content speaks; None where others do, too
    """

    weighed: Weighed | None = None
    change: ContentChange | None = None
    known: PageKnowledge | None = None
    snapshot: Snapshot | None = None
    storm_key: bytes | None = None


NO_SIGNALS: Final = SignalsResult()
SAME: Final = ContentChange(is_change=False)


def wants_signals(policy: PageSettings) -> bool:
    """Say whether any signals of a page are heeded; where it is for the page to ask for awareness, none are."""
    return policy.signals != "none" and policy.mode == "on"


def is_read_for_signals(policy: PageSettings, fields: FieldValues) -> bool:
    """Say whether a page of these twelve fields is read for its signals: where a page speaks for itself, it is heard.

    So it is unless the user wants all of them.
    """
    # As `wants_signals` and `PageState.is_subject` say it: every page comes through here.
    signals = policy.signals
    return signals != "none" and policy.mode == "on" and (signals == "all" or _TOPPER(fields) == _NO_TOPPER)


def is_never_read(beside: SignalContext | None) -> bool:
    """Say whether no signals of a page were ever read."""
    return beside is None or beside.known is None or not beside.known.read_as


def must_be_read(policy: PageSettings, beside: SignalContext | None, fields: FieldValues) -> bool:
    """Say whether a page has to be read for its signals, though nobody knows that it has changed."""
    return is_read_for_signals(policy, fields) and is_never_read(beside)


def has_news(task: PageTask, policy: PageSettings) -> bool:
    """Say whether lists that name the page say something else of it than before."""
    beside = task.beside
    if beside is None or beside.known is None or not beside.listed or is_never_read(beside):
        return False
    if task.state is None or not is_read_for_signals(policy, task.state.fields):
        return False
    known = beside.known.values
    return any(known.get(name) != value for name, value in _listed(beside).items())


def weigh_signals(
    task: PageTask,
    policy: PageSettings,
    state: PageState,
    readings: Readings | None,
    change: ContentChange | None,
    now: Instant,
    *,
    may_keep: bool,
) -> SignalsResult:
    """Weigh what was read of a page's signals, and say what is known of it now.

    state     its twelve fields
    readings  None where its bytes were not read: lists that name it may still speak
    change    how its content differs; None where it was not compared
    may_keep  its text may be kept
    """
    beside = task.beside or NOTHING
    before = beside.known
    if readings is None:
        if before is None or not has_news(task, policy):
            return NO_SIGNALS
        readings = Readings(before.read_as, before.values | _listed(beside))
        # The same bytes: its content is the one before, for all that lists say.
        change = SAME if before.content is not None else None
    if before is None or before.read_as != readings.read_as:
        return _begin(readings, before, now, may_keep=may_keep)
    values = {name: before.values[name] for name in _LISTED if name in before.values} | readings.values
    muted = muted_keys(beside, now)
    weighed = _weigh(policy, state, before.values, values, change, muted)
    content = readings.content.fingerprint if readings.content is not None else before.content
    is_other = change is not None and change.is_change
    versions, flaps = before.versions, before.flaps
    if is_other or any(before.values.get(name) != values.get(name) for name in _DECLARED):
        versions, flaps = _turn(before, content if is_other else before.content, values, muted)
    if flaps > before.flaps:
        weighed = _hear_flapping(weighed, flaps)
    known = PageKnowledge(
        before.read_as,
        values,
        content,
        _learn(before, values, change, now, task.last_checked_at),
        versions,
        flaps,
        before.pace,
        readings.text or before.text,
    )
    return SignalsResult(
        weighed,
        change,
        known if known != before else None,
        _snapshot(readings.content, now) if is_other and may_keep else None,
        change.key if change is not None and _speaks_alone(weighed) else None,
    )


def _weigh(
    policy: PageSettings,
    state: PageState,
    before: dict[str, str],
    latest: dict[str, str],
    change: ContentChange | None,
    muted: frozenset[int],
) -> Weighed:
    return weigh(
        before,
        latest,
        change,
        sources=SOURCES,
        declares=state.is_subject or any(state[field] is not None for field in _DATED),
        rules=parse_rules(policy.signal_rules, _NAMES),
        muted=muted_signals(SOURCES, muted),
    )


def _listed(beside: SignalContext) -> dict[str, str]:
    values = ((name, to_value(said)) for name, said in beside.listed.items())
    return {name: value for name, value in values if value is not None}


def _begin(readings: Readings, before: PageKnowledge | None, now: Instant, *, may_keep: bool) -> SignalsResult:
    """Begin anew with what was read: there is nothing that it could be compared with."""
    content = readings.content
    known = PageKnowledge(
        readings.read_as,
        readings.values,
        content.fingerprint if content is not None else None,
        before.noise if before is not None else (),
        # The version is named when there is another one: most pages never need it.
        pace=before.pace if before is not None else None,
        text=readings.text,
    )
    return SignalsResult(known=known, snapshot=_snapshot(content, now) if may_keep else None)


def _turn(
    before: PageKnowledge, content: bytes | None, values: dict[str, str], muted: frozenset[int]
) -> tuple[tuple[int, ...], int]:
    """Put the version of today behind those before, and count how often in a row it was one of them."""
    version = _version(content, values, muted)
    # What has been muted since it was written is no part of what the version before is known by.
    latest = _version(before.content, before.values, muted)
    if version == latest:
        return before.versions, before.flaps
    earlier = (*before.versions[:-1], latest)
    others = tuple([each for each in earlier if each != version])
    if len(others) == len(earlier):
        return (*earlier, version)[-_MOST_VERSIONS:], 0
    return (*others, version), before.flaps + 1


def _version(content: bytes | None, values: dict[str, str], muted: frozenset[int]) -> int:
    """Name a version of a page by its content and by what is declared of it, but for what is muted."""
    digest = xxh3_64(content_digest(content, muted).to_bytes(8, "big") if content is not None else b"")
    for name in _DECLARED:
        if name in values and signal_place(name).key not in muted:
            digest.update(f"{name}\0{values[name]}\0".encode(errors="surrogatepass"))
    return digest.intdigest() >> 1


def _hear_flapping(weighed: Weighed, flaps: int) -> Weighed:
    """Hear that the page is back to a version that was told: that is told once, then only counted."""
    heard = tuple([_back(each, flaps) for each in weighed.heard])
    loudest = max(heard, key=lambda each: _STRENGTH[each.says], default=None)
    if loudest is None or loudest.says == "nothing":
        return msgspec.structs.replace(weighed, says="nothing", rule=None, heard=heard)
    return msgspec.structs.replace(weighed, says=loudest.says, rule=loudest.rule, heard=heard)


def _back(heard: Heard, flaps: int) -> Heard:
    if heard.says == "nothing" or heard.signal in _SERVED:
        return heard
    if flaps == 1:
        return msgspec.structs.replace(heard, why=f"{heard.why}; it is back to an earlier version")
    why = f"{heard.signal} went back to an earlier version {flaps} times in a row, which was told once"
    return msgspec.structs.replace(heard, says="nothing", rule=BACK, why=why)


def _learn(
    before: PageKnowledge, values: dict[str, str], change: ContentChange | None, now: Instant, last: Instant | None
) -> tuple[PageNoise, ...]:
    """Learn what differs as noise may; a signal that changes along with the content is none."""
    if change is None:
        return before.noise
    places = change.places
    if not change.is_change:
        names = [name for name, value in values.items() if before.values.get(name, value) != value]
        places = (*places, *map(signal_place, names))
    return learn(before.noise, places, now, last)


def _speaks_alone(weighed: Weighed) -> bool:
    return [each.signal for each in weighed.heard if each.says != "nothing"] == [CONTENT]


def _snapshot(content: Content | None, now: Instant) -> Snapshot | None:
    return Snapshot(*pack_text(content.text), at=now) if content is not None and content.text else None


_WHY: Final = {
    "T40": "nothing was stored before",
    "T42": "the twelve fields are equal",
    "T43": "the page's own refresh is not over",
    "T44": "topper-major changed",
    "T09": "a new minor date is a major one, too",
    "T45": "the twelve fields are equal, for as long as the durational threshold",
    "T46": "there are as many minor changes as the threshold",
    "T47": "other fields changed",
}


class OverallVerdict(Struct, frozen=True):
    """What is told of a page.

    reason  as the specification has it; None where signals alone decided
    rule    the requirement that decided, or the rule of the signals
    heard   the signals that differ
    """

    outcome: Outcome
    reason: str | None
    rule: str
    basis: str
    heard: tuple[Heard, ...] = ()

    @property
    def speaking(self) -> tuple[str, ...]:
        """The signals that have changed in a way that says something, by name."""
        return tuple([each.signal for each in self.heard if each.says != "nothing"])


def combine_verdict(
    comparison: Comparison, weighed: Weighed | None = None, content: ContentChange | None = None
) -> OverallVerdict:
    """Let the specification's verdict stand; where it found nothing new, the signals decide.

    weighed  what the signals come to; None where they were not compared
    content  how the content differs; None where it was not compared
    """
    outcome, reason = comparison.outcome, comparison.reason.value if comparison.reason is not None else None
    heard = weighed.heard if weighed is not None else ()
    if outcome is Outcome.UNCHANGED and weighed is not None and weighed.rule is not None:
        return OverallVerdict(Outcome(weighed.says), None, weighed.rule, weighed.basis, heard)
    # Nothing declared has changed where time alone decides, so that nothing contradicts it.
    is_declared = outcome in (Outcome.MAJOR, Outcome.MINOR) and comparison.changed
    return OverallVerdict(
        outcome, reason, comparison.rule, basis_of_declared(content) if is_declared else DECLARED, heard
    )


def signals_data(ruling: OverallVerdict) -> list[JsonObject]:
    """Show the signals that differ."""
    return [
        {
            "signal": each.signal,
            "previous": each.previous,
            "latest": each.latest,
            "says": each.says,
            "rule": each.rule,
        }
        for each in ruling.heard
    ]


def trace_data(comparison: Comparison, ruling: OverallVerdict) -> list[JsonObject]:
    """Show how a verdict came about: the specification's rule first, then what each signal said."""
    why = _WHY.get(comparison.rule, comparison.rule)
    if comparison.rule == "T47":
        why = f"{why}: {', '.join(comparison.changed)}"
    first: JsonObject = {"rule": comparison.rule, "says": comparison.outcome.value, "why": why}
    return [first, *({"rule": each.rule, "says": each.says, "why": each.why} for each in ruling.heard)]
