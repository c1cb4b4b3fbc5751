"""Pages over HTTP: added, listed, edited against their revision, taken off the list."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.contract.desk import Desk
from tests.server.api.talk import Api
from tests.server.diary import URL
from tocsin.model import CheckOutcome, CheckReport, KeptLogin, Scope, to_rfc3339
from tocsin.server.api import jobs

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"


async def test_a_page_that_is_added_says_where_it_is_and_is_checked_at_once(api: Api) -> None:
    answer = await api.call("POST", "/pages", {"url": "https://a.example", "text": "mine", "settings": {"every": "6h"}})

    page = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"/api/v1/pages/{page['id']}")
    assert (page["url"], page["text"], page["settings"], page["group"]) == (A, "mine", {"every": "6h"}, "main")
    assert await api.store.request_progress(1) == (0, 1)
    assert await api.audited() == ["pages.add"]


async def test_a_page_that_is_watched_already_is_a_conflict_that_names_it(api: Api) -> None:
    await api.add(A)

    problem = await api.refused("POST", "/pages", {"url": A})

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:watched-already")
    assert "/api/v1/pages/1" in problem["mend"]


async def test_the_cookies_of_a_login_are_deleted_and_never_given_out(api: Api) -> None:
    await api.add(A)
    await api.do(
        "PATCH",
        "/pages/1",
        {"settings": {"secrets": {"USER": "ada"}, "steps": ["fill #a, #b USER"]}},
        headers={"If-Match": "*"},
    )
    await api.store.keep_login(1, KeptLogin('[{"value": "c00kie"}]', 0))

    shown = await api.get("/pages/1")
    await api.do("DELETE", "/pages/1/login")
    await api.do("DELETE", "/pages/1/login")

    assert shown["settings"] == {"secrets": {"USER": "***"}, "steps": ["fill #a, #b USER"]}
    assert "c00kie" not in str(shown)
    assert await api.store.login(1) is None
    assert (await api.audited()).count("page.forget_login") == 1
    assert (await api.refused("DELETE", "/pages/9/login"))["status"] == 404


async def test_of_many_pages_each_is_told_whether_it_is_new(api: Api) -> None:
    await api.add(A)

    told = await api.do("POST", "/pages", [{"url": A}, {"url": B}, {"url": "https://b.example/#part"}])

    assert told == {"items": [{"url": A, "id": None}, {"url": B, "id": "2"}], "added": 1, "known": 1}


async def test_a_url_that_cannot_be_watched_is_refused_with_the_mend(api: Api) -> None:
    problem = await api.refused("POST", "/pages", {"url": "ftp://a.example/"})

    assert problem["status"] == 422
    assert "http" in problem["mend"]


async def test_credentials_in_a_url_are_kept_and_never_shown(api: Api) -> None:
    await api.do("POST", "/pages", {"url": "https://somebody:hidden@a.example/", "settings": {"auth": "me:hidden"}})

    answer = await api.call("GET", "/pages/1")

    assert "hidden" not in answer.text
    assert (answer.json()["credentials"], answer.json()["settings"]) == (True, {"auth": "***"})


async def test_a_list_is_paged_by_cursor_to_its_end(api: Api) -> None:
    await api.add(A, B, C)

    found: list[str] = []
    params = {"limit": "2"}
    for _ in range(2):
        part = await api.get("/pages", params=params)
        found += [page["url"] for page in part["items"]]
        params["cursor"] = part["next"]

    assert (found, part["next"]) == ([C, B, A], None)


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("?group=news", [B]),
        ("?host=c.example", [C]),
        ("?q=tend", [B]),
        ("?view=paused", [A]),
        ("?view=all&group=news", [B]),
    ],
)
async def test_a_list_is_filtered_and_searched(api: Api, query: str, urls: list[str]) -> None:
    await api.add(A, C)
    await api.add(B, group="news", text="for the tender")
    await api.do("POST", "/pages/1/pause")

    assert await api.urls(query) == urls
    assert (await api.get(f"/pages{query}&total=true"))["total"] == {"number": 1, "is_exact": True}


@pytest.mark.parametrize(
    "query", ["?view=new&q=a", "?host=a.example&q=a", "?group=main&host=a.example", "?cursor=made.up"]
)
async def test_what_cannot_be_combined_is_refused(api: Api, query: str) -> None:
    problem = await api.refused("GET", f"/pages{query}")

    assert problem["status"] == 422
    assert problem["detail"]


async def test_T53_what_a_page_declares_is_shown(busy: Api) -> None:
    page = await busy.get("/pages/13")

    assert page["fields"]["topper-major"] == "2026-01-09"
    assert page["subject"] is True


async def test_an_edit_merges_settings_and_lets_others_inherit_again(api: Api) -> None:
    await api.do("POST", "/pages", {"url": A, "settings": {"every": "6h", "tries": 5, "tell": "major"}})

    page = await api.do(
        "PATCH",
        "/pages/1",
        {"settings": {"tries": 1}, "unset": ["tell"], "group": "news", "text": "mine", "paused": True},
        headers={"If-Match": await api.etag("/pages/1")},
    )

    assert page["settings"] == {"every": "6h", "tries": 1}
    assert (page["group"], page["text"], page["paused"]) == ("news", "mine", True)


async def test_an_empty_text_takes_the_words_away(api: Api) -> None:
    await api.add(A, text="mine")

    page = await api.do("PATCH", "/pages/1", {"text": ""}, headers={"If-Match": "*"})

    assert page["text"] is None


async def test_a_cron_expression_takes_the_place_of_an_interval(api: Api) -> None:
    await api.add(A, settings={"every": "6h"})

    page = await api.do("PATCH", "/pages/1", {"settings": {"cron": "0 6 * * *"}}, headers={"If-Match": "*"})

    assert page["settings"] == {"cron": "0 6 * * *"}


async def test_an_edit_without_if_match_is_refused(api: Api) -> None:
    await api.add(A)

    assert (await api.refused("PATCH", "/pages/1", {"text": "mine"}))["status"] == 428


async def test_of_two_edits_of_one_revision_the_second_is_refused(api: Api) -> None:
    await api.add(A)
    etag = await api.etag("/pages/1")
    await api.do("PATCH", "/pages/1", {"text": "first"}, headers={"If-Match": etag})

    problem = await api.refused("PATCH", "/pages/1", {"text": "second"}, headers={"If-Match": etag})

    assert problem["status"] == 412
    assert (await api.get("/pages/1"))["text"] == "first"


@pytest.mark.parametrize("tag", ['W/"r0"', '"other"', "r0", '""', '"r99"'])
async def test_a_tag_that_is_not_the_one_in_force_is_stale(api: Api, tag: str) -> None:
    await api.add(A)

    assert (await api.refused("PATCH", "/pages/1", {"text": "x"}, headers={"If-Match": tag}))["status"] == 412


async def test_one_of_several_tags_is_enough(api: Api) -> None:
    await api.add(A)

    page = await api.do("PATCH", "/pages/1", {"text": "x"}, headers={"If-Match": '"r7", "r0"'})

    assert page["text"] == "x"


async def test_a_check_leaves_the_revision_alone(busy: Api) -> None:
    # Page 13 was checked and rendered several times, and edited never.
    assert await busy.etag("/pages/13") == '"r0"'


async def test_a_page_is_taken_off_the_list_with_all_that_is_stored_of_it(busy: Api) -> None:
    answer = await busy.call("DELETE", "/pages/13")

    assert (answer.status_code, answer.content) == (204, b"")
    assert (await busy.refused("GET", "/pages/13/states"))["status"] == 404
    assert (await busy.audited())[0] == "page.remove"


async def test_T53_the_list_is_emptied_once_that_is_confirmed(busy: Api) -> None:
    assert (await busy.refused("POST", "/pages/empty", {"confirm": "yes"}))["status"] == 422

    job = await busy.ended(await busy.do("POST", "/pages/empty", {"confirm": "remove all pages"}))

    assert (job["state"], job["result"]) == ("done", {"pages": 85})
    assert await busy.urls() == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/pages", {"url": A}),
        ("PATCH", "/pages/1", {"text": "x"}),
        ("DELETE", "/pages/1", None),
        ("POST", "/pages/bulk", {"pages": {"view": "all"}, "action": "delete"}),
        ("POST", "/imports", b"https://a.example/"),
        ("PUT", "/table", b""),
    ],
)
async def test_whoever_may_only_read_changes_nothing(api: Api, method: str, path: str, body: object) -> None:
    await api.add(A)
    api.asked.headers["Authorization"] = f"Bearer {await api.rig.token(Scope.READ)}"

    assert (await api.refused(method, path, body))["status"] == 403
    assert await api.urls() == [A]


@pytest.mark.parametrize("path", ["/tokens", "/audit"])
async def test_only_administrators_see_tokens_and_the_audit_log(api: Api, path: str) -> None:
    api.asked.headers["Authorization"] = f"Bearer {await api.rig.token(Scope.WRITE)}"

    assert (await api.refused("GET", path))["status"] == 403


async def test_a_page_is_checked_now_and_its_progress_told(api: Api) -> None:
    await api.add(A, B)

    answer = await api.call("POST", "/checks", {"ids": ["1", "2"]})

    assert answer.status_code == 202
    check = await api.get(answer.headers["location"].removeprefix("/api/v1"))
    assert (check["done"], check["total"], check["is_over"]) == (0, 2, False)
    assert (check["skipped"], check["skipped_until"]) == (0, None)
    assert await api.get(f"/checks/{check['id']}/reports") == {"items": [], "next": None}


async def test_of_checks_it_is_said_how_many_were_skipped_and_until_when(api: Api, desk: Desk) -> None:
    (second,) = await desk.watch(A)
    check = await api.do("POST", "/checks", {"ids": ["1", str(second)]})
    skipped, found = await desk.task(URL), desk.result(await desk.task(A), "1")
    until = desk.now + 1_000_000
    report = CheckReport(URL, CheckOutcome.SKIPPED, problem="received less than 10s ago (min_gap)", next_try=until)
    results = [replace(desk.result(skipped), state=None, verdict=None, report=report), found]
    request_id = int(check["id"])
    await desk.store.commit(
        desk.claim, [replace(each, order=replace(each.order, request_id=request_id)) for each in results]
    )

    told = await api.get(f"/checks/{check['id']}")

    assert (told["is_over"], told["done"], told["skipped"]) == (True, 2, 1)
    assert told["skipped_until"] == to_rfc3339(until)


async def test_of_more_checks_than_can_be_counted_it_is_not_said_how_many_were_skipped(
    api: Api, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_COUNTED", 1)
    (second,) = await desk.watch(A)

    check = await api.do("POST", "/checks", {"ids": ["1", str(second)]})

    assert (check["skipped"], check["skipped_until"]) == (None, None)


async def test_a_list_is_given_in_the_order_that_is_asked_for(api: Api) -> None:
    for url in (B, A, C):
        await api.add(url)

    def urls(answer: dict[str, Any]) -> list[str]:
        return [page["url"] for page in answer["items"]]

    assert urls(await api.do("GET", "/pages?sort=host")) == [A, B, C]
    assert urls(await api.do("GET", "/pages?sort=title&group=main")) == [C, A, B]
    assert urls(await api.do("GET", "/pages?view=quiet&total=true")) == []
    assert (await api.refused("GET", "/pages?sort=host&q=a"))["status"] == 422


async def test_what_is_done_to_a_list_of_a_week_means_that_week(api: Api) -> None:
    await api.add(A)

    job = await api.ended(await api.do("POST", "/pages/bulk", {"pages": {"view": "quiet"}, "action": "pause"}))

    assert job["result"]["pages"] == 0


async def test_a_list_is_exported_as_it_can_be_imported(api: Api) -> None:
    await api.add(A, B, group="news")
    await api.add(C)

    csv = await api.call("GET", "/pages/export?group=news")
    opml = await api.call("GET", "/pages/export?format=opml")

    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert (A in csv.text, C in csv.text) == (True, False)
    assert [each in opml.text for each in (A, B, C, 'text="news"')] == [True] * 4
