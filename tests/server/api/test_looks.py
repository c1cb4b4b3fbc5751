"""A look at a page before it is watched, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.api.talk import Api
from tocsin.errors import Disallowed, FetchFailed
from tocsin.model import FailureKind

URL = "https://council.example/agenda"
PAGE = b"""<!doctype html><title> Agenda of
the council </title><meta name=topper-major content="2025-10-01 2026-10-26"><meta name=topper-minor content=2026-11-16>
<main><h1>Agenda</h1><p>The council meets on Friday in the large hall<p>Guests may listen to the council</main>"""


async def looked(api: Api, url: str = URL) -> Any:
    return await api.do("POST", "/pages/look", {"url": url})


async def test_a_look_says_what_a_page_declares_and_holds_and_stores_nothing(api: Api) -> None:
    api.rig.service.bodies[URL] = PAGE

    found = await looked(api, f"{URL}#top")

    assert (found["url"], found["id"], found["title"]) == (URL, None, "Agenda of the council")
    assert (found["major"], found["minor"], found["declares"]) == (
        "2026-10-26",
        "2026-11-16",
        ["topper-major", "topper-minor"],
    )
    assert (found["lines"], found["built_by_scripts"], found["every"], found["items"]) == (4, False, "24h", 0)
    assert (await api.get("/pages?total=true"))["total"]["number"] == 0
    assert await api.audited() == []


async def test_a_look_at_a_watched_page_names_it(api: Api) -> None:
    await api.add(URL)

    assert (await looked(api))["id"] == "1"


@pytest.mark.parametrize(
    ("why", "status", "said"),
    [
        (Disallowed(URL, "Disallow: /", None), 409, "Disallow: /"),
        (FetchFailed(URL, FailureKind.STATUS, "answered 500", status=500), 502, "answered 500"),
    ],
)
async def test_a_page_that_cannot_be_looked_at_says_why(api: Api, why: Exception, status: int, said: str) -> None:
    api.rig.service.bodies[URL] = why

    problem = await api.refused("POST", "/pages/look", {"url": URL})

    assert (problem["status"], said in problem["detail"]) == (status, True)


async def test_a_url_that_is_none_is_refused_before_any_request(api: Api) -> None:
    problem = await api.refused("POST", "/pages/look", {"url": "ftp://council.example/"})

    assert (problem["status"], api.rig.service.received) == (422, [])
