"""A router whose answers the test writes down; implements ports.Router."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tocsin.model import AlertDraft, Instant, Routed
from tocsin.ports import RoutingContext

HOUR = 3_600_000_000
Answer = Callable[[AlertDraft, Instant, RoutingContext], Sequence[Routed]]


class ScriptedRouter:
    """Asks a function; digests are due at each full hour."""

    def __init__(self, answer: Answer, promised: Sequence[tuple[str, str]] = ()) -> None:
        self._answer = answer
        self.promised = promised

    def route(self, draft: AlertDraft, now: Instant, context: RoutingContext) -> Sequence[Routed]:
        return self._answer(draft, now, context)

    def next_occasion(self, route: str, after: Instant) -> Instant | None:
        return None if route.startswith("wait") else (after // HOUR + 1) * HOUR


def digest(channel: str = "mail", route: str = "daily", key: str = "", *, due_at: Instant) -> Routed:
    """An answer that gathers."""
    return Routed(channel, route, key, due_at, is_digest=True)


def gathering(due_at: Instant, channel: str = "mail", route: str = "daily") -> ScriptedRouter:
    """A router that gathers all alerts for one channel."""
    return ScriptedRouter(lambda *_: [digest(channel, route, due_at=due_at)])
