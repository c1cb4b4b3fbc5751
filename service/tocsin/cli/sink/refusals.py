"""Alerts that a sink refused and is given again later: the sink itself stands well, they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.cli.asking import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import SinkState
    from tocsin.ports import Store

_PIECE: Final = 500
_PIECES: Final = 20
"""Of the outbox the latest alerts are looked at: what was refused waits hours, not weeks."""


class Refusals(Struct, frozen=True):
    """How many alerts of a sink wait after an error, and the latest one's error."""

    alerts: int
    error: str

    @property
    def told(self) -> str:
        """Both, in words."""
        return f"{count(self.alerts, 'alert')} refused and waiting: {self.error}"


async def find_refusals(store: Store, states: Mapping[str, SinkState]) -> dict[str, Refusals]:
    """Find what waits because it was refused, by sink; a sink that fails as a whole has its own error and is none."""
    asked = {name for name, state in states.items() if state.waiting and not state.failures and not state.disabled}
    found: dict[str, Refusals] = {}
    before: int | None = None
    for _ in range(_PIECES if asked else 0):
        piece = await store.alerts(limit=_PIECE, before=before)
        if not piece:
            break
        before = piece[-1].position
        for sink, state, _, error in (delivery for alert in piece for delivery in alert.deliveries):
            if sink in asked and state == "waiting" and error:
                earlier = found.get(sink, Refusals(0, error))
                found[sink] = Refusals(earlier.alerts + 1, earlier.error)
    return found
