"""The judge of the soak of the browser notices each kind of loss, and a process that outlives its service is named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from benchmarks.browsing.judge import judge
from benchmarks.browsing.victims import SERVICE, Household, kill_one
from benchmarks.soak.evidence import Alert, Evidence, State, Verdict
from benchmarks.soak.judge import CHANGED
from benchmarks.soak.versions import html_of, outcome_of
from tocsin.engine.judging.assess import assess
from tocsin.spec.topper.state import FIELDS

URL = "http://127.0.0.1:1/0"


def event(id_: str, kind: str = "browser") -> dict[str, Any]:
    states = [
        {
            "stored": "",
            "fields": dict(
                zip(FIELDS, assess(URL, html_of(URL, each), "text/html", None, None).state.values, strict=True)
            ),
        }
        for each in (1, 2)
    ]
    rendering = {"kind": kind, "error": None}
    data = {"outcome": outcome_of(1, 2), "previous": states[0], "latest": states[1]}
    return {"id": id_, "data": {**data, "rendering": rendering, "rendered": None}}


class Case:
    """What a sound service leaves behind after one page changed once."""

    def __init__(self) -> None:
        self.states = [State(1, 1, 1), State(2, 2, 2)]
        self.verdicts = [Verdict(1, 2, outcome_of(1, 2), 1, 2, awareness=True, alert_id="A1")]
        self.alerts = [Alert("A1", 1, 1, CHANGED, event("A1"))]
        self.taken = [("A1", event("A1"))]

    def judged(self) -> list[str]:
        evidence = Evidence(
            pages={1: URL},
            states={1: self.states},
            verdicts={1: self.verdicts},
            alerts=self.alerts,
            deliveries={},
            questions=[],
            waiting_renders=0,
            digests={},
        )
        return judge(evidence, self.taken, {URL: 2})


def lose_the_change(case: Case) -> None:
    del case.states[1:], case.verdicts[:], case.alerts[:], case.taken[:]


def find_it_twice(case: Case) -> None:
    case.verdicts.append(case.verdicts[0]._replace(id=2, alert_id="A2"))


def tell_it_twice(case: Case) -> None:
    case.alerts.append(Alert("A2", 2, 1, CHANGED, event("A2")))
    case.taken.append(("A2", event("A2")))


def lose_an_alert(case: Case) -> None:
    case.taken.clear()


def send_what_is_not_in_the_store(case: Case) -> None:
    case.taken.append(("A9", event("A9")))


def render_without_the_browser(case: Case) -> None:
    case.alerts[0] = Alert("A1", 1, 1, CHANGED, event("A1", "http"))
    case.taken[0] = ("A1", event("A1", "http"))


def test_the_judge_finds_nothing_where_nothing_is_wrong() -> None:
    case = Case()
    # After a kill an alert may come again, as it was.
    case.taken.append(case.taken[0])

    assert case.judged() == []


@pytest.mark.parametrize(
    "wrong",
    [
        lose_the_change,
        find_it_twice,
        tell_it_twice,
        lose_an_alert,
        send_what_is_not_in_the_store,
        render_without_the_browser,
    ],
)
def test_the_judge_notices_each_kind_of_loss(wrong: Callable[[Case], None]) -> None:
    case = Case()
    wrong(case)

    assert case.judged()


def test_a_process_that_outlives_its_service_is_named() -> None:
    # The child ends with the pipe that it reads, which is this test's.
    program = "import signal, subprocess; subprocess.Popen(['cat']); print(1, flush=True); signal.pause()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        service.stdout.readline()
        household = Household(service.pid)
        assert kill_one(SERVICE, service.pid, Random(1))  # noqa: S311 - a plan that can be repeated
        service.wait()

        assert household.left_behind(within_s=0.0) == ["cat"]
