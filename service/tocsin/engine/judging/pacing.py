"""What a check adds to what is known of a page's pace, where the user asks for adaptive checking; pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from tocsin.engine.judging.pace import note
from tocsin.model import CheckOutcome, Known
from tocsin.spec.signals import SOURCES
from tocsin.spec.signals.instants import to_value
from tocsin.spec.topper.state import TOPPER_FIELDS, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.engine.judging.judge import Judged, Occasion
    from tocsin.model import Instant, PageTask
    from tocsin.model.signals import Pace
    from tocsin.settings import PageSettings
    from tocsin.spec.topper.state import PageState

_CHANGES: Final = frozenset({CheckOutcome.MINOR, CheckOutcome.MAJOR})
_MODIFIED: Final = ("dc.modified", "dcterms.modified", "article:modified_time")
_NO_DATES: Final = frozenset({"json-ld.version", "header.etag"})
_BY_TRUST: Final = tuple(
    tuple(name for name, its_source in SOURCES.items() if its_source == source and name not in _NO_DATES)
    for source in ("author", "list", "server")
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LONGEST_REMEMBERED: Final = 64
_NEVER_READ: Final = Known("", {})


def is_paced(policy: PageSettings) -> bool:
    """Say whether a page's interval follows from its changes: a cron expression knows no interval."""
    return policy.adaptive and not policy.cron


def pace_of(task: PageTask) -> Pace | None:
    """Give what earlier checks found."""
    known = task.beside.known if task.beside is not None else None
    return known.pace if known is not None else None


def with_pace(occasion: Occasion, judged: Judged, latest: PageState) -> Known | None:
    """Give what is known of a page after a check, its pace included; None where that is as before.

    latest  what was read of its twelve fields
    A check whose answer is not kept (too soon, a suspect) says nothing: the next one has the same state before it.
    """
    task, policy = occasion.task, occasion.policy
    known = judged.followed.known
    if judged.state is None or not is_paced(policy):
        return known
    before = known or (task.beside.known if task.beside is not None else None) or _NEVER_READ
    at = judged.state.stored_at
    pace = note(
        before.pace,
        since=task.state.last_at if task.state is not None else None,
        now=at,
        changed=_is_changed(judged),
        declared_at=find_declared(latest, before.values, at),
        every_s=policy.every.total_seconds(),
    )
    return known if pace == before.pace else msgspec.structs.replace(before, pace=pace)


def _is_changed(judged: Judged) -> bool:
    """Say whether something of the page changed: that an equal state is told again after a long time (T45) is none."""
    if judged.outcome not in _CHANGES:
        return False
    return bool(judged.comparison and judged.comparison.changed) or bool(judged.ruling and judged.ruling.speaking)


def find_declared(state: PageState, values: Mapping[str, str], now: Instant) -> Instant | None:
    """Find when a page was changed last, as it says itself; else as lists say that name it, else as its server does.

    values  of its signals, by name
    Of several dates the latest counts that is not to come.
    """
    own = [text for field in _MODIFIED if (text := state[field]) is not None]
    for field in TOPPER_FIELDS:
        own += tokens_of(state, field)
    for names, more in zip(_BY_TRUST, (own, (), ()), strict=True):
        latest = _latest((*more, *(text for name in names if (text := values.get(name)) is not None)), now)
        if latest is not None:
            return latest
    return None


def _latest(texts: Iterable[str], now: Instant) -> Instant | None:
    moments = (_remembered(text) if len(text) <= _LONGEST_REMEMBERED else None for text in texts)
    return max((moment for moment in moments if moment is not None and moment <= now), default=None)


def _instant_of(text: str) -> Instant | None:
    """Read a date, in UTC where it names no zone; None for any other text."""
    value = to_value(text)
    if value is None or value[4:5] != "-":
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return ((read if read.tzinfo is not None else read.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


# A page's dates are mostly those of its last check; no date is longer.
_remembered = lru_cache(maxsize=16_384)(_instant_of)
