"""The next due time of each host, in a few bytes per host."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator
from typing import Final

from tocsin.model import Instant

_SLOT_BITS: Final = 26  # a slot of the time to come: 67 seconds
_LEAF_BITS: Final = 8
_LEAF: Final = 1 << _LEAF_BITS
_HOST_BITS: Final = 32
_HOST: Final = (1 << _HOST_BITS) - 1
_ABSENT: Final = -(2**63)
_NOTHING: Final = (0, 0, 0, _ABSENT)
_FEW: Final = 10_000


class Agenda:
    """The next due time of each host: a calendar queue of about 14 MB for a million hosts.

    Host ids are less than 2**32; times are instants, in microseconds.
    """

    # An array holds the due time of each host. Only the current slot of time is sorted, as a heap; hosts of later slots
    # are in unsorted arrays. Outdated entries of a host stay there until their slot comes, and are then ignored.

    def __init__(self) -> None:
        self._due: dict[int, array[int]] = {}
        self._count = 0
        # Due time and host in one number: a third of the memory and time of tuples in a heap of a million.
        self._near: list[int] = []
        self._later: dict[int, array[int]] = {}
        self._slots: list[int] = []
        self._entries = 0
        self._open: int | None = None
        self._looked_up = _NOTHING

    def __len__(self) -> int:
        return self._count

    def __contains__(self, host_id: int) -> bool:
        return self._due_of(host_id) != _ABSENT

    def put(self, host_id: int, due: Instant | None) -> None:
        """Set the due time of a host; None takes it out."""
        before = self._due_of(host_id)
        if due is None:
            if before != _ABSENT:
                self._set(host_id, _ABSENT)
                self._count -= 1
        elif due != before:
            self._set(host_id, due)
            self._count += before == _ABSENT
            self._enter(host_id, due)
            if self._entries > 2 * self._count + _FEW:
                self._sweep()

    def take_out(self, host_id: int) -> Instant | None:
        """Take out a host; returns its due time, None if it is not on the agenda."""
        due = self._due_of(host_id)
        if due == _ABSENT:
            return None
        self.put(host_id, None)
        return due

    def advance(self, host_id: int, due: Instant) -> None:
        """Set the due time of a host unless it is due earlier."""
        before = self._due_of(host_id)
        if before == _ABSENT or due < before:
            self.put(host_id, due)

    def next_due(self) -> Instant | None:
        """Return the due time of the first host; None if there is none."""
        due = self._first_near()
        while due is None and self._slots:
            due = self._first_later()
        return due

    def take(self, now: Instant, most: int) -> dict[int, Instant]:
        """Take out due hosts with their due times, ordered by due time, then id."""
        taken: dict[int, Instant] = {}
        while len(taken) < most:
            due = self._first_near()
            if due is None and self._slots and self._slots[0] << _SLOT_BITS <= now:
                self._open_slot()
            elif due is None or due > now:
                break
            else:
                host_id = heapq.heappop(self._near) & _HOST
                self._set(host_id, _ABSENT)
                self._count -= 1
                taken[host_id] = due
        return taken

    def hosts(self) -> list[int]:
        """Return all hosts on the agenda, in a stable order."""
        return [host_id for host_id, _ in self._all()]

    def _due_of(self, host_id: int) -> Instant:
        leaf = self._due.get(host_id >> _LEAF_BITS)
        return _ABSENT if leaf is None else leaf[host_id & (_LEAF - 1)]

    def _set(self, host_id: int, due: Instant) -> None:
        leaf = self._due.get(host_id >> _LEAF_BITS)
        if leaf is None:
            leaf = self._due[host_id >> _LEAF_BITS] = array("q", [_ABSENT]) * _LEAF
        leaf[host_id & (_LEAF - 1)] = due

    def _enter(self, host_id: int, due: Instant) -> None:
        slot = due >> _SLOT_BITS
        if self._open is not None and slot <= self._open:
            heapq.heappush(self._near, due << _HOST_BITS | host_id)
            return
        hosts = self._later.get(slot)
        if hosts is None:
            hosts = self._later[slot] = array("I")
            heapq.heappush(self._slots, slot)
        hosts.append(host_id)
        self._entries += 1
        known_slot, known_entries, known_host, known_due = self._looked_up
        if known_slot == slot and known_entries == len(hosts) - 1 > 0:
            # Otherwise each host that is put into the next slot would cost a look at all that are in it.
            first, first_host = min((due, host_id), (known_due, known_host))
            self._looked_up = (slot, len(hosts), first_host, first)

    def _first_near(self) -> Instant | None:
        while self._near:
            first = self._near[0]
            due = first >> _HOST_BITS
            if self._due_of(first & _HOST) == due:
                return due
            heapq.heappop(self._near)
        return None

    def _first_later(self) -> Instant | None:
        """Find the first host of the next slot without sorting it: earlier hosts may still come."""
        slot = self._slots[0]
        hosts = self._later[slot]
        known_slot, known_entries, known_host, known_due = self._looked_up
        if (known_slot, known_entries) == (slot, len(hosts)) and self._due_of(known_host) == known_due:
            return known_due
        dues = [(due, host_id) for host_id in hosts if (due := self._due_of(host_id)) >> _SLOT_BITS == slot]
        if not dues:
            self._drop_slot()
            return None
        first, host_id = min(dues)
        self._looked_up = (slot, len(hosts), host_id, first)
        return first

    def _open_slot(self) -> None:
        """Sort the hosts of the next slot."""
        slot = self._open = self._slots[0]
        hosts = self._drop_slot()
        dues = ((self._due_of(host_id), host_id) for host_id in hosts)
        self._near = [due << _HOST_BITS | host_id for due, host_id in dues if due >> _SLOT_BITS == slot]
        heapq.heapify(self._near)

    def _drop_slot(self) -> array[int]:
        hosts = self._later.pop(heapq.heappop(self._slots))
        self._entries -= len(hosts)
        self._looked_up = _NOTHING
        return hosts

    def _sweep(self) -> None:
        """Drop outdated entries."""
        self._near, self._later, self._slots, self._entries, self._open = [], {}, [], 0, None
        # A rebuilt slot can happen to have the length that the cached lookup remembers.
        self._looked_up = _NOTHING
        for host_id, due in self._all():
            self._enter(host_id, due)

    def _all(self) -> Iterator[tuple[int, Instant]]:
        for number in sorted(self._due):
            for place, due in enumerate(self._due[number]):
                if due != _ABSENT:
                    yield (number << _LEAF_BITS) + place, due
