"""Settings on trial over HTTP: the parts of a page, its kept texts, and the copy to pick from."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.contract.desk import Desk
from tests.server.api.talk import Api
from tests.server.diary import desk_on
from tocsin.errors import Disallowed, FetchFailed, Postponed, Withdrawn
from tocsin.model import PageFlags, Scope, Snapshot, StepResult
from tocsin.spec.signals.texts import pack_text

URL = "https://council.example/agenda"
PAGE = b"""<!doctype html><title>Agenda</title><main><h1>Agenda of the council</h1>
<p id=date>The council meets on Friday in the large hall</p>
<div class=market onclick=x>Visit the winter market, open until the end of the year!</div><script>alert(1)</script>"""
MINUTE = 60_000_000


@pytest.fixture
async def desk(api: Api, tmp_path: Path) -> Desk:
    """A page that is watched, and received when it is asked for."""
    await api.add(URL, settings={"tell": "major"})
    api.rig.service.bodies[URL] = PAGE
    return await desk_on(api.rig, tmp_path)


async def tried(api: Api, **settings: Any) -> Any:
    return await api.do("POST", "/pages/1/try", {"settings": settings})


async def test_settings_on_trial_say_which_parts_they_compare_and_nothing_is_saved(api: Api, desk: Desk) -> None:
    found = await tried(api, ignore=".market, .cookies")

    assert [(part["text"], part["kind"], part["counts"], part["selector"]) for part in found["parts"]] == [
        ("Agenda", "heading", True, None),
        ("Agenda of the council", "heading", True, None),
        ("The council meets on Friday in the large hall", "text", True, None),
        ("Visit the winter market, open until the end of the year!", "text", False, ".market"),
    ]
    assert [(each["selector"], each["elements"], each["parts"]) for each in found["selectors"]] == [
        (".market", 1, 1),
        (".cookies", 0, 0),
    ]
    assert (found["compared"], found["words"], found["more"], found["texts"], found["now"]) == (3, 14, 0, 0, None)
    assert (await desk.page(URL)).settings == {"tell": "major"}
    assert await api.audited() == ["pages.add"]


async def test_steps_on_trial_are_taken_in_one_visit_and_each_is_told(api: Api, desk: Desk) -> None:
    api.rig.service.steps = (
        StepResult("consent: reject", "done", 'clicked "Nur notwendige"', 410),
        StepResult("click .more", "failed", "no element", 10_003),
    )
    wanted = {"fetch": "browser", "consent": "reject", "steps": ["click .more", "scroll"]}

    found = await tried(api, **wanted)
    again = await tried(api, **wanted, ignore=".market")
    await tried(api, **{**wanted, "steps": ["scroll"]})

    assert [(each["step"], each["outcome"], each["detail"], each["elapsed_ms"]) for each in found["steps"]] == [
        ("consent: reject", "done", 'clicked "Nur notwendige"', 410),
        ("click .more", "failed", "no element", 10_003),
    ]
    assert (found["compared"], again["compared"]) == (4, 3)
    assert [settings["steps"] for settings in api.rig.service.on_trial] == [["click .more", "scroll"], ["scroll"]]
    assert (await desk.page(URL)).settings == {"tell": "major"}


async def test_settings_on_trial_are_merged_into_those_of_the_page(api: Api, desk: Desk) -> None:
    await desk.edit(1, settings={"ignore": ".market"})

    kept = await tried(api, tell="any")
    unset = await api.do("POST", "/pages/1/try", {"unset": ["ignore"]})

    assert ([each["selector"] for each in kept["selectors"]], unset["selectors"]) == ([".market"], [])


async def test_the_latest_ten_texts_are_judged_with_these_settings_and_those_in_force(api: Api, desk: Desk) -> None:
    for number in range(12):
        animal = (
            "sheep",
            "goats",
            "geese",
            "horses",
            "bees",
            "pigs",
            "cows",
            "ducks",
            "dogs",
            "cats",
            "hens",
            "mules",
        )[number]
        text = f"Agenda of the council\nVisit the large market of {animal} at the harbour of our old town"
        await desk.check(URL, snapshot=Snapshot(*pack_text(text), at=desk.now))
        desk.now += MINUTE

    found = await tried(api, signals="none")

    # What changes at each check is noise from its fourth change on.
    assert (found["texts"], found["before"], found["now"]) == (10, {"major": 0, "minor": 3}, {"major": 0, "minor": 0})


@pytest.mark.usefixtures("desk")
async def test_trials_of_ten_minutes_cost_one_request(api: Api) -> None:
    await asyncio.gather(tried(api), api.get("/pages/1/copy"), tried(api, ignore="p"))
    await api.rig.clock.advance(9 * 60)
    await tried(api)
    within = len(api.rig.service.received)
    await api.rig.clock.advance(2 * 60)
    await tried(api)

    assert (within, len(api.rig.service.received)) == (1, 2)


@pytest.mark.usefixtures("desk")
async def test_the_copy_of_a_page_has_nothing_that_acts(api: Api) -> None:
    found = await api.get("/pages/1/copy")

    assert found["html"].startswith(
        '<main><h1>Agenda of the council</h1>\n<p id="date">The council meets on Friday in the large hall</p>'
    )
    assert "onclick" not in found["html"]
    assert "script" not in found["html"]
    assert found["cut"] is False


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        (FetchFailed(URL, "timeout", "too slow"), 502, "not-received"),
        (Disallowed(URL, "Disallow: /", None), 409, "disallowed"),
        (Postponed(0, 0), 503, "host-busy"),
        (Withdrawn(URL), 409, "paused"),
        (b"%PDF-1.7", 409, "not-html"),
        (b"<p>" * 200_001, 409, "too-complex"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/pages/1/try"), ("GET", "/pages/1/copy")])
async def test_a_page_that_cannot_be_tried_says_why(
    api: Api, method: str, path: str, body: Any, status: int, problem: str
) -> None:
    api.rig.service.bodies[URL] = body

    told = await api.refused(method, path, {} if method == "POST" else None)

    assert (told["status"], told["type"]) == (status, f"urn:tocsin:problem:{problem}")


async def test_a_page_that_is_not_to_be_indexed_is_neither_tried_nor_copied(api: Api, desk: Desk) -> None:
    await desk.check(URL, flags=PageFlags(noindex=True))

    assert (await api.refused("GET", "/pages/1/copy"))["type"] == "urn:tocsin:problem:kept-back"
    assert api.rig.service.received == []


@pytest.mark.usefixtures("desk")
async def test_a_selector_that_is_none_is_refused_by_its_name(api: Api) -> None:
    assert "ignore" in str(await api.refused("POST", "/pages/1/try", {"settings": {"ignore": "p["}}))


@pytest.mark.usefixtures("desk")
async def test_a_trial_makes_a_request_so_it_needs_the_right_to_write(api: Api) -> None:
    async with api.rig.asking(await api.rig.token(Scope.READ, "reader")) as reader:
        answers = [await reader.get("/api/v1/pages/1/copy"), await reader.post("/api/v1/pages/1/try", json={})]

    assert [answer.status_code for answer in answers] == [403, 403]
