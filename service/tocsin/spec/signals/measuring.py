"""How well changes are told from noise: pairs of versions of pages, judged without anything that was learnt of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals import SOURCES
from tocsin.spec.signals.content import compare_contents
from tocsin.spec.signals.reading import ContentSelectors, read_signals
from tocsin.spec.signals.weigh import weigh
from tocsin.spec.topper.compare import Comparison, Outcome, compare
from tocsin.spec.topper.state import PageState, read_state

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import timedelta

    from tocsin.spec.signals.fingerprint import ContentChange
    from tocsin.spec.signals.reading import Readings
    from tocsin.spec.signals.weigh import SignalRule
    from tocsin.spec.topper.compare import Thresholds

Label: TypeAlias = Literal["edit", "noise", ""]
# Sizes of edits that are less than a sentence: they are counted apart.
SMALLER: Final = frozenset({"word", "number"})
# The share of pairs that may be judged wrongly.
MOST_WRONG: Final = 0.01

_NOTHING_SAID: Final = PageState((None,) * 12)


class PageVersion(Struct, frozen=True):
    """One version of a page.

    readings  None for bytes that are not a page
    """

    state: PageState
    readings: Readings | None


class Judged(Struct, frozen=True):
    """The judgement of a pair.

    is_told     the user would be told of a change
    is_content  the content alone says that there is one
    change      how the contents differ; None where they cannot be compared
    why         in words, by the rule that decided
    """

    is_told: bool
    is_content: bool
    change: ContentChange | None
    why: str


class Case(Struct, frozen=True):
    """A pair that was judged.

    label  of its owner; "" for none
    kind   of edit or noise, as its owner names it
    size   of an edit: one of `SMALLER`, or anything else for a sentence and more
    """

    name: str
    label: Label
    kind: str
    size: str
    judged: Judged

    @property
    def is_right(self) -> bool | None:
        """Whether the edit was told, or the noise was not; None without a label."""
        return self.judged.is_told == (self.label == "edit") if self.label else None


class ConfusionRow(Struct, frozen=True):
    """A row of the table of confusion.

    group    edit, smaller edit, noise, or no label
    told     the number of pairs of which the user would be told
    content  the number of pairs in which the content alone differs
    """

    group: str
    kind: str
    pairs: int
    told: int
    content: int

    @property
    def wrong(self) -> int | None:
        """How many were judged wrongly; None without a label."""
        return _wrong(self.group, self.pairs, self.told)

    @property
    def wrong_by_content(self) -> int | None:
        """The same where the content alone decides."""
        return _wrong(self.group, self.pairs, self.content)


EDIT, SMALLER_EDIT, NOISE, UNLABELLED = GROUPS = ("edit", "smaller edit", "noise", "no label")


def read_version(body: bytes, asked: ContentSelectors) -> PageVersion:
    """Read a version of a page from its bytes.

    Raises TooComplex for a page that is too complex to parse.
    """
    whole = parse_whole(body, None)
    if whole is None:
        return PageVersion(_NOTHING_SAID, None)
    return PageVersion(read_state(whole.metas), read_signals(whole, (), {}, asked, ""))


def judge(
    old: PageVersion, new: PageVersion, elapsed: timedelta, thresholds: Thresholds, rules: Collection[SignalRule] = ()
) -> Judged:
    """Judge a pair as a check would that knows only the older version of the page."""
    found = compare(old.state, new.state, elapsed, thresholds)
    before, latest = old.readings, new.readings
    if before is None or latest is None:
        return Judged(_is_told(found), is_content=False, change=None, why="no page: nothing to read")
    change = None
    if before.content is not None and latest.content is not None:
        change = compare_contents(before.content.fingerprint, latest.content, ())
    is_content = change is not None and change.is_change
    if found.outcome is not Outcome.UNCHANGED:
        why = f"{', '.join(found.changed)} changed ({found.rule})" if found.changed else found.rule
        return Judged(_is_told(found), is_content, change, why)
    declares = any(value is not None for value in new.state.values)
    weighed = weigh(before.values, latest.values, change, sources=SOURCES, declares=declares, rules=rules)
    why = "; ".join(heard.why for heard in weighed.heard) or "nothing that counts differs"
    return Judged(weighed.says != "nothing", is_content, change, why)


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
            pairs, told, content = (
                sum(column) for column in zip(*((r.pairs, r.told, r.content) for r in own), strict=True)
            )
            sums.append(ConfusionRow(group, "", pairs, told, content))
    return sums


def is_well(totals: Iterable[ConfusionRow]) -> bool:
    """Return whether at most `MOST_WRONG` of the edits of a sentence or more, and of the noise, are misjudged."""
    return all((row.wrong or 0) <= MOST_WRONG * row.pairs for row in totals if row.group in {EDIT, NOISE})


def _group_of(case: Case) -> str:
    if case.label == "edit":
        return SMALLER_EDIT if case.size in SMALLER else EDIT
    return NOISE if case.label else UNLABELLED


def _row(group: str, kind: str, cases: Sequence[Case]) -> ConfusionRow:
    told = sum(case.judged.is_told for case in cases)
    return ConfusionRow(group, kind, len(cases), told, sum(case.judged.is_content for case in cases))


def _wrong(group: str, pairs: int, found: int) -> int | None:
    if group == UNLABELLED:
        return None
    return found if group == NOISE else pairs - found


def _is_told(found: Comparison) -> bool:
    return found.outcome in {Outcome.MINOR, Outcome.MAJOR}
