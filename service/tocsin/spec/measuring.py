"""How well changes are told from noise: pairs of versions of pages, judged without anything that was learnt of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from tocsin.spec.html.whole import Whole, parse_whole
from tocsin.spec.signals import SOURCES
from tocsin.spec.signals.clocks import Received
from tocsin.spec.signals.content import compare_contents
from tocsin.spec.signals.fingerprint import ContentChange
from tocsin.spec.signals.instants import keep_same
from tocsin.spec.signals.reading import ContentSelectors, Readings, read_signals
from tocsin.spec.signals.weigh import SignalRule, weigh
from tocsin.spec.stand_ins import ComparedContents, find_stand_in
from tocsin.spec.topper.compare import Comparison, Outcome, Thresholds, compare
from tocsin.spec.topper.state import PageState, read_state

Label: TypeAlias = Literal["edit", "noise", "block", ""]
# Sizes of edits that are less than a sentence: they are counted apart.
SMALLER: Final = frozenset({"word", "number"})
# The share of pairs that may be judged wrongly.
MOST_WRONG: Final = 0.01

_NOTHING_SAID: Final = PageState((None,) * 12)
_NO_PAGE: Final = "the newer version is no page"


class PageVersion(Struct, frozen=True):
    """One version of a page.

    readings  None for bytes that are not a page
    body      as it was received
    whole     the parsed page; None for bytes that are not a page
    """

    state: PageState
    readings: Readings | None
    body: bytes = b""
    whole: Whole | None = None


class Judged(Struct, frozen=True):
    """The judgement of a pair.

    is_told     the user would be told of a change
    is_content  the content alone says that there is one
    change      how the contents differ; None where they cannot be compared
    why         in words, by the rule that decided
    suspicion   the kind of page that the newer version is suspected to be, with the evidence; it is not compared then
    """

    is_told: bool
    is_content: bool
    change: ContentChange | None
    why: str
    suspicion: str | None = None


class Case(Struct, frozen=True):
    """A pair that was judged.

    label  of its owner; "" for none
    kind   of edit or noise, as its owner names it
    size   of an edit: one of `SMALLER`, or anything else for a sentence and more
    site   that the page is of, as its owner names it
    """

    name: str
    label: Label
    kind: str
    size: str
    judged: Judged
    site: str = ""

    @property
    def is_right(self) -> bool | None:
        """Whether the edit was told, the noise was not, or the block was suspected; None without a label."""
        if self.label == "block":
            return self.judged.suspicion is not None
        return self.judged.is_told == (self.label == "edit") if self.label else None


class ConfusionRow(Struct, frozen=True):
    """A row of the table of confusion.

    group    edit, smaller edit, noise, block, or no label
    told     the number of pairs of which the user would be told
    content  the number of pairs in which the content alone differs
    suspect  the number of pairs whose newer version is suspected to be another page
    """

    group: str
    kind: str
    pairs: int
    told: int
    content: int
    suspect: int = 0

    @property
    def wrong(self) -> int | None:
        """How many were judged wrongly; None without a label."""
        return self.pairs - self.suspect if self.group == BLOCK else _wrong(self.group, self.pairs, self.told)

    @property
    def wrong_by_content(self) -> int | None:
        """The same where the content alone decides."""
        return _wrong(self.group, self.pairs, self.content)


EDIT, SMALLER_EDIT, NOISE, BLOCK, UNLABELLED = GROUPS = ("edit", "smaller edit", "noise", "block", "no label")


class MeanRow(Struct, frozen=True):
    """The mean of the shares that were judged wrongly, each site (or kind) counted once.

    count  of the sites that have pairs of this group
    """

    group: str
    count: int
    wrong: float


def read_version(body: bytes, asked: ContentSelectors, received: Received | None = None) -> PageVersion:
    """Read a version of a page from its bytes.

    received  between which times; None if that is not known
    Raises TooComplex for a page that is too complex to parse.
    """
    whole = parse_whole(body, None)
    if whole is None:
        return PageVersion(_NOTHING_SAID, None, body)
    readings = read_signals(whole, (), {}, asked, "", received=received)
    return PageVersion(read_state(whole.metas), readings, body, whole)


def judge(
    old: PageVersion, new: PageVersion, elapsed: timedelta, thresholds: Thresholds, rules: Collection[SignalRule] = ()
) -> Judged:
    """Judge a pair as a check would that knows only the older version of the page."""
    found = compare(old.state, new.state, elapsed, thresholds)
    before, latest = old.readings, new.readings
    if before is not None and latest is None:
        return Judged(is_told=False, is_content=False, change=None, why=_NO_PAGE, suspicion=_NO_PAGE)
    if before is None or latest is None:
        return Judged(_is_told(found), is_content=False, change=None, why="no page: nothing to read")
    change = None
    if before.content is not None and latest.content is not None:
        change = compare_contents(before.content.fingerprint, latest.content, ())
    is_content = change is not None and change.is_change
    if (suspicion := _suspicion(old, new, change)) is not None:
        return Judged(is_told=False, is_content=is_content, change=change, why=suspicion, suspicion=suspicion)
    if found.outcome is not Outcome.UNCHANGED:
        why = f"{', '.join(found.changed)} changed ({found.rule})" if found.changed else found.rule
        return Judged(_is_told(found), is_content, change, why)
    declares = any(value is not None for value in new.state.values)
    weighed = weigh(
        before.values, keep_same(before.values, latest.values), change, sources=SOURCES, declares=declares, rules=rules
    )
    why = "; ".join(heard.why for heard in weighed.heard) or "nothing that counts differs"
    return Judged(weighed.says != "nothing", is_content, change, why)


def _suspicion(old: PageVersion, new: PageVersion, change: ContentChange | None) -> str | None:
    """Name the page that came in the place of the older one, which is looked for where most of its text is gone."""
    if new.whole is None or new.readings is None or change is None:
        return None
    contents = None
    if old.readings is not None and old.readings.content is not None:
        contents = ComparedContents(old.readings.content.fingerprint, new.readings.content, change)
    found = find_stand_in(new.whole, body=new.body, url="", final_url="", contents=contents)
    return f"{found.kind}: {found.evidence}" if found is not None else None


def count(cases: Iterable[Case]) -> list[ConfusionRow]:
    """Return the table of confusion: a row for each kind in each group, groups in their order, kinds by name."""
    counted: dict[tuple[int, str], list[Case]] = {}
    for case in cases:
        counted.setdefault((GROUPS.index(_group_of(case)), case.kind), []).append(case)
    return [_row(GROUPS[group], kind, found) for (group, kind), found in sorted(counted.items())]


def total(rows: Sequence[ConfusionRow]) -> list[ConfusionRow]:
    """Return a row for each group that there is."""
    sums = []
    for group in GROUPS:
        own = [row for row in rows if row.group == group]
        if own:
            counts = zip(*((row.pairs, row.told, row.content, row.suspect) for row in own), strict=True)
            sums.append(ConfusionRow(group, "", *map(sum, counts)))
    return sums


def means(cases: Iterable[Case], by: Literal["site", "kind"]) -> list[MeanRow]:
    """Return, for each group with labels, the mean of the shares judged wrongly, over its sites or kinds.

    A site with many pairs would otherwise hide how the others are judged.
    """
    counted: dict[str, dict[str, list[bool]]] = {}
    for case in cases:
        name = case.site if by == "site" else case.kind
        if case.is_right is not None and name:
            counted.setdefault(_group_of(case), {}).setdefault(name, []).append(not case.is_right)
    shares = {
        group: [sum(wrong) / len(wrong) for wrong in counted[group].values()] for group in GROUPS if group in counted
    }
    return [MeanRow(group, len(each), sum(each) / len(each)) for group, each in shares.items()]


def is_well(totals: Iterable[ConfusionRow]) -> bool:
    """Return whether at most `MOST_WRONG` of the edits of a sentence or more, and of the noise, are misjudged."""
    return all((row.wrong or 0) <= MOST_WRONG * row.pairs for row in totals if row.group in {EDIT, NOISE})


def _group_of(case: Case) -> str:
    if case.label == "edit":
        return SMALLER_EDIT if case.size in SMALLER else EDIT
    return case.label or UNLABELLED


def _row(group: str, kind: str, cases: Sequence[Case]) -> ConfusionRow:
    told = sum(case.judged.is_told for case in cases)
    content = sum(case.judged.is_content for case in cases)
    return ConfusionRow(
        group, kind, len(cases), told, content, sum(case.judged.suspicion is not None for case in cases)
    )


def _wrong(group: str, pairs: int, found: int) -> int | None:
    if group in (UNLABELLED, BLOCK):
        return None
    return found if group == NOISE else pairs - found


def _is_told(found: Comparison) -> bool:
    return found.outcome in {Outcome.MINOR, Outcome.MAJOR}
