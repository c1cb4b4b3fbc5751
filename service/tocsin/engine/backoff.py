"""What becomes of a delivery after a try: pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from tocsin.model import DeliveryResult, SinkState

if TYPE_CHECKING:
    from tocsin.errors import DeliveryError
    from tocsin.model import DueDelivery, Instant

STEPS = (
    timedelta(seconds=1),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(minutes=30),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=12),
)
LAST_STEP = timedelta(hours=24)
LONGEST_RETRY_AFTER = timedelta(hours=24)
_MICROSECOND = timedelta(microseconds=1)


def next_step(failures: int) -> timedelta:
    """Return the pause after this many failures in a row (from 1): from a second to a day."""
    return STEPS[failures - 1] if 0 < failures <= len(STEPS) else LAST_STEP


def after_success(delivery: DueDelivery, now: Instant) -> DeliveryResult:
    """Say that a sink accepted an alert."""
    return DeliveryResult(alert_id=delivery.alert_id, sink=delivery.sink, state="accepted", at=now)


def after_failure(
    delivery: DueDelivery, error: DeliveryError, now: Instant, *, give_up: timedelta, sink_again_at: Instant | None
) -> DeliveryResult:
    """Say when an alert is tried again, or that it is dead.

    give_up        how long after its first try an alert is given up
    sink_again_at  when the whole sink is tried again, where the fault is the sink's; None where it is the alert's
    """
    first_try_at = delivery.first_try_at if delivery.first_try_at is not None else now
    last_try_at = first_try_at + give_up // _MICROSECOND
    if now >= last_try_at and error.blames != "gone":
        return DeliveryResult(delivery.alert_id, delivery.sink, "dead", now, error=error.detail)
    if sink_again_at is not None:
        next_at = sink_again_at
    elif error.blames == "gone":
        next_at = now
    else:
        # The last try is made when the time is up, not at the step after it.
        next_at = min(now + _pause(delivery.tries + 1, error), max(last_try_at, now + _asked(error)))
    return DeliveryResult(delivery.alert_id, delivery.sink, "waiting", now, next_at=next_at, error=error.detail)


def sink_after_failure(state: SinkState, error: DeliveryError, now: Instant) -> SinkState:
    """Back the sink off, or disable it where its receiver says that it is gone."""
    if error.blames == "gone":
        return msgspec.structs.replace(state, disabled=True, next_at=None, error=error.detail)
    failures = state.failures + 1
    return msgspec.structs.replace(state, failures=failures, next_at=now + _pause(failures, error), error=error.detail)


def sink_after_success(state: SinkState) -> SinkState:
    """Forget the failures of a sink that accepts again."""
    return msgspec.structs.replace(state, failures=0, next_at=None, disabled=False, error=None)


def _pause(failures: int, error: DeliveryError) -> int:
    return max(next_step(failures) // _MICROSECOND, _asked(error))


def _asked(error: DeliveryError) -> int:
    asked = error.retry_after or timedelta(0)
    return min(max(asked, timedelta(0)), LONGEST_RETRY_AFTER) // _MICROSECOND
