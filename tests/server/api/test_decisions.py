"""What people decide over HTTP: answers to questions (T60), rules, alerts and dead letters, storms, channels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.desk import NOW
from tests.contract.desk import alert as draft_of
from tests.server.api.talk import Api
from tests.server.lived import FORBIDDEN, LOST
from tocsin.events import CHANGED
from tocsin.model import AlertDraft

GONE = "01KAKQ4ZC8N2V3J5R7T9WXYZ00"


async def test_T60_open_questions_are_listed_with_their_tries(busy: Api) -> None:
    found = (await busy.get("/questions?limit=100"))["items"]

    assert len(found) == len(LOST) - FORBIDDEN
    (one,) = [each for each in found if each["id"] == "60"]
    assert (one["host"], one["cause"], one["pages"]) == ("lost59.example", "connect", 1)
    assert [attempt["kind"] for attempt in one["attempts"]] == ["connect"]
    assert len((await busy.get("/questions?closed=true&limit=100"))["items"]) == FORBIDDEN


async def test_a_question_is_shown_with_its_pages_and_their_copies(busy: Api) -> None:
    question = await busy.get("/questions/60")

    assert question["urls"] == [LOST[-1]]
    assert [copy["url"] for copy in question["copies"]] == [
        "https://copies.example/2025",
        "https://copies.example/2024",
    ]


@pytest.mark.parametrize(
    ("said", "instruction"),
    [
        ({"kind": "again"}, "again"),
        ({"kind": "again", "times": 3, "new_connections": True}, "again"),
        ({"kind": "again", "at": "6h"}, "again"),
        ({"kind": "again", "at": "2027-06-01T12:00:00+02:00"}, "again"),
        ({"kind": "again", "later": True}, "again"),
        ({"kind": "never"}, "never"),
        ({"kind": "never", "scope": "host"}, "never"),
        ({"kind": "until-major", "scope": "host-cause"}, "until-major"),
        ({"kind": "copy", "copy_url": "https://copies.example/2025"}, "copy"),
        ({"kind": "never", "url": LOST[-1]}, "never"),
    ],
)
async def test_T60_every_instruction_can_be_given(busy: Api, said: dict[str, Any], instruction: str) -> None:
    job = await busy.do("POST", "/questions/60/answer", said)

    assert (job["state"], job["result"]) == ("done", {"pages": 1})
    assert (await busy.get("/questions/60"))["instruction"] in {instruction, None}
    assert (await busy.audited())[0] == "question.answer"


async def test_T60_a_page_can_be_dropped_by_an_answer(busy: Api) -> None:
    await busy.do("POST", "/questions/60/answer", {"kind": "drop"})

    assert LOST[-1] not in await busy.urls("?limit=200")


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "never", "times": 3},
        {"kind": "never", "at": "6h"},
        {"kind": "never", "later": False},
        {"kind": "again", "scope": "host"},
        {"kind": "again", "at": "6h", "later": True},
        {"kind": "again", "at": "yesterday"},
        {"kind": "again", "at": "2020-01-01T00:00:00Z"},
        {"kind": "again", "at": "2027-06-01T12:00:00"},
        {"kind": "again", "at": "999999d"},
        {"kind": "again", "times": 0},
        {"kind": "again", "times": 101},
        {"kind": "copy"},
        {"kind": "again", "copy_url": "https://copies.example/2025"},
        {"kind": "copy", "copy_url": "file:///etc/passwd"},
        {"kind": "never", "url": "https://calm.example/1"},
        {"kind": "never", "scope": "host", "url": LOST[-1]},
        {"kind": "whatever"},
        {},
    ],
)
async def test_an_answer_that_does_not_go_together_is_refused(busy: Api, said: dict[str, Any]) -> None:
    assert (await busy.refused("POST", "/questions/60/answer", said))["status"] == 422
    assert (await busy.get("/questions/60"))["instruction"] is None


async def test_a_question_that_is_closed_takes_no_answer(busy: Api) -> None:
    problem = await busy.refused("POST", "/questions/1/answer", {"kind": "again"})

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:closed")


async def test_T60_a_rule_is_lifted_and_its_pages_are_due_again(busy: Api) -> None:
    rules = (await busy.get("/standing-answers"))["items"]
    assert (len(rules), rules[0]["instruction"], rules[0]["scope"]) == (FORBIDDEN, "never", "host-cause")

    job = await busy.do("DELETE", f"/standing-answers/{rules[0]['id']}")

    assert job["result"] == {"pages": 1}
    assert len((await busy.get("/standing-answers"))["items"]) == FORBIDDEN - 1
    assert (await busy.refused("DELETE", f"/standing-answers/{rules[0]['id']}"))["status"] == 404


async def test_alerts_are_filtered_by_the_matchers_of_routes(busy: Api) -> None:
    page = {"url": "https://example.org/filtered", "group": "main"}
    for outcome in ("major", "minor"):
        data = {"page": page, "outcome": outcome, "difference": {"added": ["Closed on Fridays."]}}
        event = {**draft_of(outcome, None).event, "data": data}
        await busy.store.write_alert(AlertDraft(outcome.upper().rjust(26, "0"), CHANGED, None, NOW, event))

    found = (await busy.get("/alerts?limit=200&outcome=minor&words=fridays&url=https://example.org/filter*"))["items"]

    assert [each["event"]["id"] for each in found] == ["minor"]
    assert (await busy.refused("GET", "/alerts?basis=infered"))["mend"] == "the nearest is 'inferred'"


async def test_alerts_are_listed_with_their_deliveries(busy: Api) -> None:
    dead = (await busy.get("/alerts?dead=true"))["items"]

    # Latest first: one of a digest that was given up, and two of the channel `ops`.
    states = [{delivery["channel"]: delivery["state"] for delivery in alert["deliveries"]} for alert in dead]
    assert states == [{"log": "dead"}, *[{"log": "waiting", "ops": "dead"}] * 2]
    shown = await busy.get(f"/alerts/{dead[0]['id']}")
    assert shown["event"]["id"] == dead[0]["id"]


async def test_an_alert_is_delivered_again(busy: Api) -> None:
    dead = (await busy.get("/alerts?dead=true"))["items"]

    told = await busy.do("POST", f"/alerts/{dead[1]['id']}/redeliver", {"channel": "ops"})

    assert told == {"deliveries": 1}
    assert (await busy.get("/alerts?dead=true"))["items"] == [dead[0], dead[2]]
    assert (await busy.refused("POST", f"/alerts/{GONE}/redeliver", {}))["status"] == 404
    problem = await busy.refused("POST", f"/alerts/{dead[1]['id']}/redeliver", {"channel": "nobody"})
    assert (problem["status"], "log, ops" in problem["detail"]) == (422, True)


async def test_all_dead_letters_are_delivered_again(busy: Api) -> None:
    job = await busy.do("POST", "/alerts/redeliver-dead", {"channel": "ops"})

    assert (job["state"], job["result"]) == ("done", {"deliveries": 2})
    (other,) = (await busy.get("/alerts?dead=true"))["items"]
    assert [delivery["channel"] for delivery in other["deliveries"]] == ["log"]


async def test_alerts_are_marked_as_seen_and_as_not(busy: Api) -> None:
    unseen = (await busy.get("/alerts?unseen=true&limit=200"))["items"]
    ids = [alert["id"] for alert in unseen[:3]]

    assert await busy.do("POST", "/alerts/seen", {"ids": ids}) == {"alerts": 3}

    left = (await busy.get("/alerts?unseen=true&limit=200"))["items"]
    assert [alert["id"] for alert in left] == [alert["id"] for alert in unseen[3:]]
    assert await busy.do("POST", "/alerts/seen", {"ids": ids[:1], "seen": False}) == {"alerts": 1}


async def test_all_alerts_of_a_list_are_marked_up_to_the_one_that_was_shown(busy: Api) -> None:
    major = (await busy.get("/alerts?unseen=true&outcome=major"))["items"]

    wanted = {"up_to": major[1]["position"], "outcome": "major"}
    job = await busy.do("POST", "/alerts/all-seen", wanted)

    assert job["result"] == {"alerts": len(major) - 1}
    left = (await busy.get("/alerts?unseen=true&outcome=major"))["items"]
    assert [alert["id"] for alert in left] == [major[0]["id"]]


async def test_a_storm_is_shown_with_its_pages_and_told_page_by_page(busy: Api) -> None:
    storms = (await busy.get("/storms"))["items"]
    assert [(storm["host"], storm["pages"]) for storm in storms] == [
        ("storm2.example", 3),
        ("storm1.example", 3),
        ("storm0.example", 3),
    ]

    job = await busy.do("POST", "/storms/1/release")

    assert job["result"] == {"pages": 3}
    assert (await busy.get("/storms/1"))["released_at"] is not None
    part = await busy.get("/storms/1/pages?limit=2")
    rest = await busy.get("/storms/1/pages", params={"cursor": part["next"]})
    assert [page["withheld"] for page in (*part["items"], *rest["items"])] == [False] * 3


async def test_storms_are_paged(busy: Api) -> None:
    part = await busy.get("/storms?limit=2")
    rest = await busy.get("/storms", params={"limit": "2", "cursor": part["next"]})

    assert [storm["id"] for storm in (*part["items"], *rest["items"])] == ["3", "2", "1"]
    assert (await busy.refused("GET", "/storms?cursor=x"))["status"] == 422


async def test_channels_are_listed_without_their_secrets_and_tried(busy: Api) -> None:
    answer = await busy.call("GET", "/channels")
    states = {channel["name"]: (channel["type"], channel["dead"]) for channel in answer.json()["items"]}

    tried = await busy.call("POST", "/channels/ops/test")

    assert states == {"log": ("file", 1), "ops": ("webhook", 2)}
    assert "whsec_" not in answer.text
    assert (tried.status_code, busy.rig.service.tried) == (204, ["ops"])
    assert (await busy.refused("POST", "/channels/nobody/test"))["status"] == 404
