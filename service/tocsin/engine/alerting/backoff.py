"""What becomes of a delivery after a try. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from tocsin.model import ChannelState, DeliveryResult

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
# Not a step: the receiver was never asked.
_SHORTAGE_PAUSE = timedelta(seconds=15)
_MICROSECOND = timedelta(microseconds=1)


def next_step(failures: int) -> timedelta:
    """Return the pause after this many failures in a row (from 1): one second to one day."""
    return STEPS[failures - 1] if 0 < failures <= len(STEPS) else LAST_STEP


def after_success(delivery: DueDelivery, now: Instant) -> DeliveryResult:
    """Return the result of an accepted alert."""
    tried_us = _tried(delivery, now)
    return DeliveryResult(delivery.alert_id, delivery.channel, "accepted", now, None, None, tried_us, delivery.position)


def after_failure(
    delivery: DueDelivery, error: DeliveryError, now: Instant, *, give_up: timedelta, channel_again_at: Instant | None
) -> DeliveryResult:
    """Say when an alert is tried again, or that it is dead.

    give_up           how long an alert is tried; only the pauses that tries ended count
    channel_again_at  when the channel is tried again, where the fault is the channel's; None where it is the alert's
    """
    if error.blames == "ours":
        # The channel was not asked: this pause does not count towards giving the alert up.
        again_at = now + _SHORTAGE_PAUSE // _MICROSECOND
        return DeliveryResult(
            delivery.alert_id,
            delivery.channel,
            "waiting",
            now,
            next_at=again_at,
            error=error.detail,
            tried_us=delivery.tried_us,
            position=delivery.position,
        )
    tried_us, give_up_us = _tried(delivery, now), give_up // _MICROSECOND
    if tried_us >= give_up_us and error.blames != "gone":
        return DeliveryResult(
            delivery.alert_id, delivery.channel, "dead", now, None, error.detail, tried_us, delivery.position
        )
    if channel_again_at is not None:
        next_at = channel_again_at
    elif error.blames == "gone":
        next_at = now
    else:
        # The last try is made when the time is up, not at the step after it.
        next_at = now + min(_pause(delivery.tries + 1, error), max(give_up_us - tried_us, _asked(error)))
    return DeliveryResult(
        delivery.alert_id, delivery.channel, "waiting", now, next_at, error.detail, tried_us, delivery.position
    )


def channel_after_failure(
    state: ChannelState, error: DeliveryError, now: Instant, *, since: Instant | None = None
) -> ChannelState:
    """Back the channel off, or disable it where its receiver says that it is gone.

    since  when the first of the alerts failed that it is blamed for; None: now
    """
    since = state.since if state.since is not None else now if since is None else since
    failed = msgspec.structs.replace(state, error=error.detail, failed_at=now, since=since)
    if error.blames == "gone":
        return msgspec.structs.replace(failed, disabled=True, next_at=None)
    failures = state.failures + 1
    return msgspec.structs.replace(failed, failures=failures, next_at=now + _pause(failures, error))


def channel_after_success(state: ChannelState, now: Instant) -> ChannelState:
    """Clear the failures of a channel that accepts alerts again."""
    return msgspec.structs.replace(
        state, failures=0, next_at=None, disabled=False, error=None, failed_at=None, since=None, accepted_at=now
    )


def pause_left(state: ChannelState, now: Instant) -> timedelta:
    """Say how long a channel that was read from the store is still left alone.

    Where the clock was set back since the channel failed, it is the whole pause, not what the clock has to catch up.
    """
    if state.next_at is None:
        return timedelta(0)
    since = max(state.failed_at, now) if state.failed_at is not None else now
    return min(max(state.next_at - since, 0) * _MICROSECOND, LAST_STEP)


def _tried(delivery: DueDelivery, now: Instant) -> int:
    """Add the pause that this try ends, at its real length but not beyond the planned one."""
    if not delivery.tries or delivery.last_try_at is None:
        return 0
    meant_us = max(delivery.next_at - delivery.last_try_at, 0)
    return delivery.tried_us + min(max(now - delivery.last_try_at, 0), meant_us)


def _pause(failures: int, error: DeliveryError) -> int:
    return max(next_step(failures) // _MICROSECOND, _asked(error))


def _asked(error: DeliveryError) -> int:
    asked = error.retry_after or timedelta(0)
    return min(max(asked, timedelta(0)), LONGEST_RETRY_AFTER) // _MICROSECOND
