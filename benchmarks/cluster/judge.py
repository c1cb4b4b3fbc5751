"""Judges a cluster from the logs of the site, of the receivers and of the database.

Was a page forgotten, requested twice, told twice or late? Each finding is a sentence; a sound cluster leaves none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from statistics import median
from typing import Final, NamedTuple

from benchmarks.cluster.evidence import Committed, Taken
from benchmarks.cluster.site import FLAKY, STEADY, Received, Requested

# How late a check may begin beside a lease.
GRACE_S: Final = 5.0
# Clocks are read one after the other: on the way from a node to the site, and from there to here.
_BLUR_S: Final = 0.05
# Of an hour's requests, those made for nothing by one kill.
_FOR_NOTHING: Final = 0.001
_HOUR_S: Final = 3600
# By then a node that joins has its share, or is late.
_JOINS_S: Final = 8.0


class Case(NamedTuple):
    """What a soak leaves behind.

    every_s   the interval of all pages
    lease_s   of a node
    began     when the troubles began: all pages had been checked once
    ended     when the nodes were asked to end
    versions  of the pages in the end
    requested, received, committed, taken  the logs, by time
    outages   from when to when no check can be asked of the cluster: its database, or its only node, was away
    troubles  how many there were
    deaths    nodes whose lease could not be renewed, and since when
    joins     nodes that joined, and when their processes were started
    refused   results that nodes said were refused by the fence
    """

    every_s: float
    lease_s: float
    began: float
    ended: float
    versions: Mapping[str, int]
    requested: Sequence[Requested]
    received: Sequence[Received]
    committed: Sequence[Committed]
    taken: Sequence[Taken] = ()
    outages: Sequence[tuple[float, float]] = ()
    troubles: int = 0
    deaths: Sequence[tuple[str, float]] = ()
    joins: Sequence[tuple[str, float]] = ()
    refused: int = 0


class Check(NamedTuple):
    """A request of a check, with its commit; without one it was made for nothing."""

    request: Requested
    commit: Committed | None


class Verdict(NamedTuple):
    """What is wrong, and the figures."""

    findings: list[str]
    figures: dict[str, float]


def judge(case: Case) -> Verdict:
    """Find whatever is wrong, and count."""
    checks = checks_of(case)
    late = sorted(lateness_of(case, checks))
    told, repeated, behind = 0, 0, 0
    findings = [*_judge_commits(case, checks), *_judge_gaps(case), *_judge_waste(case, checks)]
    for receiver in (STEADY, FLAKY):
        entries = [entry for entry in case.received if entry.receiver == receiver]
        findings += _judge_alerts(receiver, entries, case.versions)
        accepted = Counter(entry.id for entry in entries if entry.accepted)
        told += len(accepted)
        repeated += sum(accepted.values()) - len(accepted)
        behind += _count_behind(entries)
    wasted = sum(check.commit is None for check in checks)
    lease_s = case.lease_s
    takeovers = sorted(_takeovers(case))
    figures: dict[str, float] = {
        "fetches of checks": len(checks),
        "committed": len(checks) - wasted,
        "committed twice for one due time": sum(1 for _ in _twice(case, checks)),
        "fetched for nothing, %": 100 * wasted / max(len(checks), 1),
        "results refused by the fence": case.refused,
        "begun later than a lease after it was due, %": 100 * sum(s > lease_s for s in late) / max(len(late), 1),
        "latest, s": late[-1] if late else 0.0,
        "late, median, s": median(late) if late else 0.0,
        "alerts accepted": told,
        "repeated": repeated,
        "… of them after a later one of their page": behind,
        "parts taken over from dead nodes": len(takeovers),
        "… the latest, s after the death": takeovers[-1] if takeovers else 0.0,
        "a joining node's share, s after its first part": max(_joins(case), default=0.0),
    }
    return Verdict(findings, figures)


def checks_of(case: Case) -> list[Check]:
    """Give each request of a check its commit: the first one of its node before that node asks for the page again."""
    commits: dict[tuple[str, str], list[Committed]] = defaultdict(list)
    for each in case.committed:
        commits[each.url, each.app].append(each)
    asked: dict[tuple[str, str], list[Requested]] = defaultdict(list)
    for request in case.requested:
        # Renderings ask without a condition, and so do first checks.
        if request.had is not None:
            asked[request.url, request.node].append(request)
    found = []
    for key, requests in asked.items():
        mine = iter(commits[key])
        commit = next(mine, None)
        for request, following in zip_longest(requests, requests[1:]):
            while commit is not None and commit.at < request.at:
                commit = next(mine, None)
            is_its_own = commit is not None and (following is None or commit.at <= following.at)
            found.append(Check(request, commit if is_its_own else None))
    return sorted(found, key=lambda check: check.request.at)


def lateness_of(case: Case, checks: Iterable[Check]) -> Iterator[float]:
    """Say for each committed check how long after its due time it began, but for the outages."""
    for request, commit in checks:
        if commit is not None and commit.due is not None and request.at >= case.began:
            yield request.at - commit.due - _overlap(case.outages, commit.due, request.at)


def _twice(case: Case, checks: Sequence[Check]) -> Iterator[str]:
    """Find commits of checks that began before the page was due: another commit had moved it on meanwhile."""
    for request, commit in checks:
        if commit is None or commit.due is None:
            continue
        if commit.due - request.at > _BLUR_S and request.at > case.began:
            yield (
                f"{request.url}: was due at {commit.due:.3f}; {request.node} asked at {request.at:.3f}, and "
                f"{commit.app} committed that at {commit.at:.3f}"
            )


def _judge_commits(case: Case, checks: Sequence[Check]) -> Iterator[str]:
    yield from (f"committed twice for one due time: {said}" for said in _twice(case, checks))
    if missing := set(case.versions) - {commit.url for commit in case.committed}:
        yield f"{len(missing)} pages were never committed, such as {min(missing)}"


def _judge_gaps(case: Case) -> Iterator[str]:
    """No page is forgotten: from one check to the next no more than an interval and a lease pass."""
    most_s = case.every_s + case.lease_s + GRACE_S
    asked: dict[str, list[float]] = defaultdict(list)
    for request in case.requested:
        if request.at <= case.ended and (request.had is not None or request.url not in asked):
            asked[request.url].append(request.at)
    for url in case.versions:
        times = [*asked[url], case.ended]
        for before, after in pairwise(times):
            if after < case.began:
                continue
            gap_s = after - before - _overlap(case.outages, before, after)
            if gap_s > most_s:
                yield f"{url}: not checked for {gap_s:.1f} s from {before:.3f} on; at most {most_s:.0f} s"


def _judge_waste(case: Case, checks: Sequence[Check]) -> Iterator[str]:
    """Each trouble may cost a thousandth of an hour's requests, which are fetched again."""
    wasted = sum(check.commit is None and check.request.at > case.began for check in checks)
    an_hour = len(case.versions) / case.every_s * _HOUR_S
    if wasted > (most := _FOR_NOTHING * an_hour * max(case.troubles, 1)):
        yield f"{wasted} pages were fetched for nothing in {case.troubles} troubles; at most {most:.0f}"


def _judge_alerts(receiver: str, entries: Sequence[Received], versions: Mapping[str, int]) -> Iterator[str]:
    """Each page's alerts are an unbroken chain to where the page is, each with one id, and first come in order."""
    by_url: dict[str, list[Received]] = defaultdict(list)
    for entry in entries:
        by_url[entry.url].append(entry)
    for url, version in versions.items():
        ids: dict[tuple[int, int], str] = {}
        tried, reached = 0, 1
        for entry in by_url[url]:
            step = (entry.before, entry.after)
            if ids.setdefault(step, entry.id) != entry.id:
                yield f"{receiver}: {url}: {step} came as {ids[step]} and as {entry.id}"
            if entry.after > tried:
                if entry.before != reached:
                    yield f"{receiver}: {url}: alert {entry.id} goes on from {entry.before}, accepted was {reached}"
                tried = entry.after
            if entry.accepted:
                reached = max(reached, entry.after)
        if reached != version:
            yield f"{receiver}: {url}: its alerts end at version {reached}, the page at {version}"


def _count_behind(entries: Sequence[Received]) -> int:
    """Count repeats that came after a later alert of their page, as those of a node that stood still."""
    highest: dict[str, int] = defaultdict(int)
    count = 0
    for entry in entries:
        count += entry.after < highest[entry.url]
        highest[entry.url] = max(highest[entry.url], entry.after)
    return count


def _takeovers(case: Case) -> Iterator[float]:
    """Say how long after the death of its node each part was taken."""
    for node, died in case.deaths:
        held: dict[int, str | None] = {}
        for part, holder, _, at in case.taken:
            if at < died:
                held[part] = holder
            elif holder is not None and held.get(part) == node:
                del held[part]
                yield at - died - _overlap(case.outages, died, at)


def _joins(case: Case) -> Iterator[float]:
    """Say for each node that joined how long it took from its first part to the last one of its share."""
    for node, since in case.joins:
        taken = [at for _, holder, _, at in case.taken if holder == node and at >= since]
        if taken:
            yield max(at for at in taken if at < taken[0] + _JOINS_S) - taken[0]


def _overlap(spans: Iterable[tuple[float, float]], begin: float, end: float) -> float:
    return sum(max(0.0, min(end, until) - max(begin, since)) for since, until in spans)
