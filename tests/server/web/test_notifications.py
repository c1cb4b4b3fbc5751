"""*Notifications*: channels, routes and silences are made, edited, tested, muted and removed in the browser."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.routers import gathering
from tests.server.web.visiting import Visitor, told, tree
from tocsin.model import AlertDraft, AlertQuery, DeliveryResult
from tocsin.server.web.route_words import tell_match

SECRET = "raw:a key that is nowhere shown"
HOOK = {
    "name": "press-hook", "type": "webhook", "revision": "0", "s-url": "https://hooks.example/T0",
    "secret-secret": SECRET, "s-headers": "X-Team: web", "do": "save",
}  # fmt: skip
HTML = {"Accept": "text/html"}
ROUTE = {"name": "press", "revision": "0", "channels": ["press-hook"], "group": "press, law", "do": "save"}


def text_of(page: str) -> str:
    return " ".join(tree(page).xpath("//main")[0].text_content().split())


def both_versions(page: str) -> dict[str, tuple[str, str]]:
    """What another person saved and what was typed, by setting."""
    rows = [[cell.text_content() for cell in row] for row in tree(page).xpath("//*[@id='overtaken']//tbody/tr")]
    return {key: (saved, typed) for key, saved, typed in rows}


async def channel(visitor: Visitor) -> str:
    return await visitor.done("/notifications/channel", **HOOK)


async def values(visitor: Visitor, path: str) -> dict[str, str]:
    """The texts of the inputs of a form."""
    inputs = tree(await visitor.get(path)).xpath("//main//form[1]//input[@name] | //main//form[1]//textarea")
    return {each.get("name"): each.get("value") or each.text or "" for each in inputs}


async def test_a_channel_is_made_by_a_form_and_its_secret_is_never_shown(visitor: Visitor) -> None:
    page = await channel(visitor)

    assert told(page) == "Channel press-hook is saved."
    assert "https://hooks.example/***" in page
    form = await visitor.get("/notifications/channel?name=press-hook")
    assert "nowhere shown" not in page + form
    assert "It is set. Leave this empty to keep it." in text_of(form)
    (entry,) = (await visitor.store.saved()).channels
    assert (entry.settings["secret"], entry.settings["headers"]) == (SECRET, {"X-Team": "web"})


async def test_the_ways_to_people_are_the_first_that_are_offered(visitor: Visitor) -> None:
    offered = tree(await visitor.get("/notifications/channel")).xpath("//main//dt/a/text()")

    assert offered[:3] == ["mail", "webhook", "apprise"]
    assert offered[-1] == "stdout"


async def test_what_is_left_as_it_was_shown_stays(visitor: Visitor) -> None:
    await channel(visitor)
    shown = await values(visitor, "/notifications/channel?name=press-hook")

    await visitor.done("/notifications/channel", **shown | {"s-timeout": "5s", "do": "save"})

    settings = (await visitor.store.saved()).channels[0].settings
    assert (settings["secret"], settings["url"], settings["timeout"]) == (SECRET, HOOK["s-url"], "5s")
    assert settings["headers"] == {"X-Team": "web"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "a\x1bb"}, "allowed is"),
        ({"name": ""}, "allowed is"),
        ({"s-url": "https://private.example/"}, "private"),
        ({"s-url": "nowhere"}, "allowed is"),
        ({"secret-secret": ""}, "a webhook signs what it sends"),
        ({"s-timeout": "soon"}, "a duration from"),
        ({"type": "pigeon"}, "there is no channel of type"),
    ],
)
async def test_a_mistake_keeps_what_was_typed_and_says_the_mend(
    visitor: Visitor, change: dict[str, str], words: str
) -> None:
    answer = await visitor.post("/notifications/channel", **HOOK | change)

    assert answer.status_code == 422
    assert words in text_of(answer.text)
    if "type" not in change:
        assert "X-Team: web" in answer.text
    assert (await visitor.store.saved()).channels == ()


async def test_of_two_people_who_edit_a_channel_the_second_loses_nothing_that_was_typed(visitor: Visitor) -> None:
    await channel(visitor)
    first = await values(visitor, "/notifications/channel?name=press-hook")
    await visitor.done("/notifications/channel", **first | {"s-timeout": "5s", "do": "save"})

    late = await visitor.post("/notifications/channel", **first | {"s-timeout": "9s", "do": "save"})

    assert late.status_code == 412
    assert both_versions(late.text) == {"Timeout": ("5s", "9s")}
    assert 'value="9s"' in late.text
    assert (await visitor.store.saved()).channels[0].settings["timeout"] == "5s"


async def test_a_channel_is_tested_before_it_is_saved(visitor: Visitor) -> None:
    answer = await visitor.post("/notifications/channel", **HOOK | {"do": "test"})

    assert "The test was accepted." in text_of(answer.text)
    assert "type the secret again" in text_of(answer.text)
    assert visitor.rig.service.tried == ["press-hook"]
    assert (await visitor.store.saved()).channels == ()


async def test_a_type_that_writes_files_of_the_machine_has_no_form(visitor: Visitor) -> None:
    page = tree(await visitor.get("/notifications/channel"))

    names = page.xpath("//main//dt/a/text()")
    assert "file" not in names
    assert "Slack, Discord, Teams, ntfy" in page.xpath("//main//dl")[0].text_content()
    assert {"webhook", "stdout", "mail", "nats"} <= set(names)


async def test_a_channel_is_tested_as_it_is(visitor: Visitor) -> None:
    page = await visitor.done("/notifications/channel/test", name="ops")

    assert told(page) == "Channel ops accepted the test."
    assert visitor.rig.service.tried == ["ops"]


async def test_a_channel_is_muted_and_unmuted_also_one_of_the_configuration(visitor: Visitor) -> None:
    page = await visitor.done("/notifications/channel/mute", name="ops", muted="yes", until="7d")
    assert "muted by local until" in text_of(page)
    wrong = await visitor.done("/notifications/channel/mute", name="ops", muted="yes", until="then")
    assert "is not muted" in told(wrong)

    await visitor.done("/notifications/channel/mute", name="ops")
    assert (await visitor.store.saved()).mutes == ()


async def test_a_route_is_made_previewed_edited_moved_and_removed(visitor: Visitor) -> None:
    await channel(visitor)
    preview = await visitor.post("/notifications/route", **ROUTE | {"do": "preview"})
    assert "of the last" in text_of(preview.text)
    assert (await visitor.store.saved()).routes == ()

    page = await visitor.done("/notifications/route", **ROUTE)
    assert "All alerts, in press or law; at once" in text_of(page)
    assert "match no route" in text_of(page)
    await visitor.done("/notifications/route", **ROUTE | {"name": "all", "group": ""})
    await visitor.done("/notifications/route/move", name="all", by="-1")
    assert [entry.name for entry in (await visitor.store.saved()).routes] == ["all", "press"]

    shown = await values(visitor, "/notifications/route?name=press")
    assert shown["group"] == "press, law"
    again = {"name": "press", "revision": shown["revision"], "channels": "press-hook", "digest": "0 7 * * *"}
    await visitor.done("/notifications/route", **again, do="save")
    late = await visitor.post("/notifications/route", **again | {"digest": "1h"}, do="save")
    assert (late.status_code, 'value="1h"' in late.text) == (412, True)
    assert both_versions(late.text) == {"digest": ("0 7 * * *", "1h")}

    question = await visitor.post("/notifications/remove", kind="route", name="press")
    assert "Remove the route press?" in text_of(question.text)
    in_use = await visitor.done("/notifications/remove", kind="channel", name="press-hook", confirmed="yes")
    assert "Routes send to it" in told(in_use)
    for kind, name in (("route", "press"), ("route", "all"), ("channel", "press-hook")):
        await visitor.done("/notifications/remove", kind=kind, name=name, confirmed="yes")
    assert (await visitor.store.saved()).channels == ()


async def test_a_route_that_gets_nothing_says_which_routes_take_what_matches_it(visitor: Visitor) -> None:
    await channel(visitor)
    for name in ("all", "rest"):
        await visitor.done("/notifications/route", **ROUTE | {"name": name, "group": ""})
    said = re.compile(r"(\d+) of \1 match, but go to routes above it: all\.")

    assert len(said.findall(text_of(await visitor.get("/notifications")))) == 1
    preview = await visitor.post("/notifications/route", **ROUTE | {"name": "new", "group": "", "do": "preview"})
    assert "Matches 0 of" in text_of(preview.text)
    assert said.search(text_of(preview.text))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"channels": []}, "none is named"),
        ({"digest": "soon"}, "cron"),
        ({"quiet": "25:00-26:00"}, "allowed are times"),
        ({"name": "a b"}, "name"),
        ({"host": "a\x1bb"}, "control characters"),
    ],
)
async def test_a_mistake_in_a_route_stands_beside_what_was_typed(
    visitor: Visitor, change: dict[str, Any], words: str
) -> None:
    await channel(visitor)

    answer = await visitor.post("/notifications/route", **ROUTE | change)

    assert answer.status_code == 422
    assert words in text_of(answer.text)
    assert "press, law" in answer.text


async def test_a_silence_is_made_and_ended(visitor: Visitor) -> None:
    page = await visitor.done("/notifications/silence", host="staging.example.org", until="7d", reason="relaunch")
    assert "staging.example.org, until" in text_of(page)
    wrong = await visitor.post("/notifications/silence", host="", until="then")
    assert wrong.status_code == 422

    number = (await visitor.store.silences(limit=1))[0].id
    await visitor.done("/notifications/silence/end", silence=str(number))
    assert "None is in force." in text_of(await visitor.get("/notifications"))


async def test_digests_are_listed_shown_sent_and_given_up(visitor: Visitor) -> None:
    now = visitor.rig.clock.now()
    await visitor.store.set_routes(gathering(now + 10**9, "ops"), ["daily"], now)
    event = {"data": {"page": {"url": "https://a.example/", "title": "Agenda"}, "outcome": "major"}}
    await visitor.store.write_alert(AlertDraft("0" * 26, "tocsin.page.changed.v1", None, now, event))

    assert "Digest 1route daily ops Waiting 1 due in" in text_of(await visitor.get("/notifications/digests?state=open"))
    assert "There is no such digest" in text_of(await visitor.get("/notifications/digests?state=dead"))
    assert "Major change Agenda" in text_of(await visitor.get("/notifications/digests/1"))
    assert told(await visitor.done("/notifications/digests/1/send")) == "Digest 1 is sent to ops now."
    await visitor.store.seal_bundle(1, now)
    tried = DeliveryResult("", "ops", "waiting", now, now + 10**9, "550 no such user", position=-1)
    await visitor.store.record_deliveries([tried])
    assert "Digest 1 was refused: 550 no such user" in text_of(await visitor.get("/notifications"))
    assert "Give up digest 1, with 1 alert for ops?" in (await visitor.post("/notifications/digests/1/give-up")).text
    page = await visitor.done("/notifications/digests/1/give-up", confirmed="yes")
    assert "given up by local" in text_of(page)
    assert "Send again" in page
    assert (await visitor.post("/notifications/digests/9/send")).status_code == 404


def test_a_match_is_told_in_words() -> None:
    assert tell_match({}) == "all alerts"
    assert tell_match({"kind": ["unreachable", "recovered"]}) == "a page is unreachable or is reachable again"
    assert tell_match({"outcome": ["major"], "host": ["*.example.org"]}) == "major changes, on *.example.org"


async def test_messages_of_a_channel_are_previewed_and_their_html_can_do_nothing(visitor: Visitor) -> None:
    await channel(visitor)
    latest = (await visitor.store.browse_alerts(AlertQuery(), limit=1)).rows[0]

    page = await visitor.client.get("/notifications/preview?channel=press-hook", headers=HTML)
    (frame,) = tree(page.text).xpath("//iframe")
    mail = await visitor.client.get(frame.get("src"), headers=HTML)

    assert f'value="{latest.id}" selected' in page.text
    assert "{&#34;text&#34;: &#34;…&#34;}" in page.text
    assert page.headers["content-security-policy"].endswith("frame-src 'self'")
    assert frame.get("sandbox") == ""
    assert mail.text.startswith("<!doctype html>")
    policy = mail.headers["content-security-policy"]
    assert "script-src" not in policy
    assert policy.startswith("sandbox; default-src 'none'; ")
    assert mail.headers["x-frame-options"] == "SAMEORIGIN"


@pytest.mark.parametrize(
    "query", ["channel=none", "channel=press-hook&alert=01M7YK5H237GT4RGC9XCQHXN3Y", "channel=press-hook&route=none"]
)
async def test_a_preview_of_what_there_is_not_says_so(visitor: Visitor, query: str) -> None:
    await channel(visitor)

    assert (await visitor.client.get(f"/notifications/preview?{query}", headers=HTML)).status_code in {404, 422}
