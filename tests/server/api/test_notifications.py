"""Channels, routes, mutes and silences that are made while the service runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from tests.server.api.talk import Api
from tests.server.rig import BASE
from tocsin.adapters.channels.stdout import StdoutSettings
from tocsin.model import AlertDraft, Scope
from tocsin.settings import RouteSettings

SECRET = "raw:a key that is nowhere shown"
HOOK = {"name": "ops", "type": "webhook", "url": "https://hooks.example/T0/token", "secret": SECRET}
SHOWN = {"type": "webhook", "url": "https://hooks.example/***", "secret": "***"}


@pytest.fixture
async def made(api: Api) -> Api:
    """A service with a channel `ops` that was made at run time, and `log` and the route `all` of its configuration."""
    service = api.rig.service
    service.settings_ = _with(service.settings_)
    await api.do("POST", "/channels", HOOK)
    return api


def _with(settings: Any) -> Any:
    log = {"log": StdoutSettings(type="stdout")}
    return replace(settings, channels=log, routes=(RouteSettings("first", ("log",), continues=True),))


async def alerts(api: Api, *groups: str) -> None:
    for number, group in enumerate(groups):
        page = {"url": f"https://a.example/{number}", "group": group, "title": f"Page {number}"}
        event = {"data": {"page": page, "outcome": "major", "short": "a line added"}}
        at = api.rig.clock.now() + number
        await api.store.write_alert(AlertDraft(str(number).rjust(26, "0"), "tocsin.page.changed.v1", None, at, event))


async def test_a_channel_is_made_shown_replaced_and_removed(made: Api) -> None:
    shown = await made.get("/channels/ops")
    assert (shown["settings"], shown["source"], shown["state"]) == (SHOWN, "saved", "ok")

    etag = await made.etag("/channels/ops")
    body = {**shown["settings"], "timeout": "5s"}
    again = await made.do("PUT", "/channels/ops", body, headers={"If-Match": etag})
    assert again["settings"] == {**SHOWN, "timeout": "5s"}
    assert (await made.store.saved()).channels[0].settings["secret"] == SECRET

    assert (await made.call("DELETE", "/channels/ops")).status_code == 204
    assert (await made.refused("GET", "/channels/ops"))["status"] == 404
    assert (await made.audited())[:3] == ["channel.remove", "channel.set", "channel.add"]


async def test_a_secret_is_never_read_back(made: Api) -> None:
    await made.refused("POST", "/channels", {**HOOK, "name": "two", "secret": "raw:" + "x" * 30_000})
    texts = [(await made.asked.get(f"/api/v1{path}")).text for path in ("/channels", "/channels/ops", "/settings")]
    entries = [str(entry.detail) for entry in (await made.store.audit(limit=100)).rows]

    assert not [text for text in (*texts, *entries) if "nowhere shown" in text or "T0" in text]


async def test_two_people_who_edit_the_same_channel_do_not_overwrite_each_other(made: Api) -> None:
    etag = await made.etag("/channels/ops")
    await made.do("PUT", "/channels/ops", {**SHOWN, "timeout": "5s"}, headers={"If-Match": etag})

    late = await made.refused("PUT", "/channels/ops", {**SHOWN, "timeout": "9s"}, headers={"If-Match": etag})
    blind = await made.refused("PUT", "/channels/ops", SHOWN)
    gone = await made.refused("DELETE", "/channels/ops", headers={"If-Match": etag})

    assert (late["status"], blind["status"], gone["status"]) == (412, 428, 412)
    assert (await made.get("/channels/ops"))["settings"]["timeout"] == "5s"


async def test_of_two_channels_of_one_name_one_is_made(api: Api) -> None:
    answers = await asyncio.gather(*(api.call("POST", "/channels", HOOK) for _ in range(4)))

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


@pytest.mark.parametrize(
    ("body", "status", "field", "words"),
    [
        ({"type": "stdout"}, 422, "name", "missing"),
        ({"name": "a\x1bb", "type": "stdout"}, 422, "name", "allowed is"),
        ({"name": "log", "type": "stdout"}, 409, "", "configuration"),
        ({"name": "ops", "type": "stdout"}, 409, "", "ops"),
        ({"name": "x", "type": "webhok"}, 422, "type", "webhook"),
        ({**HOOK, "name": "x", "ulr": "x"}, 422, "ulr", "nearest known key is url"),
        ({"name": "x", "type": "webhook", "url": "https://a.example/"}, 422, "", "secret"),
        ({**HOOK, "name": "x", "url": "https://private.example/"}, 422, "", "private"),
        ({"name": "x", "type": "file", "path": "/etc/passwd"}, 422, "path", "file of the machine"),
    ],
)
async def test_a_channel_that_cannot_work_is_not_saved(
    made: Api, body: dict[str, Any], status: int, field: str, words: str
) -> None:
    problem = await made.refused("POST", "/channels", body)

    assert problem["status"] == status
    assert field in {error["field"] for error in problem.get("errors", [{"field": ""}])}
    assert words in str(problem)
    assert "nowhere shown" not in str(problem)
    assert [entry.name for entry in (await made.store.saved()).channels] == ["ops"]


@pytest.mark.parametrize("path", ["/channels/log", "/routes/first"])
async def test_what_the_configuration_has_is_read_only_and_names_it(made: Api, path: str) -> None:
    body = {"type": "stdout"} if "channels" in path else {"channels": ["ops"]}
    problem = await made.refused("PUT", path, body, headers={"If-Match": "*"})

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:configured")
    assert (await made.refused("DELETE", path))["status"] == 409
    assert (await made.get(path))["source"] == "configuration"


async def test_a_channel_can_be_tested_before_it_is_saved_and_with_the_secret_that_is_kept(made: Api) -> None:
    tried = made.rig.service.tried
    await made.do("POST", "/channels/test", {"name": "new", "type": "stdout"})
    await made.do("POST", "/channels/test", {"name": "ops", **SHOWN})
    await made.do("POST", "/channels/ops/test")

    assert tried == ["new", "ops", "ops"]
    moved = {"name": "ops", **SHOWN, "url": "https://elsewhere.example/"}
    assert "again" in str(await made.refused("POST", "/channels/test", moved))


async def test_a_channel_is_muted_until_a_time_and_unmuted_by_hand(made: Api) -> None:
    muted = await made.do("POST", "/channels/log/mute", {"until": "7d"})
    assert (muted["state"], muted["muted_by"], muted["mend"]) == (
        "muted",
        "local",
        "unmute it, and its alerts are sent",
    )
    assert muted["muted_until"] is not None

    assert (await made.do("POST", "/channels/log/unmute"))["state"] == "ok"
    assert (await made.refused("POST", "/channels/nope/mute", {}))["status"] == 404
    assert (await made.refused("POST", "/channels/log/mute", {"until": "yesterday"}))["status"] == 422


async def test_a_route_is_made_replaced_and_removed_and_keeps_its_channel(made: Api) -> None:
    route = {"name": "press", "channels": ["ops"], "match": {"group": "press"}, "digest": "1h"}
    shown = await made.do("POST", "/routes", route)
    assert (shown["match"], shown["source"]) == ({"group": ["press"]}, "saved")
    assert [each["name"] for each in (await made.get("/routes"))["items"]] == ["first", "press"]
    assert (await made.refused("DELETE", "/channels/ops"))["type"] == "urn:tocsin:problem:in-use"

    etag = await made.etag("/routes/press")
    shown = await made.do("PUT", "/routes/press", {**shown, "digest": ""}, headers={"If-Match": etag})
    assert shown["digest"] == ""
    assert (await made.refused("PUT", "/routes/press", route, headers={"If-Match": etag}))["status"] == 412
    await made.do("DELETE", "/routes/press")
    await made.do("DELETE", "/channels/ops")


async def test_a_mistake_in_a_route_names_its_key_and_the_nearest(made: Api) -> None:
    for body, field in (
        ({"name": "x", "channels": ["opps"]}, "channels"),
        ({"name": "x", "channels": ["ops"], "mach": {}}, "mach"),
        ({"name": "x\n", "channels": ["ops"]}, "name"),
        ({"name": "x", "channels": ["ops"], "match": {"kind": "chnged"}}, "match.kind"),
    ):
        problem = await made.refused("POST", "/routes", body)
        assert [error["field"] for error in problem["errors"]] == [field], problem


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/pages", [{"url": "https://a.example/x", "settings": {"route": "frist"}}]),
        ("PATCH", "/pages/1", {"settings": {"route": "frist"}}),
        ("POST", "/pages/bulk", {"pages": {"ids": ["1"]}, "action": "set", "settings": {"route": "frist"}}),
        ("PATCH", "/settings/pages", {"settings": {"route": "frist"}}),
        ("PATCH", "/groups/main", {"settings": {"route": "frist"}}),
    ],
)
async def test_settings_that_name_an_unknown_route_are_refused_with_the_known_names(
    made: Api, method: str, path: str, body: Any
) -> None:
    await made.add("https://a.example/")

    problem = await made.refused(method, path, body, headers={"If-Match": "*"})

    assert problem["status"] == 422
    assert (problem["detail"], problem["mend"]) == (
        "route: there is no route 'frist'",
        "the nearest is 'first' (known are first)",
    )


async def test_a_preview_says_which_alerts_match_and_why_the_others_do_not(made: Api) -> None:
    await alerts(made, "press", "law", "press")
    route = {"name": "x", "channels": ["ops"], "match": {"group": "press"}}

    found = await made.do("POST", "/routes/preview", {"route": route, "last": 50})

    assert (found["matches"], found["of"]) == (2, 3)
    assert [alert["matches"] for alert in found["alerts"]] == [True, False, True]
    assert "law" in found["alerts"][1]["why"] or "group" in found["alerts"][1]["why"]
    assert found["alerts"][0]["title"] == "Page 2"
    assert (await made.store.saved()).routes == ()


async def test_digests_are_listed_with_their_alerts_sent_and_given_up(busy: Api) -> None:
    states = {state: (await busy.get(f"/digests?state={state}"))["items"] for state in ("sealed", "accepted", "dead")}
    assert {state: [row["id"] for row in rows] for state, rows in states.items()} == {
        "sealed": ["1"],
        "accepted": ["3"],
        "dead": ["2"],
    }
    waiting = await busy.get("/digests?state=open&limit=2")
    assert (waiting["items"][0]["channel"], waiting["items"][0]["key"], waiting["next"]) == ("log", "key 59", "59")
    (alert,) = (await busy.get("/alerts?digest=60"))["items"]
    assert alert["deliveries"][0]["digest"] == "60"

    assert (await busy.do("POST", "/digests/60/send"))["due_at"] < waiting["items"][0]["due_at"]
    assert (await busy.do("POST", "/digests/60/give-up"))["error"] == "given up by tester"
    assert (await busy.do("POST", "/digests/60/send"))["state"] == "sealed"
    assert (await busy.refused("POST", "/digests/3/give-up"))["status"] == 409
    assert (await busy.refused("POST", "/digests/99/send"))["status"] == 404
    assert (await busy.audited())[:3] == ["digest.send", "digest.give-up", "digest.send"]


async def test_a_message_is_previewed_as_people_read_it(made: Api) -> None:
    assert (await made.refused("POST", "/channels/preview", {}))["status"] == 404
    await alerts(made, "press")

    message = await made.do("POST", "/channels/preview", {})

    assert "Page 0" in message["subject"]
    assert "Page 0" in message["html"]


async def test_a_silence_is_made_and_ended(made: Api) -> None:
    silence = {"match": {"host": "staging.example.org"}, "until": "7d", "reason": "relaunch"}
    made_one = await made.do("POST", "/silences", silence)

    assert (made_one["reason"], made_one["who"]) == ("relaunch", "local")
    assert (await made.refused("POST", "/silences", {"match": {}}))["status"] == 422
    assert (await made.refused("POST", "/silences", {"match": {"hots": "x"}}))["errors"][0]["field"] == "match"
    await made.do("DELETE", f"/silences/{made_one['id']}")
    assert (await made.refused("DELETE", f"/silences/{made_one['id']}"))["status"] == 404


async def test_types_of_channels_have_fields_for_a_form(api: Api) -> None:
    types = {each["type"]: each["fields"] for each in (await api.get("/channel-types"))["items"]}

    assert [field["key"] for field in types["webhook"]][:2] == ["url", "secret"]
    schemas = [each["schema"] for each in (await api.get("/channel-types"))["items"]]
    assert [schema["properties"]["type"]["const"] for schema in schemas] == list(types)
    assert all(field["hint"] for fields in types.values() for field in fields)


async def test_a_token_that_may_only_read_edits_nothing(made: Api) -> None:
    token = await made.rig.token(Scope.READ)
    async with made.rig.asking(token) as asked:
        for method, path, body in (
            ("POST", "/channels", HOOK),
            ("PUT", "/routes/x", {}),
            ("DELETE", "/channels/ops", None),
            ("POST", "/channels/ops/mute", {}),
            ("POST", "/channels/test", HOOK),
            ("POST", "/silences", {"match": {"host": "a.example"}}),
        ):
            answer = await asked.request(method, f"{BASE}/api/v1{path}", json=body)
            assert answer.status_code == 403, (path, answer.text)


async def test_a_channel_is_previewed_as_it_sends_an_alert(made: Api) -> None:
    example = await made.do("POST", "/channels/ops/preview", {})
    await alerts(made, "press")

    shown = await made.do("POST", "/channels/ops/preview", {})

    assert (example["alert"], example["subject"]) == (None, "Notices of the town hall: 2 lines changed")
    assert (shown["channel"], shown["route"], shown["content_type"]) == ("ops", "", "application/json")
    assert shown["alert"]
    assert (await made.refused("POST", "/channels/none/preview", {}))["status"] == 404
    assert "no such route" in (await made.refused("POST", "/channels/ops/preview", {"route": "none"}))["detail"]
