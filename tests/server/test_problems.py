"""Every error says why and the mend; nothing internal is told."""

from __future__ import annotations

from typing import Annotated

import httpx
import pytest
from fastapi import Query

from tests.server.rig import Rig
from tocsin.errors import (
    BadUrl,
    DeliveryError,
    NotWatched,
    SettingsError,
    StaleClaim,
    StoreError,
    StoreLocked,
    TocsinError,
    UsageError,
)
from tocsin.server.parts import Reading, Writing
from tocsin.server.problems import Problem


@pytest.mark.parametrize(
    ("raised", "status", "kind"),
    [
        (NotWatched("https://a.example is not on the list"), 404, "not-watched"),
        (UsageError("NAME: give it a name"), 422, "refused"),
        (BadUrl("mailto: is no page"), 422, "refused"),
        (SettingsError("pages.every: write 5m"), 422, "refused"),
        (StoreError("the disk is full"), 503, "store"),
        (StoreLocked("/x", 7), 503, "store-busy"),
        (StaleClaim("somebody else has it"), 409, "conflict"),
        (DeliveryError("ops", "channel", "410"), 502, "delivery"),
        (Problem(409, "taken", "Taken", "by another", mend="choose another"), 409, "taken"),
    ],
)
async def test_an_error_of_ours_is_a_problem_of_its_kind(
    rig: Rig, local: httpx.AsyncClient, raised: TocsinError, status: int, kind: str
) -> None:
    @rig.app.get("/api/v1/raising")
    async def raising(_caller: Reading) -> str:
        raise raised

    answer = await local.get("/api/v1/raising")

    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    told = answer.json()
    assert (told["type"], told["status"]) == (f"urn:tocsin:problem:{kind}", status)
    assert told["detail"]
    assert told["mend"]
    assert ("retry-after" in answer.headers) == (status == 503)


async def test_a_fault_of_ours_tells_nothing_but_the_request_id(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.get("/api/v1/broken")
    async def broken(_caller: Reading) -> str:
        raise KeyError("the-inside")

    answer = await local.get("/api/v1/broken")

    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "the-inside" not in answer.text
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_what_is_not_as_described_names_each_field_and_what_it_expects(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    @rig.app.get("/api/v1/asking")
    async def asking(_caller: Reading, limit: Annotated[int, Query(le=10)], word: Annotated[str, Query()]) -> str:
        return f"{limit}{word}"

    answer = await local.get("/api/v1/asking?limit=11")

    assert answer.status_code == 422
    told = answer.json()
    assert {error["field"] for error in told["errors"]} == {"limit", "word"}
    assert all(error["message"] for error in told["errors"])


async def test_a_body_that_is_no_json_is_said_to_be_none(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.post("/api/v1/taking")
    async def taking(_caller: Writing, given: dict[str, int]) -> int:
        return len(given)

    answer = await local.post("/api/v1/taking", content=b"{", headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


async def test_a_body_of_a_kind_that_is_not_read_is_415(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.post("/api/v1/taking")
    async def taking(_caller: Writing, given: dict[str, int]) -> int:
        return len(given)

    answer = await local.post("/api/v1/taking", content=b"<a/>", headers={"Content-Type": "application/xml"})

    assert (answer.status_code, answer.json()["type"]) == (415, "urn:tocsin:problem:unsupported-media-type")
    assert "application/json" in answer.json()["mend"]


async def test_a_method_that_is_not_offered_names_those_that_are(local: httpx.AsyncClient) -> None:
    answer = await local.delete("/healthz")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.json()["mend"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/v1/pages", "GET, HEAD, POST"),
        ("/api/v1/pages/1", "GET, HEAD, DELETE, PATCH"),
        ("/api/v1/pages/1/extract/ical", "GET, HEAD"),
        ("/api/v1/pages/1/check", "POST"),
    ],
)
async def test_the_methods_of_all_routes_of_a_path_are_named(local: httpx.AsyncClient, path: str, allowed: str) -> None:
    answer = await local.request("TRACE" if path.endswith("check") else "PUT", path)

    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_a_person_is_answered_with_a_page_and_a_program_with_json(local: httpx.AsyncClient) -> None:
    page = await local.get("/no-such-page", headers={"Accept": "text/html,*/*"})
    program = await local.get("/no-such-page")
    interface = await local.get("/api/v1/no-such-thing", headers={"Accept": "text/html"})

    assert page.headers["content-type"].startswith("text/html")
    assert program.headers["content-type"] == "application/problem+json"
    assert interface.headers["content-type"] == "application/problem+json"
    assert {page.status_code, program.status_code, interface.status_code} == {404}


async def test_what_an_error_repeats_is_escaped_on_a_page(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.get("/raising")
    async def raising(_caller: Reading) -> str:
        raise UsageError("<script>alert(1)</script>: no")

    answer = await local.get("/raising", headers={"Accept": "text/html"})

    assert answer.status_code == 422
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert" in answer.text
