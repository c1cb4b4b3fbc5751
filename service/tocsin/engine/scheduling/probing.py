"""Which watched pages are checked to find out whether our own connection fails (T61, T62)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.engine.hosts.outage import SILENCE_S
from tocsin.engine.visiting.visit import is_too_near
from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.lease import Lease
    from tocsin.engine.hosts.outage import OutageWatch
    from tocsin.engine.policies import Policies
    from tocsin.model import CheckResult, Instant, PageTask
    from tocsin.ports import Clock, WorkStore

# Hosts that must all fail: three that answered lately do not disappear at the same time.
WITNESSES = 3
# Time for the witnesses to answer: resolving a name and connecting take no longer.
VERDICT_S = 30.0
_MOST_REMEMBERED = 8
_PAGES_A_HOST = 4
_EVER: Instant = 2**62


class OutageProbes:
    """Settles doubts of the outage watch by checking the hosts that answered last, and probes during an outage.

    wait_s   hosts that asked for a longer pause are not probed
    is_once  serves one request, which waits for the verdict when nothing else is left to try
    Commits tell which hosts answered last; before the first one, the store does.
    """

    def __init__(
        self,
        store: WorkStore,
        lease: Lease,
        policies: Policies,
        gates: Gates,
        outage: OutageWatch,
        clock: Clock,
        *,
        wait_s: float,
        is_once: bool,
    ) -> None:
        self._store, self._lease, self._policies, self._gates = store, lease, policies, gates
        self._outage, self._clock, self._wait_s, self._is_once = outage, clock, wait_s, is_once
        self._answered: dict[int, None] = {}
        self._is_recalled = False
        self._asked: set[str] | None = None
        self._until_s = 0.0
        # Each process begins with another host: a fixed one might be gone for good.
        self._turn = clock.now() // 1_000_000

    def on_committed(self, results: Sequence[CheckResult]) -> None:
        """Remember the hosts that answered, the latest last."""
        new: list[int] = []
        for result in reversed(results):
            if result.report.status is not None and result.host_id not in new:
                new.append(result.host_id)
                if len(new) == _MOST_REMEMBERED:
                    break
        for host_id in reversed(new):
            self._answered.pop(host_id, None)
            self._answered[host_id] = None
        while len(self._answered) > _MOST_REMEMBERED:
            del self._answered[next(iter(self._answered))]

    async def verdict(self, visited: Collection[int], *, is_all_held: bool) -> list[PageTask]:
        """Settle the doubt as soon as possible; returns the pages to check for that, one per host.

        visited      pages in hand, which are not checked twice
        is_all_held  no request under way can still bring an answer
        """
        outage = self._outage
        if not outage.in_doubt:
            self._asked = None
            return []
        if self._asked is not None:
            self._asked = {host for host in self._asked if not outage.is_failing(host)}
            if not self._asked or self._clock.monotonic() >= self._until_s:
                self._asked = None
                outage.settle(is_outage=True)
            return []
        is_at_end = self._is_once and is_all_held
        if outage.silent_s() < SILENCE_S:
            if not is_at_end:
                return []
            if outage.has_answered or await self._was_answered_lately():
                outage.settle(is_outage=False)
                return []
        tasks = await self._witnesses(visited)
        if outage.in_doubt:
            # These hosts decide. Without any, no host is known to have answered.
            self._asked = {task.host for task in tasks}
            self._until_s = self._clock.monotonic() + VERDICT_S
        return [task for task in tasks if task.page_id not in visited and not outage.is_failing(task.host)]

    async def probes(self, hosts: Callable[[], Sequence[int]]) -> list[PageTask]:
        """Return the pages of the next probe: of a host that answered last, and of another one.

        hosts  returns all hosts with pages, in a stable order
        """
        number = self._outage.next_probe()
        witnesses, all_hosts = await self._host_ids(), hosts()
        chosen: list[int] = []
        if witnesses:
            chosen.append(witnesses[number % min(len(witnesses), WITNESSES)])
        if all_hosts:
            # The hosts that answered last may all be gone by now.
            chosen.append(all_hosts[self._turn % len(all_hosts)])
            self._turn += 1
        tasks = [await self._page_of(host_id) for host_id in dict.fromkeys(chosen)]
        return [task for task in tasks if task is not None]

    async def _witnesses(self, visited: Collection[int]) -> list[PageTask]:
        """Return a page of each of up to three hosts that answered last and may be requested."""
        tasks: list[PageTask] = []
        for host_id in await self._host_ids():
            task = await self._page_of(host_id, visited)
            if task is None or self._outage.is_dead(task.host):
                continue
            tasks.append(task)
            if len(tasks) == WITNESSES:
                break
        return tasks

    async def _page_of(self, host_id: int, visited: Collection[int] = ()) -> PageTask | None:
        """Return the page of a host that is due for longest and may be requested now."""
        claim = self._lease.claim
        tasks = await self._store.due_pages(claim, [host_id], _EVER, per_host=_PAGES_A_HOST)
        for task in tasks:
            if task.page_id in visited or self._may_be_asked(task):
                return task
        return None

    def _may_be_asked(self, task: PageTask) -> bool:
        try:
            policy = self._policies.of(task)
        except SettingsError:
            return False
        is_left_alone = self._gates.held_s(task.host) > self._wait_s
        return policy.mode != "off" and not is_left_alone and not is_too_near(task, policy, self._clock.now())

    async def _host_ids(self) -> list[int]:
        """Return the hosts that answered last, the latest first."""
        if not self._answered and not self._is_recalled:
            last = await self._store.hosts_received_last(_MOST_REMEMBERED)
            self._is_recalled = True
            for host_id, _ in reversed(last):
                self._answered.setdefault(host_id)
        return list(reversed(self._answered))

    async def _was_answered_lately(self) -> bool:
        """Tell whether an earlier process received a page within `SILENCE_S`."""
        last = await self._store.hosts_received_last(1)
        return bool(last) and 0 <= self._clock.now() - last[0][1] < SILENCE_S * 1_000_000
