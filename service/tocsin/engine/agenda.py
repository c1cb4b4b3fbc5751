"""When each host is due next."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.model import Instant


class Agenda:
    """When each host is due next: a heap of (due, host), where only the newest entry of a host counts."""

    def __init__(self) -> None:
        self._due: dict[int, Instant] = {}
        self._heap: list[tuple[Instant, int]] = []

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, host_id: int) -> bool:
        return host_id in self._due

    def put(self, host_id: int, due: Instant | None) -> None:
        """Note when a host is due; None takes it out."""
        if due is None:
            self._due.pop(host_id, None)
        elif self._due.get(host_id) != due:
            self._due[host_id] = due
            heapq.heappush(self._heap, (due, host_id))

    def next_due(self) -> Instant | None:
        """When the first host is due."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take(self, now: Instant, most: int) -> list[int]:
        """Take out hosts that are due, the longest due first."""
        taken: list[int] = []
        while len(taken) < most and (due := self.next_due()) is not None and due <= now:
            host_id = heapq.heappop(self._heap)[1]
            del self._due[host_id]
            taken.append(host_id)
        return taken

    def hosts(self) -> list[int]:
        """All hosts that are on it, in an order that stays."""
        return sorted(self._due)
