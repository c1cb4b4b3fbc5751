"""What holds for groups and for all pages, every setting in force, and what the service says of itself."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.server.api.talk import Api

A = "https://a.example/"


@pytest.mark.parametrize("mode", ["off", "on", "auto"])
async def test_T52_all_pages_are_disabled_and_enabled(api: Api, mode: str) -> None:
    await api.add(A)

    told = await api.do(
        "PATCH",
        "/settings/pages",
        {"settings": {"mode": mode}},
        headers={"If-Match": await api.etag("/settings/pages")},
    )

    assert told == {"settings": {"mode": mode}}
    page = await api.get("/pages/1")
    assert (page["mode"], page["mode_from"]) == (mode, "all pages")
    assert (await api.audited())[0] == "settings.set"


async def test_T54_a_group_is_set_for_all_its_pages(api: Api) -> None:
    await api.add(A, group="news")

    told = await api.do(
        "PATCH", "/groups/news", {"settings": {"tell": "major", "mode": "auto"}}, headers={"If-Match": "*"}
    )

    assert told == {"name": "news", "pages": 1, "settings": {"mode": "auto", "tell": "major"}}
    assert (await api.get("/pages/1"))["mode_from"] == "group"


async def test_a_group_is_found_by_its_name_in_any_form_of_Unicode(api: Api) -> None:
    composed, apart = "caf\u00e9", quote("cafe\u0301")
    await api.add(A, group=composed)

    assert (await api.get(f"/groups/{apart}"))["name"] == composed
    assert [page["group"] for page in (await api.get(f"/pages?group={apart}"))["items"]] == [composed]


async def test_a_group_without_pages_is_removed_and_no_other(api: Api) -> None:
    await api.add(A, group="a/b")

    assert (await api.refused("DELETE", "/groups/a%2Fb"))["status"] == 409
    assert (await api.refused("DELETE", "/groups/main"))["status"] == 409
    await api.call("DELETE", "/pages/1")
    stale = await api.refused("DELETE", "/groups/a%2Fb", headers={"If-Match": '"99"'})
    assert stale["status"] == 412
    assert (await api.call("DELETE", "/groups/a%2Fb")).status_code == 204

    assert (await api.refused("DELETE", "/groups/a%2Fb"))["status"] == 404
    assert (await api.audited())[0] == "group.remove"


async def test_a_group_whose_name_has_a_slash_is_found(busy: Api) -> None:
    assert (await busy.get("/groups/lost%20%26%20found%2F1"))["pages"] == 60


async def test_what_is_unset_inherits_again(api: Api) -> None:
    await api.do("PATCH", "/settings/pages", {"settings": {"every": "6h", "tries": 1}}, headers={"If-Match": "*"})

    told = await api.do("PATCH", "/settings/pages", {"unset": ["every"]}, headers={"If-Match": "*"})

    assert told == {"settings": {"tries": 1}}


@pytest.mark.parametrize("path", ["/groups/main", "/settings/pages"])
async def test_an_edit_names_what_it_stands_on(api: Api, path: str) -> None:
    await api.add(A)
    etag = await api.etag(path)

    assert (await api.refused("PATCH", path, {"settings": {"tries": 1}}))["status"] == 428
    await api.do("PATCH", path, {"settings": {"tries": 1}}, headers={"If-Match": etag})
    assert (await api.refused("PATCH", path, {"settings": {"tries": 2}}, headers={"If-Match": etag}))["status"] == 412


async def test_an_unknown_setting_is_refused_with_the_nearest_one(api: Api) -> None:
    problem = await api.refused("PATCH", "/settings/pages", {"unset": ["evry"]}, headers={"If-Match": "*"})

    assert (problem["status"], "every" in problem["detail"] + problem["mend"]) == (422, True)


async def test_a_group_that_is_not_there_is_told_so(api: Api) -> None:
    assert (await api.refused("GET", "/groups/none"))["status"] == 404
    assert (await api.refused("PATCH", "/groups/none", {}, headers={"If-Match": "*"}))["status"] == 404


async def test_every_setting_is_listed_with_where_it_comes_from_and_no_secret(busy: Api) -> None:
    await busy.do("PATCH", "/settings/pages", {"settings": {"every": "6h"}}, headers={"If-Match": "*"})

    answer = await busy.call("GET", "/settings")

    found = {setting["key"]: (setting["value"], setting["origin"]) for setting in answer.json()["items"]}
    assert found["pages.every"] == ("6h", "all pages")
    assert found["fetch.max_body"] == ("10MiB", "default")
    assert found["channels.ops.secret"][0] == "***"
    assert "whsec_" not in answer.text


async def test_secrets_of_pages_are_never_shown(busy: Api) -> None:
    answer = await busy.call("GET", "/pages/13")

    assert answer.json()["settings"]["headers"] == {"X-Secret": "***"}
    assert "hidden-in-a-header" not in (await busy.call("GET", "/pages?limit=200")).text


async def test_the_service_says_what_it_is_and_who_asks(busy: Api) -> None:
    about = await busy.get("/service")
    live = await busy.get("/live")

    assert (about["name"], about["who"], about["scope"]) == ("tocsin", "tester", "admin")
    assert (live["renders_limit"], len(live["fetchers"])) == (8, 1)
    assert live["open_questions"]["number"] == len((await busy.get("/questions?limit=200"))["items"])


async def test_what_happened_is_told_in_spans(busy: Api) -> None:
    spans = (await busy.get("/activity?hours=3"))["items"]

    assert sum(span["outcomes"]["unchanged"] for span in spans) == 40 * len(spans)
    assert len(spans) in {2, 3}


async def test_a_token_is_made_shown_once_listed_and_revoked(busy: Api) -> None:
    made = await busy.do("POST", "/tokens", {"name": "grafana", "scope": "read", "expires": "90d"})
    listed = {token["name"]: token for token in (await busy.get("/tokens"))["items"]}

    assert made["token"].startswith("tcs_")
    assert "token" not in listed["grafana"]
    assert (await busy.refused("POST", "/tokens", {"name": "grafana"}))["status"] == 409
    busy.asked.headers["Authorization"], mine = f"Bearer {made['token']}", busy.asked.headers["Authorization"]
    assert (await busy.get("/service"))["who"] == "grafana"
    busy.asked.headers["Authorization"] = mine
    assert (await busy.call("DELETE", "/tokens/grafana")).status_code == 204
    assert (await busy.refused("DELETE", "/tokens/grafana"))["status"] == 404
    busy.asked.headers["Authorization"] = f"Bearer {made['token']}"
    assert (await busy.refused("GET", "/service"))["status"] == 401


async def test_who_changed_what_is_kept_without_secrets(busy: Api) -> None:
    await busy.do("PATCH", "/pages/13", {"settings": {"auth": "me:hidden"}}, headers={"If-Match": "*"})

    (line, *_) = (await busy.get("/audit?limit=1"))["items"]

    assert (line["who"], line["what"]) == ("tester", "page.edit")
    assert line["detail"] == {"page": "13", "set": {"auth": "***"}}
    assert line["request_id"]
