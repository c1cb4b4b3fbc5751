"""Bad input over HTTP: each is refused with a problem that says why, and nothing of it arrives."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.server.api.talk import Api

A = "https://a.example/"
LISTS = (
    "/pages",
    "/alerts",
    "/questions",
    "/storms",
    "/audit",
    "/jobs",
    "/pages/1/states",
    "/pages/1/verdicts",
    "/pages/1/renderings",
)


@pytest.mark.parametrize("limit", ["0", "-1", "201", "99999999999999999999", "", "ten", "1e3", "0x10", "\u0661"])
async def test_a_limit_is_a_whole_number_within_bounds(api: Api, limit: str) -> None:
    await api.add(A)

    for path in LISTS:
        problem = await api.refused("GET", path, params={"limit": limit})
        assert (problem["status"], problem["errors"][0]["field"]) == (422, "limit")


@pytest.mark.parametrize("path", LISTS)
async def test_an_unknown_parameter_is_refused_by_name(api: Api, path: str) -> None:
    await api.add(A)

    problem = await api.refused("GET", path, params={"limti": "5"})

    assert (problem["status"], problem["detail"]) == (422, "wrong: limti")


@pytest.mark.parametrize(
    "field",
    ["id", "revision", "created_at", "next_at", "host", "shard", "secrets", "credentials", "last_check", "question"],
)
async def test_what_is_ours_cannot_be_set(api: Api, field: str) -> None:
    problem = await api.refused("POST", "/pages", {"url": A, field: "1"})
    assert problem["status"] == 422
    await api.add(A)
    problem = await api.refused("PATCH", "/pages/1", {field: "1"}, headers={"If-Match": "*"})
    assert (problem["status"], problem["errors"][0]["field"]) == (422, field)


@pytest.mark.parametrize(
    "body",
    [
        {"url": 5},
        {"url": None},
        {"url": [A]},
        {"url": A, "settings": []},
        {"url": A, "settings": {"tries": "many"}},
        {"url": A, "settings": {"tries": -1}},
        {"url": A, "settings": {"every": "soon"}},
        {"url": A, "settings": {"every": 6}},
        {"url": A, "settings": {"evry": "6h"}},
        {"url": A, "settings": {"every": "6h", "cron": "0 6 * * *"}},
        {"url": A, "settings": {"cron": "not a cron"}},
        {"url": A, "settings": {"every": "99999999d"}},
        {"url": A, "settings": {"mode": "On"}},
        {"url": A, "settings": {"look_at": "main["}},
        {"url": A, "settings": {"headers": {"X\r\nY": "1"}}},
        {"url": A, "settings": {"headers": {"X": "1\r\nY: 2"}}},
        {"url": A, "group": ""},
        {"url": A, "group": "a" * 64},
        {"url": A, "group": "a\u202eb"},
        {"url": A, "text": "x" * 254},
        {"url": "https://a.example/" + "x" * 9000},
        {},
        [],
        "https://a.example/",
        None,
        5,
    ],
)
async def test_a_page_that_is_not_as_described_is_refused(api: Api, body: object) -> None:
    answer = await api.asked.post(
        "/api/v1/pages", content=json.dumps(body), headers={"content-type": "application/json"}
    )

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), answer.text
    assert await api.urls() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"url": "https://a.example/\xff"}',
        b'{"url": "https://a.example/", "text": "\\ud800"}',
        b'{"url": "https://a.example/", "text": "\\u0000"}',
        b'{"url": "https://a.example/", "group": "\\u0000"}',
        b'\xef\xbb\xbf{"url": 5}',
        b'{"url": "https://a.example/"}{"url": "https://b.example/"}',
        b"[" * 100_000,
        b'{"url": NaN}',
    ],
)
async def test_bytes_that_are_no_such_text_are_refused(api: Api, body: bytes) -> None:
    answer = await api.asked.post("/api/v1/pages", content=body, headers={"content-type": "application/json"})

    assert answer.status_code in {400, 422}, answer.text
    assert answer.json()["request_id"]
    assert await api.urls() == []


@pytest.mark.parametrize(
    "path",
    [
        "/pages/..",
        "/pages/%2e%2e",
        "/pages/..%2f..%2fetc%2fpasswd",
        "/pages/1%00",
        "/pages/0",
        "/pages/-1",
        "/pages/1.0",
        "/pages/1e3",
        "/pages/9999999999999999999",
        "/pages/%F0%9F%92%A9",
        "/pages/%ff",
        "/alerts/..%5c..",
        "/jobs/01KAKQ4ZC8N2V3J5R7T9WXYZ0O",
        "/groups/..%2f..%2fetc%2fpasswd",
        "/groups/%00",
        "/channels/..%2ftokens",
        "/checks/1'%20or%201=1",
    ],
)
async def test_a_path_that_names_nothing_is_told_so(api: Api, path: str) -> None:
    await api.add(A)

    problem = await api.refused("GET", path)

    assert problem["status"] in {404, 405, 422}


async def test_a_batch_of_a_million_is_refused_before_any_of_it_is_taken(api: Api) -> None:
    urls = [{"url": f"https://a.example/{number}"} for number in range(1001)]
    assert (await api.refused("POST", "/pages", urls))["status"] == 422
    ids = [str(number) for number in range(1, 1_000_001)]

    assert (await api.refused("POST", "/checks", {"ids": ids}))["status"] in {413, 422}
    assert (await api.refused("POST", "/pages/bulk", {"pages": {"ids": ids}, "action": "delete"}))["status"] in {
        413,
        422,
    }
    assert await api.urls() == []


async def test_a_search_of_odd_words_finds_nothing_and_breaks_nothing(api: Api) -> None:
    await api.add(A)

    for words in ('"', "*", "a OR b", "NEAR(a b)", "\x00", "'; drop table pages; --", "﷽" * 200, "-"):
        answer = await api.call("GET", "/pages", params={"q": words})
        assert answer.status_code in {200, 422}, answer.text
    assert await api.urls() == [A]


async def test_of_ten_edits_at_once_one_is_done(api: Api) -> None:
    await api.add(A)
    headers = {"If-Match": await api.etag("/pages/1")}

    answers = await asyncio.gather(
        *(api.call("PATCH", "/pages/1", {"text": f"edit {number}"}, headers=headers) for number in range(10))
    )

    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200, *[412] * 9]
    (done,) = [answer.json()["text"] for answer in answers if answer.status_code == 200]
    assert (await api.get("/pages/1"))["text"] == done


async def test_of_two_ways_to_say_which_pages_one_is_given(api: Api) -> None:
    both = {"ids": ["1"], "view": "all"}

    for pages in (both, {}):
        problem = await api.refused("POST", "/pages/bulk", {"pages": pages, "action": "delete"})
        assert problem["status"] == 422
        assert "either `ids`" in problem["errors"][0]["message"]


@pytest.mark.parametrize("key", ["", "3f0f8a6e-key"])
@pytest.mark.parametrize(
    "body",
    [
        b'{"url": "https://a.example/", "check": true, "check": false}',
        b'{"url": "https://a.example/", "settings": {"tries": 1, "tries": 2}}',
    ],
)
async def test_a_body_with_a_key_twice_is_refused_by_its_name(api: Api, body: bytes, key: str) -> None:
    headers = {"content-type": "application/json"} | ({"idempotency-key": key} if key else {})

    answer = await api.call("POST", "/pages", body, headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (422, "urn:tocsin:problem:key-twice")
    assert ("'check'" in answer.json()["detail"]) != ("'tries'" in answer.json()["detail"])
    assert await api.urls() == []
