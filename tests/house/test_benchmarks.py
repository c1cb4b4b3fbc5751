from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.bench.__main__ import main as bench
from benchmarks.bench.corpus import MEAN_BYTES, documents
from benchmarks.bench.poison import demand_all_in_order
from benchmarks.bench.rows import ROWS
from benchmarks.soak.doomed import window_of
from benchmarks.soak.evidence import Alert, Evidence, Question, State, Verdict
from benchmarks.soak.judge import CHANGED, LATE_S, RECOVERED, judge
from benchmarks.soak.plans import WINDOWS, Plan, all_kinds, plans
from benchmarks.soak.receiver import DOWN, FLAKY, GATHERED, STUBBORN, Delivered
from benchmarks.soak.served import Served
from benchmarks.soak.versions import Muddled, html_of, outcome_of, version_of
from tests.house.sources import ROOT
from tocsin.adapters.stores.sql.statements import areas, queries
from tocsin.engine.judging.assess import assess
from tocsin.model import AlertDraft
from tocsin.spec.topper.state import FIELDS

URL = "http://127.0.0.1:1/0"
# The server of "mqtt" may lose what it has accepted.
SINGLE = ("nats", "mqtt", FLAKY, DOWN, STUBBORN)
CHANNELS = (*SINGLE, "lines")
MAILED = f"mail-{GATHERED}"


def fields(version: int) -> tuple[str | None, ...]:
    return assess(URL, html_of(URL, version), "text/html", None, None).state.values


def event(id_: str, before: int, after: int) -> dict[str, Any]:
    shown = [{"stored": "", "fields": dict(zip(FIELDS, fields(version), strict=True))} for version in (before, after)]
    data = {"outcome": outcome_of(before, after), "previous": shown[0], "latest": shown[1]}
    return {"specversion": "1.0", "id": id_, "data": {**data, "rendering": {"error": None}, "rendered": None}}


def digest_of(name: str, ids: list[str]) -> Delivered:
    told = {"data": {"alerts": [{"id": id_} for id_ in ids], "rest": []}}
    return Delivered(1, GATHERED, name, accepted=True, is_signed=True, event=told)


class Case:
    """What a sound service leaves behind after one page went through versions 1, 2 and 5."""

    def __init__(self) -> None:
        self.refused = ""
        steps = [(1, 2), (2, 5)]
        self.versions = {URL: 5}
        self.states = [State(number, version, number) for number, version in enumerate((1, 2, 5), 1)]
        self.alerts = [Alert(f"A{n}", n, 1, CHANGED, event(f"A{n}", *step)) for n, step in enumerate(steps, 1)]
        self.verdicts = [
            Verdict(n, n + 1, outcome_of(*step), *step, awareness=True, alert_id=f"A{n}")
            for n, step in enumerate(steps, 1)
        ]
        self.deliveries = {(alert.id, channel): "accepted" for alert in self.alerts for channel in CHANNELS}
        self.questions = [Question(1, is_announced=False, is_closed=True)]
        self.delivered = [
            Delivered(1, channel, alert.id, accepted=True, is_signed=True, event=alert.event)
            for alert in self.alerts
            for channel in SINGLE
        ]
        self.mails = [Delivered(0, MAILED, "M1", accepted=True, is_signed=True, event={"mail": "digest"})]
        self.losable = {"mqtt": 0}
        # Of each digest its id and alerts; by default one has them all.
        self.digests: list[tuple[str, list[str]]] = []
        self.lines = [alert.event for alert in self.alerts]
        self.served = [
            Served(1, URL, had, version, 200, began)
            for began, (had, version) in enumerate([(None, 1), (1, 2), (2, 5), (5, 5)])
        ]

    def recover(self, data: dict[str, Any]) -> None:
        again = {**event("A3", 2, 5), "data": data}
        self.alerts.append(Alert("A3", 3, 1, RECOVERED, again))
        self.deliveries |= {("A3", channel): "accepted" for channel in CHANNELS}
        self.delivered += [
            Delivered(1, channel, "A3", accepted=True, is_signed=True, event=again) for channel in SINGLE
        ]
        self.lines.append(again)

    def judged(self, folder: Path) -> list[str]:
        path = folder / "lines"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        digests = self.digests or [("D1", [alert.id for alert in self.alerts])]
        delivered = [*self.delivered, *self.mails, *(digest_of(name, ids) for name, ids in digests)]
        evidence = Evidence(
            pages={1: URL},
            states={1: self.states},
            verdicts={1: self.verdicts},
            alerts=self.alerts,
            deliveries={
                **{(alert.id, channel): "accepted" for alert in self.alerts for channel in (GATHERED, MAILED)},
                **self.deliveries,
            },
            questions=self.questions,
            waiting_renders=0,
            digests={(MAILED, "M1"): [alert.id for alert in self.alerts]},
        )
        return judge(evidence, self.served, delivered, path, self.versions, self.refused, self.losable)

    def refuse(self) -> None:
        """Let the stubborn receiver take nothing of the page."""
        self.refused = URL
        self.deliveries |= {(alert.id, STUBBORN): "waiting" for alert in self.alerts}
        self.delivered = [
            entry._replace(accepted=False) if entry.channel == STUBBORN else entry for entry in self.delivered
        ]


def lose_a_verdict(case: Case) -> None:
    del case.verdicts[0]


def tell_twice(case: Case) -> None:
    case.verdicts.append(case.verdicts[1]._replace(id=3, alert_id="A3"))
    case.alerts.append(Alert("A3", 3, 1, CHANGED, event("A3", 2, 5)))


def tell_the_end_of_what_nobody_was_asked(case: Case) -> None:
    case.recover({"question": {"id": "1", "ended": True}, "rendering": None, "rendered": None})


def lose_an_alert(case: Case) -> None:
    del case.alerts[1]


def lose_a_delivery(case: Case) -> None:
    del case.deliveries["A2", DOWN]


def leave_out_of_the_digest(case: Case) -> None:
    case.digests = [("D1", ["A1"])]


def gather_twice(case: Case) -> None:
    case.digests = [("D1", ["A1", "A2"]), ("D2", ["A2"])]


def change_a_digest(case: Case) -> None:
    case.digests = [("D1", ["A1"]), ("D1", ["A1", "A2"])]


def keep_a_digest_waiting(case: Case) -> None:
    case.deliveries["A1", GATHERED] = "sealed"


def never_deliver(case: Case) -> None:
    case.delivered = [entry for entry in case.delivered if (entry.id, entry.channel) != ("A2", DOWN)]


def lose_a_message(case: Case) -> None:
    case.delivered = [entry for entry in case.delivered if (entry.id, entry.channel) != ("A2", "mqtt")]


def lose_a_mail(case: Case) -> None:
    case.mails.clear()


def send_another_mail_under_its_id(case: Case) -> None:
    case.mails.append(case.mails[0]._replace(event={"mail": "another digest"}))


def deliver_out_of_order(case: Case) -> None:
    case.delivered.reverse()


def deliver_what_was_rolled_back(case: Case) -> None:
    case.delivered.append(case.delivered[0]._replace(id="A9"))


def sign_wrongly(case: Case) -> None:
    case.delivered[0] = case.delivered[0]._replace(is_signed=False)


def lose_a_version_that_was_served(case: Case) -> None:
    case.served.insert(2, Served(1, URL, 2, 3, 200, 2))


def go_back(case: Case) -> None:
    case.states.append(State(4, 2, 4))


def end_before_the_site(case: Case) -> None:
    case.versions[URL] = 6


def misjudge(case: Case) -> None:
    case.verdicts[1] = case.verdicts[1]._replace(outcome="minor")


def leave_a_question_open(case: Case) -> None:
    case.questions.append(Question(2, is_announced=True, is_closed=False))


def ask_about_a_state_never_stored(case: Case) -> None:
    case.served.append(Served(1, URL, 7, 7, 304, 9))


def take_what_is_refused_for_ever(case: Case) -> None:
    case.refuse()
    case.deliveries["A1", STUBBORN] = "accepted"


def make_a_page_late(case: Case) -> None:
    late = case.delivered[-1]
    case.delivered[-1] = late._replace(at=case.alerts[-1].created_at + 2 * LATE_S)


WRONGS: list[Callable[[Case], None]] = [
    lose_a_verdict,
    tell_twice,
    tell_the_end_of_what_nobody_was_asked,
    lose_an_alert,
    lose_a_delivery,
    leave_out_of_the_digest,
    gather_twice,
    change_a_digest,
    keep_a_digest_waiting,
    never_deliver,
    lose_a_message,
    lose_a_mail,
    send_another_mail_under_its_id,
    deliver_out_of_order,
    deliver_what_was_rolled_back,
    sign_wrongly,
    lose_a_version_that_was_served,
    go_back,
    end_before_the_site,
    misjudge,
    leave_a_question_open,
    ask_about_a_state_never_stored,
    take_what_is_refused_for_ever,
    make_a_page_late,
]


def test_the_judge_finds_nothing_where_nothing_is_wrong(tmp_path: Path) -> None:
    assert Case().judged(tmp_path) == []


def test_one_page_that_is_refused_for_ever_is_no_loss(tmp_path: Path) -> None:
    case = Case()
    case.refuse()

    assert case.judged(tmp_path) == []


def test_what_a_server_lost_that_may_is_not_ours(tmp_path: Path) -> None:
    case = Case()
    lose_a_message(case)
    case.losable = {"mqtt": 1}

    assert case.judged(tmp_path) == []


@pytest.mark.parametrize("wrong", WRONGS, ids=lambda wrong: wrong.__name__)
def test_the_judge_notices_each_kind_of_loss(tmp_path: Path, wrong: Callable[[Case], None]) -> None:
    case = Case()
    wrong(case)

    assert case.judged(tmp_path) != []


def test_a_version_served_to_a_check_that_died_with_its_life_may_be_missing(tmp_path: Path) -> None:
    case = Case()
    case.served.insert(2, Served(1, URL, 2, 3, 200, 2))
    case.served[3:] = [Served(2, URL, 2, 5, 200, 3)]

    assert case.judged(tmp_path) == []


def test_a_rendering_told_in_two_alerts_is_one_verdict(tmp_path: Path) -> None:
    case = Case()
    rendered = {"latest": {**event("", 5, 6)["data"]["latest"], "stored": "2026-01-02T03:04:05.678Z"}}
    for alert in case.alerts[1:]:
        alert.event["data"]["rendered"] = rendered
    case.recover({"question": None, "rendering": {"error": None}, "rendered": rendered})
    case.states.append(State(4, 6, 4))
    case.versions[URL] = 6

    assert case.judged(tmp_path) == []


def test_awareness_that_was_owed_may_end_a_question_that_nobody_was_asked(tmp_path: Path) -> None:
    case = Case()
    case.recover({"question": {"id": "1", "ended": True}, "rendering": {"error": None}, "rendered": None})

    assert case.judged(tmp_path) == []


def test_a_state_that_no_version_had_is_muddled() -> None:
    with pytest.raises(Muddled):
        version_of((*fields(3)[:11], fields(4)[11]))


def test_every_way_to_die_is_planned() -> None:
    kinds, chance = all_kinds(), Random(1)  # noqa: S311 - a plan that can be repeated

    assert {(plan.window, plan.point) for plan in plans(chance, len(kinds))} == set(kinds)


def test_the_queries_that_the_windows_are_known_by_exist() -> None:
    names = {f"{area}.{name}" for area in areas() for name in queries(area)}

    assert {window_of([name]) for name in names} >= set(WINDOWS)


def test_the_service_dies_at_the_point_that_was_planned(tmp_path: Path) -> None:
    plan = Plan("claim", "before", nth=1, step=0, patience=0.0, note=str(tmp_path / "note.json"))
    (tmp_path / "tocsin.toml").write_text('[http]\nlisten = "127.0.0.1:0"\n')
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.soak.doomed", "--config", str(tmp_path / "tocsin.toml"), "run"],
        cwd=ROOT,
        env={**os.environ, "SOAK_PLAN": json.dumps(plan._asdict())},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == -signal.SIGKILL, run.stderr
    assert json.loads((tmp_path / "note.json").read_text()) == {
        "window": "claim",
        "point": "before",
        "statement": "commit",
    }


@pytest.mark.timeout(600)  # it waits for what is to settle by itself, and names what does not
def test_a_short_soak_loses_nothing() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.soak", "--rounds", "1", "--seed", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, ""), run.stdout


def test_the_corpus_is_as_large_as_it_says() -> None:
    lengths = [document.length for document in documents()]

    assert abs(sum(lengths) / len(lengths) - MEAN_BYTES) < MEAN_BYTES / 50


def test_the_corpus_has_fifteen_meta_elements() -> None:
    pages = [b"".join(document.parts(0)) for document in documents()]

    assert {page.count(b"<meta ") for page in pages} == {15}


@pytest.mark.parametrize(
    "accepted", ["a1 b1 b2", "a1 b1 a2 a2 b2", "a2 a1 b1 b2"], ids=["lost", "repeated", "disordered"]
)
def test_poison_fails_unless_all_alerts_arrive_in_the_order_of_their_page(accepted: str) -> None:
    alerts = [AlertDraft(name, CHANGED, 1 + (name[0] == "b"), 0, {}) for name in ("a1", "a2", "b1", "b2")]
    demand_all_in_order(["b1", "a1", "b2", "a2"], alerts)

    with pytest.raises(RuntimeError, match="out of the order of their page"):
        demand_all_in_order(accepted.split(), alerts)


# Those that need programs of others are tried by `.ci/run`, as far as these are there.
@pytest.mark.parametrize("row", [name for name, row in ROWS.items() if row.is_own])
def test_each_row_of_the_benchmarks_works(row: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = bench(["--tiny", "--json", row])

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 0
    assert lines
    # What memory grows by may be nothing, or less.
    assert all(line["row"] == row and math.isfinite(line["value"]) for line in lines)
