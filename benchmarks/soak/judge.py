"""Was anything lost, doubled or mixed up? Each finding is a sentence; a sound service leaves none.

"Served" counts as follows. A check in flight when the service died may have received a page without having committed
it; the next check then sees that version or a later one. But a page is checked again only when its last check is
committed. So a version that was served whole to a check, and followed by another check of the page in the same life,
must be among the states; and whatever the committed states went through must be told, pair by pair, once.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from benchmarks.soak.evidence import Alert, Evidence, State, Verdict
from benchmarks.soak.receiver import DOWN, FLAKY, GATHERED, STUBBORN, Delivered
from benchmarks.soak.served import Served, judge_served
from benchmarks.soak.versions import outcome_of, version_in_event

LATE_S = 240.0
"""Far more than the steps of lost answers."""
CHANGED, UNREACHABLE, RECOVERED = (f"tocsin.page.{kind}.v1" for kind in ("changed", "unreachable", "recovered"))


def judge(
    evidence: Evidence,
    served: Sequence[Served],
    delivered: Sequence[Delivered],
    lines: Path,
    versions: dict[str, int],
    refused: str = "",
    losable: Mapping[str, int] | None = None,
    lives: Sequence[tuple[float, float]] = (),
) -> list[str]:
    """Find whatever is wrong.

    lines     the file channel's file
    versions  the version that each page has in the end
    refused   the page whose alerts one receiver never takes
    losable   how many messages each server may have lost after it had accepted them
    lives     from when to when the service worked
    """
    losable = losable or {}
    reached = {**_by_channel(evidence, delivered), "lines": [(event["id"], True) for event in _read_lines(lines)]}
    never = {alert.id for alert in evidence.alerts if evidence.pages.get(alert.page_id or 0) == refused}
    return [
        *judge_pages(evidence, versions),
        *judge_served({url: _versions(evidence, page) for page, url in evidence.pages.items()}, served),
        *judge_alerts(evidence),
        *judge_questions(evidence),
        *_judge_deliveries(evidence, reached, never, losable),
        *_judge_digests(evidence, delivered, losable),
        *_judge_lateness(evidence, delivered, lives or [(0.0, inf)]),
        *_judge_contents(evidence, delivered),
    ]


def judge_pages(evidence: Evidence, versions: Mapping[str, int]) -> Iterator[str]:
    """Every step of a page's states is told once, and the last one is where the page is."""
    if missing := set(versions) - set(evidence.pages.values()):
        yield f"{len(missing)} pages are gone from the store, such as {min(missing)}"
    rendered = _states_of_renderings(evidence)
    for page, url in evidence.pages.items():
        states, verdicts = evidence.states.get(page, []), evidence.verdicts.get(page, [])
        if not states or states[-1].version != versions[url]:
            yield f"{url}: ends in {states[-1] if states else 'no state'}, the site in version {versions[url]}"
        yield from _judge_steps(url, states, verdicts, rendered.get(page, Counter()))


def _judge_steps(
    url: str, states: Sequence[State], verdicts: Sequence[Verdict], rendered: Counter[int]
) -> Iterator[str]:
    of_state: dict[int | None, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        of_state[verdict.state_id].append(verdict)
    for before, after in pairwise(states):
        step = f"{url}: version {before.version} to {after.version}"
        if after.version <= before.version:
            yield f"{step}: a state that was there already, or went back"
        told = of_state.pop(after.id, [])
        count = len(told) + rendered[after.version]
        if count != 1:
            yield f"{step}: {count} verdicts"
        for verdict in told:
            if (verdict.before, verdict.after) != (before.version, after.version):
                yield f"{step}: the verdict says {verdict.before} to {verdict.after}"
            if verdict.outcome != outcome_of(before.version, after.version):
                yield f"{step}: judged {verdict.outcome}"
    for state, extra in of_state.items():
        yield f"{url}: {len(extra)} verdicts for state {state}, which no other state precedes"


def _states_of_renderings(evidence: Evidence) -> dict[int, Counter[int]]:
    """Count the states that renderings stored, by page and version: their verdict stands in the alert.

    One rendering may be told in two alerts: of the last verdict that it answers, and of the recovery that it is.
    """
    stored = {
        (alert.page_id, version_in_event(rendered["latest"]), rendered["latest"]["stored"])
        for alert in evidence.alerts
        if alert.page_id in evidence.pages and (rendered := alert.event["data"].get("rendered"))
    }
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for page, version, _ in stored:
        found[page][version] += 1
    return found


def _versions(evidence: Evidence, page: int) -> set[int]:
    return {state.version for state in evidence.states.get(page, [])}


def judge_alerts(evidence: Evidence) -> Iterator[str]:
    """One verdict, one alert; and the alerts of a page are an unbroken chain."""
    changed = {
        alert.id: alert for alert in evidence.alerts if alert.type == CHANGED and alert.page_id in evidence.pages
    }
    answered: Counter[str | None] = Counter()
    for page, verdicts in evidence.verdicts.items():
        for verdict in verdicts:
            name = f"{evidence.pages[page]}: verdict {verdict.id} ({verdict.before} to {verdict.after})"
            answered[verdict.alert_id] += 1
            alert = changed.get(verdict.alert_id or "")
            if not verdict.awareness or alert is None:
                yield f"{name}: no alert"
                continue
            data = alert.event["data"]
            said = version_in_event(data["previous"]), version_in_event(data["latest"])
            if said != (verdict.before, verdict.after) or data["outcome"] != verdict.outcome:
                yield f"{name}: its alert says {said}, {data['outcome']}"
    yield from (f"alert {id_}: of {count} verdicts" for id_, count in answered.items() if id_ and count != 1)
    yield from (f"alert {id_}: of no verdict" for id_ in changed.keys() - answered.keys())
    if (positions := [alert.position for alert in evidence.alerts]) != list(range(1, len(positions) + 1)):
        yield "the positions of alerts have gaps"
    for page, url in evidence.pages.items():
        yield from _judge_chain(url, evidence.states.get(page, []), [a for a in evidence.alerts if a.page_id == page])


def _judge_chain(url: str, states: Sequence[State], alerts: Sequence[Alert]) -> Iterator[str]:
    at, owed = states[0].version if states else 0, 0
    for alert in alerts:
        data = alert.event["data"]
        if alert.type == CHANGED:
            if version_in_event(data["previous"]) != at:
                yield f"{url}: alert {alert.id} goes on from {version_in_event(data['previous'])}, the page was at {at}"
            at = version_in_event(data["latest"])
            owed = 1 if data["rendering"]["error"] else 0
        if alert.type == RECOVERED and data["rendering"]:
            owed = 0
        if data.get("rendered"):
            at = version_in_event(data["rendered"]["latest"])
    if owed:
        yield f"{url}: a rendering failed, and awareness was never given"
    if states and at != states[-1].version:
        yield f"{url}: its alerts end at version {at}, its states at {states[-1].version}"


def judge_questions(evidence: Evidence) -> Iterator[str]:
    """A question is asked at most once, and its end is told at most once.

    Where nobody was asked, only a recovery that carries the awareness still owed tells of the end.
    """
    asked, ended = _count_questions(evidence, UNREACHABLE), _count_questions(evidence, RECOVERED)
    owed = _count_questions(evidence, RECOVERED, with_rendering=True)
    for question in evidence.questions:
        if not question.is_closed:
            yield f"question {question.id}: still open, though every page is well"
        if asked[question.id] != question.is_announced:
            yield f"question {question.id}: asked {asked[question.id]} times, announced: {question.is_announced}"
        if ended[question.id] > max(question.is_announced, owed[question.id] == 1):
            yield f"question {question.id}: its end was told {ended[question.id]} times"


def _count_questions(evidence: Evidence, kind: str, *, with_rendering: bool = False) -> Counter[int]:
    """Count the alerts of this type for each question; of recoveries, only those that end one."""
    data = (alert.event["data"] for alert in evidence.alerts if alert.type == kind)
    told = (each["question"] for each in data if each.get("rendering") or not with_rendering)
    return Counter(int(question["id"]) for question in told if question and question.get("ended", True))


def _by_channel(evidence: Evidence, delivered: Sequence[Delivered]) -> dict[str, list[tuple[str, bool]]]:
    channels = {FLAKY, DOWN, STUBBORN, *(channel for _, channel in evidence.deliveries)}
    found: dict[str, list[tuple[str, bool]]] = {name: [] for name in channels if not name.endswith(GATHERED)}
    for delivery in delivered:
        if not delivery.channel.endswith(GATHERED):
            found[delivery.channel].append((delivery.id, delivery.accepted))
    return found


def late_by(
    evidence: Evidence, delivered: Sequence[Delivered], lives: Sequence[tuple[float, float]]
) -> dict[str, float]:
    """Say how many seconds the service worked until each alert was taken that the stubborn receiver took."""
    written = {alert.id: alert.created_at / 1_000_000 for alert in evidence.alerts}
    taken: dict[str, float] = {}
    for delivery in delivered:
        if delivery.channel == STUBBORN and delivery.accepted and delivery.id in written:
            since, until = written[delivery.id], delivery.at
            worked = (min(end, until) - max(begin, since) for begin, end in lives)
            taken.setdefault(delivery.id, sum(span for span in worked if span > 0))
    return taken


def _judge_lateness(
    evidence: Evidence, delivered: Sequence[Delivered], lives: Sequence[tuple[float, float]]
) -> Iterator[str]:
    """Neither a page that is refused for ever nor a channel that fails makes any other late."""
    for id_, late_s in late_by(evidence, delivered, lives).items():
        if late_s > LATE_S:
            yield f"{STUBBORN}: alert {id_} was taken {late_s:.0f} s of work after it was written"


def _judge_deliveries(
    evidence: Evidence,
    reached: Mapping[str, Sequence[tuple[str, bool]]],
    never: Collection[str],
    losable: Mapping[str, int],
) -> Iterator[str]:
    """Every alert reached every channel, those of a page in their order, and nothing came that is not in the outbox.

    never  alerts that the stubborn receiver does not take
    """
    alerts = {alert.id: alert for alert in evidence.alerts}
    for channel, attempts in reached.items():
        accepted = {id_ for id_, is_accepted in attempts if is_accepted}
        refused = never if channel == STUBBORN else ()
        for id_ in refused:
            if id_ in accepted or evidence.deliveries.get((id_, channel)) != "waiting":
                yield f"{channel}: alert {id_} is refused for ever, and does not wait"
        for id_ in alerts.keys() - set(refused):
            if (state := evidence.deliveries.get((id_, channel), "missing")) != "accepted":
                yield f"{channel}: the delivery of alert {id_} is {state}"
        missing = alerts.keys() - accepted - set(refused)
        if len(missing) > losable.get(channel, 0):
            yield from (f"{channel}: alert {id_} was never accepted" for id_ in missing)
        # This reader gets again what it was given as its server was killed.
        yield from _judge_order(alerts, channel, dict.fromkeys(attempts) if channel == "mqtt" else attempts)


def _judge_order(alerts: Mapping[str, Alert], channel: str, attempts: Iterable[tuple[str, bool]]) -> Iterator[str]:
    last: dict[int | None, int] = defaultdict(int)
    for id_, _ in attempts:
        alert = alerts.get(id_)
        if alert is None:
            yield f"{channel}: alert {id_} was delivered, and is not in the outbox"
        elif alert.page_id is not None and alert.position < last[alert.page_id]:
            yield f"{channel}: alert {id_} came after a later one of its page"
        else:
            last[alert.page_id] = alert.position


def _judge_digests(evidence: Evidence, delivered: Sequence[Delivered], losable: Mapping[str, int]) -> Iterator[str]:
    """Every alert is in one digest of each such channel that was accepted."""
    for channel in {GATHERED, *(name for _, name in evidence.deliveries if name.endswith(GATHERED))}:
        digests = [delivery for delivery in delivered if delivery.channel == channel]
        accepted = {digest.id for digest in digests if digest.accepted}
        told: dict[str, str] = {}
        for digest in digests:
            # A mail does not say which alerts it has.
            shown = digest.event.get("data", {}).get("alerts")
            ids = [each["id"] for each in shown] if shown else evidence.digests.get((channel, digest.id), ())
            for id_ in ids:
                if told.setdefault(id_, digest.id) != digest.id:
                    yield f"{channel}: alert {id_} came in two digests"
        lost = [ids for (name, id_), ids in evidence.digests.items() if name == channel and id_ not in accepted]
        forgiven = {id_ for ids in lost for id_ in ids} if len(lost) <= losable.get(channel, 0) else set()
        # A digest with more alerts than it shows counts the others.
        shown_all = not any(digest.event.get("data", {}).get("rest") for digest in digests)
        for alert in evidence.alerts:
            if shown_all and told.get(alert.id) not in accepted and alert.id not in forgiven:
                yield f"{channel}: alert {alert.id} was in no digest that was accepted"
            if (state := evidence.deliveries.get((alert.id, channel), "missing")) != "accepted":
                yield f"{channel}: the delivery of alert {alert.id} is {state}"


def _judge_contents(evidence: Evidence, delivered: Sequence[Delivered]) -> Iterator[str]:
    """Each delivery is signed, is the same however often it came, and an event is what the outbox holds."""
    events = {alert.id: alert.event for alert in evidence.alerts}
    contents: dict[tuple[str, str], dict[str, Any]] = {}
    for delivery in delivered:
        if not delivery.is_signed:
            yield f"{delivery.channel}: alert {delivery.id} came with a wrong signature"
        if contents.setdefault((delivery.channel, delivery.id), delivery.event) != delivery.event:
            yield f"{delivery.channel}: {delivery.id} came with another content than before"
        if "specversion" in delivery.event and delivery.event != events.get(delivery.id, delivery.event):
            yield f"{delivery.channel}: alert {delivery.id} came with another content than the outbox holds"


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
