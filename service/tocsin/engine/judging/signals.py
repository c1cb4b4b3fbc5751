"""Weighing a page's signals, and joining them with the specification's verdict. Pure."""

from __future__ import annotations

from operator import itemgetter
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from xxhash import xxh3_64

from tocsin.engine.judging.noise import learn, muted_keys, muted_signals, signal_place
from tocsin.model import (
    FieldValues,
    Instant,
    JsonObject,
    PageKnowledge,
    PageNoise,
    PageTask,
    SignalContext,
    Snapshot,
    Witness,
    to_rfc3339,
)
from tocsin.settings import PageSettings
from tocsin.spec.signals import RULED, SOURCES
from tocsin.spec.signals.content import content_digest
from tocsin.spec.signals.fingerprint import Content, ContentChange
from tocsin.spec.signals.instants import keep_same, to_value
from tocsin.spec.signals.reading import Readings
from tocsin.spec.signals.texts import pack_text
from tocsin.spec.signals.weigh import (
    CONTENT,
    CONTRADICTED,
    DECLARED,
    INFERRED,
    PICTURE,
    Heard,
    Says,
    Weighed,
    basis_of_declared,
    parse_rules,
    rule_for,
    weigh,
)
from tocsin.spec.topper.compare import Comparison, Outcome
from tocsin.spec.topper.state import FIELDS, TOPPER_FIELDS, PageState

NOTHING: Final = SignalContext()
_TOPPER: Final = itemgetter(*(FIELDS.index(field) for field in TOPPER_FIELDS))
_NO_TOPPER: Final = (None,) * len(TOPPER_FIELDS)
# Rule for a page that alternates between versions that were told.
BACK: Final = "S8"
# What the page declares and its content contradict each other: the witness is named.
WITNESSED: Final = "S9"
_MOST_VERSIONS: Final = 8
_STRENGTH: Final[dict[Says, int]] = {"nothing": 0, "minor": 1, "major": 2}
_DATED: Final = ("dc.modified", "dcterms.modified", "article:modified_time", "page-version")
_OWN_DATES: Final = (*TOPPER_FIELDS, *_DATED)
_ALONE: Final = ([CONTENT], [CONTENT, PICTURE])
_LISTED: Final = tuple(name for name, source in SOURCES.items() if source == "list")
_SERVED: Final = frozenset(name for name, source in SOURCES.items() if source == "server")
_DECLARED: Final = tuple(name for name in SOURCES if name not in _SERVED)
SAME: Final = ContentChange(is_change=False)
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


class SignalsResult(NamedTuple):
    """The result of weighing the signals of one check.

    weighed    None if there was nothing to compare
    change     of the content; None if it was not compared
    known      of the page from now on; None if unchanged
    snapshot   of a new text that may be kept
    storm_key  names a change of the content alone, which pages of a host may share; None for any other
    """

    weighed: Weighed | None = None
    change: ContentChange | None = None
    known: PageKnowledge | None = None
    snapshot: Snapshot | None = None
    storm_key: bytes | None = None


NO_SIGNALS: Final = SignalsResult()


def wants_signals(policy: PageSettings) -> bool:
    """Tell whether signals of a page count; they do not in a mode in which the page itself asks for awareness."""
    return policy.signals != "none" and policy.mode == "on"


def is_read_for_signals(policy: PageSettings, fields: FieldValues) -> bool:
    """Tell whether a page with these twelve fields is read for signals: one with topper fields only by `all`."""
    # The same as `wants_signals` and `PageState.is_subject`, in place: this runs for every check.
    signals = policy.signals
    return signals != "none" and policy.mode == "on" and (signals == "all" or _TOPPER(fields) == _NO_TOPPER)


def is_never_read(beside: SignalContext | None) -> bool:
    """Tell whether no signals of a page were ever read."""
    return beside is None or beside.known is None or not beside.known.read_as


def must_be_read(policy: PageSettings, beside: SignalContext | None, fields: FieldValues) -> bool:
    """Tell whether a page must be read for its signals even if its bytes did not change."""
    return is_read_for_signals(policy, fields) and is_never_read(beside)


def has_news(task: PageTask, policy: PageSettings) -> bool:
    """Tell whether lists give another date of the page than before."""
    beside = task.beside
    if beside is None or beside.known is None or not beside.listed or not _are_signals_known(task, policy):
        return False
    known = beside.known.values
    return any(known.get(name) != value for name, value in _listed(beside).items())


def _are_signals_known(task: PageTask, policy: PageSettings) -> bool:
    """Tell whether signals of a page are read, and were read before."""
    if is_never_read(task.beside) or task.state is None:
        return False
    return is_read_for_signals(policy, task.state.fields)


def weigh_signals(
    task: PageTask,
    policy: PageSettings,
    state: PageState,
    readings: Readings | None,
    change: ContentChange | None,
    now: Instant,
    *,
    may_keep: bool,
    picture: float | None = None,
) -> SignalsResult:
    """Weigh a page's signals, and update what is known of it.

    state     just read
    readings  None if the body was not read; lists may still give a new date, and the picture may differ
    change    of the content; None if it was not compared
    may_keep  the text may be kept
    picture   share of the page's picture that differs; None where pictures were not compared
    """
    beside = task.beside or NOTHING
    before = beside.known
    if readings is None:
        if before is None or not (has_news(task, policy) or (picture and _are_signals_known(task, policy))):
            return NO_SIGNALS
        readings = Readings(before.read_as, before.values | _listed(beside), mark=before.mark)
        change = SAME if before.content is not None else None  # equal bytes have equal content
    if before is None or before.read_as != readings.read_as:
        # Where there is little room, it is for texts of pages that changed: they show a difference.
        return _begin(readings, before, now, may_keep=may_keep and not task.is_short)
    values, muted = _values_of(before, readings), muted_keys(beside, now)
    weighed = _weigh(policy, state, before.values, values, change, muted, picture)
    content = readings.content.fingerprint if readings.content is not None else before.content
    is_other = change is not None and change.is_change
    versions, flaps = before.versions, before.flaps
    is_said_otherwise = any(before.values.get(name) != values.get(name) for name in _DECLARED)
    if is_other or is_said_otherwise:
        versions, flaps = _turn(before, content if is_other else before.content, values, muted)
    if flaps > before.flaps:
        weighed = _hear_flapping(weighed, flaps)
    noise = _learn(before, values, change, now, task.last.checked_at, is_seen=_is_seen(policy, picture))
    known = PageKnowledge(
        before.read_as,
        values,
        content,
        noise,
        versions,
        flaps,
        before.pace,
        readings.text or before.text,
        0 if not noise else before.learnt_at if change is None else now,
        now if is_said_otherwise else before.said_at,
        now if is_other else before.content_at,
        readings.mark,
        readings.blocks or before.blocks,
    )
    kept = _snapshot(readings.content, now) if is_other and may_keep else None
    storm_key = change.key if change is not None and _speaks_alone(weighed) else None
    return SignalsResult(weighed, change, known if known != before else None, kept, storm_key)


def _values_of(before: PageKnowledge, readings: Readings) -> dict[str, str]:
    """Return the values from now on: what no list says any more stays, and so do instants that are the same."""
    listed = {name: before.values[name] for name in _LISTED if name in before.values}
    return listed | keep_same(before.values, readings.values)


def _weigh(
    policy: PageSettings,
    state: PageState,
    before: dict[str, str],
    latest: dict[str, str],
    change: ContentChange | None,
    muted: frozenset[int],
    picture: float | None,
) -> Weighed:
    return weigh(
        before,
        latest,
        change,
        sources=SOURCES,
        declares=state.is_subject or any(state[field] is not None for field in _DATED),
        rules=parse_rules(policy.signal_rules, RULED),
        muted=muted_signals((*SOURCES, PICTURE), muted),
        picture=picture,
    )


def _listed(beside: SignalContext) -> dict[str, str]:
    values = ((name, to_value(said)) for name, said in beside.listed.items())
    return {name: value for name, value in values if value is not None}


def _begin(readings: Readings, before: PageKnowledge | None, now: Instant, *, may_keep: bool) -> SignalsResult:
    """Start from these readings: there are none that they can be compared with."""
    content = readings.content
    known = PageKnowledge(
        readings.read_as,
        readings.values,
        content.fingerprint if content is not None else None,
        before.noise if before is not None else (),
        # A version is named when the next one comes; most pages never need it.
        pace=before.pace if before is not None else None,
        text=readings.text,
        learnt_at=before.learnt_at if before is not None else 0,
        said_at=now if any(name in readings.values for name in _DECLARED) else 0,
        content_at=now if content is not None else 0,
        blocks=readings.blocks,
    )
    return SignalsResult(known=known, snapshot=_snapshot(content, now) if may_keep else None)


def _turn(
    before: PageKnowledge, content: bytes | None, values: dict[str, str], muted: frozenset[int]
) -> tuple[tuple[int, ...], int]:
    """Append today's version, and count how often in a row the page returned to an earlier one."""
    version = _version(content, values, muted)
    # Noise muted since then must not distinguish the versions, so the latest one is named again.
    latest = _version(before.content, before.values, muted)
    if version == latest:
        return before.versions, before.flaps
    earlier = (*before.versions[:-1], latest)
    others = tuple([each for each in earlier if each != version])
    if len(others) == len(earlier):
        return (*earlier, version)[-_MOST_VERSIONS:], 0
    return (*others, version), before.flaps + 1


def _version(content: bytes | None, values: dict[str, str], muted: frozenset[int]) -> int:
    """Name a version of a page by its content and declared signals, without muted ones."""
    digest = xxh3_64(content_digest(content, muted).to_bytes(8, "big") if content is not None else b"")
    for name in _DECLARED:
        if name in values and signal_place(name).key not in muted:
            digest.update(f"{name}\0{values[name]}\0".encode(errors="surrogatepass"))
    return digest.intdigest() >> 1


def _hear_flapping(weighed: Weighed, flaps: int) -> Weighed:
    """Mark signals of a page that returned to an earlier version: told once, then only counted."""
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


def _is_seen(policy: PageSettings, picture: float | None) -> bool:
    """Tell whether a picture differs by as much as a rule asks for."""
    if picture is None:
        return False
    return rule_for(PICTURE, parse_rules(policy.signal_rules, RULED), picture) is not None


def _learn(
    before: PageKnowledge,
    values: dict[str, str],
    change: ContentChange | None,
    now: Instant,
    last: Instant | None,
    *,
    is_seen: bool,
) -> tuple[PageNoise, ...]:
    """Learn noise from the differences; a signal that changes with the content is not noise.

    is_seen  the picture differs by as much as a rule asks for
    """
    if change is None:
        return before.noise
    places = change.places
    if not change.is_change:
        names = [name for name, value in values.items() if before.values.get(name, value) != value]
        names += [PICTURE] if is_seen else []
        places = (*places, *map(signal_place, names))
    return learn(before, places, now, last)


def _speaks_alone(weighed: Weighed) -> bool:
    # Other words look different, too: the picture says nothing that pages of a host could not share.
    return [each.signal for each in weighed.heard if each.says != "nothing"] in _ALONE


def _snapshot(content: Content | None, now: Instant) -> Snapshot | None:
    return Snapshot(*pack_text(content.text), at=now) if content is not None and content.text else None


class OverallVerdict(Struct, frozen=True):
    """The verdict of the twelve fields and the signals together.

    reason   by the specification; None if signals alone decided
    rule     the requirement or the rule of signals that decided
    basis    None where nothing changed on a page whose twelve fields declare nothing
    heard    the signals that differ
    witness  of a change that is contradicted
    """

    outcome: Outcome
    reason: str | None
    rule: str
    basis: str | None
    heard: tuple[Heard, ...] = ()
    witness: Witness | None = None

    @property
    def speaking(self) -> tuple[str, ...]:
        """The names of the signals that count as a change."""
        return tuple([each.signal for each in self.heard if each.says != "nothing"])


def combine_verdict(
    comparison: Comparison,
    weighed: Weighed | None = None,
    content: ContentChange | None = None,
    *,
    declares: bool = True,
) -> OverallVerdict:
    """Join the specification's verdict with the signals, which decide only where it found nothing new.

    weighed  the signals; None if they were not compared
    content  its change; None if it was not compared
    declares  one of the twelve fields is present
    """
    outcome, reason = comparison.outcome, comparison.reason.value if comparison.reason is not None else None
    heard = weighed.heard if weighed is not None else ()
    if outcome is Outcome.UNCHANGED and weighed is not None and weighed.rule is not None:
        return OverallVerdict(Outcome(weighed.says), None, weighed.rule, weighed.basis, heard)
    # Where time alone decides (T45), no declared field changed that the content could contradict.
    is_change = outcome in (Outcome.MAJOR, Outcome.MINOR)
    if is_change and comparison.changed:
        basis: str | None = basis_of_declared(content)
    else:
        basis = DECLARED if declares else INFERRED if is_change else None
    return OverallVerdict(outcome, reason, comparison.rule, basis, heard)


def with_witness(ruling: OverallVerdict, task: PageTask, latest: PageState, muted: frozenset[int]) -> OverallVerdict:
    """Name what contradicts a change, in the verdict; the verdict itself where nothing does.

    task    with the state and the signals that the page was compared with
    latest  the fields just read
    muted   keys of noise, which is no witness
    """
    if ruling.basis != CONTRADICTED:
        return ruling
    known = (task.beside or NOTHING).known or PageKnowledge("", {})
    witness = Witness(CONTENT, None, known.content_at or None)
    if CONTENT in ruling.speaking:
        # What the page says itself in the twelve fields is nearer to it than what is said beside them.
        first_at = task.state.first_at if task.state is not None else None
        own = ((field, latest[field], first_at) for field in _OWN_DATES)
        silent = muted_signals(SOURCES, muted)
        beside = ((name, known.values.get(name), known.said_at or None) for name in _DECLARED if name not in silent)
        found = next((each for each in (*own, *beside) if each[1] is not None), None)
        witness = Witness(*found) if found is not None else witness
    return msgspec.structs.replace(ruling, witness=witness)


def witness_data(witness: Witness | None) -> JsonObject | None:
    """Show a witness, as events do."""
    if witness is None:
        return None
    since = to_rfc3339(witness.since) if witness.since is not None else None
    return {"signal": witness.signal, "value": witness.value, "since": since}


def _tell_witness(witness: Witness) -> str:
    since = f", since {to_rfc3339(witness.since)}" if witness.since is not None else ""
    says = "is" if witness.signal == CONTENT else f"says {witness.value}"
    return f"{witness.signal} contradicts this: it {says} as before{since}"


def signals_data(ruling: OverallVerdict) -> list[JsonObject]:
    """Show the signals that differ, as events do."""
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


def trace_data(comparison: Comparison, ruling: OverallVerdict, *, in_browser: bool = False) -> list[JsonObject]:
    """Show how a verdict came about: the specification's rule, then each signal.

    in_browser  the page was read in a browser
    """
    why = _WHY.get(comparison.rule, comparison.rule)
    if comparison.rule == "T47":
        why = f"{why}: {', '.join(comparison.changed)}"
    if in_browser:
        why = f"{why}; read in a browser"
    first: JsonObject = {"rule": comparison.rule, "says": comparison.outcome.value, "why": why}
    steps: list[JsonObject] = [first]
    steps += [{"rule": each.rule, "says": each.says, "why": each.why} for each in ruling.heard]
    if ruling.witness is not None:
        steps.append({"rule": WITNESSED, "says": CONTRADICTED, "why": _tell_witness(ruling.witness)})
    return steps
