"""Alerts that a channel refused and is given again later: the channel itself stands well, they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.cli.formatting import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import ChannelState
    from tocsin.ports import Store

_PIECE: Final = 500
_PIECES: Final = 20
"""Of the outbox the latest alerts are looked at: what was refused waits hours, not weeks."""


class Refusals(Struct, frozen=True):
    """How many alerts of a channel wait after an error, and the latest one's error."""

    alerts: int
    error: str

    @property
    def told(self) -> str:
        """Both, in words."""
        return f"{count(self.alerts, 'alert')} refused and waiting: {self.error}"


async def find_refusals(store: Store, states: Mapping[str, ChannelState]) -> dict[str, Refusals]:
    """Find the alerts that wait because they were refused, by channel; channels that fail as a whole are left out."""
    asked = {name for name, state in states.items() if state.waiting and not state.failures and not state.disabled}
    found: dict[str, Refusals] = {}
    before: int | None = None
    for _ in range(_PIECES if asked else 0):
        piece = await store.alerts(limit=_PIECE, before=before)
        if not piece:
            break
        before = piece[-1].position
        for channel, state, _, error in (delivery for alert in piece for delivery in alert.deliveries):
            if channel in asked and state == "waiting" and error:
                earlier = found.get(channel, Refusals(0, error))
                found[channel] = Refusals(earlier.alerts + 1, earlier.error)
    return found
