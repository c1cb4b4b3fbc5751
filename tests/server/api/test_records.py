"""What was stored of a page, over HTTP: states, verdicts with their reasons, renderings, texts, and how they differ."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.contract.desk import Desk
from tests.server.api.talk import Api
from tests.server.diary import URL, keep
from tocsin.model import NO_ITEMS, to_rfc3339
from tocsin.settings import ItemSettings


async def test_states_are_listed_newest_first_and_paged(busy: Api) -> None:
    part = await busy.get("/pages/13/states?limit=2")
    rest = await busy.get("/pages/13/states", params={"cursor": part["next"]})

    found = [state["fields"]["topper-major"] for state in (*part["items"], *rest["items"])]
    assert found == ["2026-01-09", "2026-01-05", "2026-01-01"]
    assert [state["in_table"] for state in (*part["items"], *rest["items"])] == [True, False, False]


async def test_two_states_are_compared_field_by_field(busy: Api) -> None:
    states = (await busy.get("/pages/13/states"))["items"]

    latest = await busy.get("/pages/13/states/difference")
    first = await busy.get("/pages/13/states/difference", params={"from": states[-1]["id"], "to": states[0]["id"]})

    assert (latest["from"]["id"], latest["to"]["id"], latest["changed"]) == (
        states[1]["id"],
        states[0]["id"],
        ["topper-major"],
    )
    (changed,) = [field for field in first["fields"] if field["changed"]]
    assert (changed["previous"], changed["latest"]) == ("2026-01-01", "2026-01-09")
    assert len(first["fields"]) == 12


@pytest.mark.parametrize("query", ["?from=999", "?to=999", "?to=1"])
async def test_a_state_that_is_not_there_is_told_so(busy: Api, query: str) -> None:
    assert (await busy.refused("GET", f"/pages/13/states/difference{query}"))["status"] == 404


async def test_a_verdict_says_the_rule_that_led_to_it_and_its_alert(busy: Api) -> None:
    (latest, *_) = (await busy.get("/pages/13/verdicts"))["items"]

    assert (latest["outcome"], latest["reason"], latest["rule"], latest["basis"]) == (
        "major",
        "topper-major",
        "T44",
        "declared",
    )
    assert await busy.get(f"/verdicts/{latest['id']}") == latest
    assert (await busy.get(f"/alerts/{latest['alert']}"))["page"] == "13"


async def test_renderings_are_listed(busy: Api) -> None:
    (latest, _) = (await busy.get("/pages/13/renderings"))["items"]

    assert (latest["kind"], latest["status"], latest["error"]) == ("http", 200, None)
    assert latest["final_url"] == "https://restless.example/0"


async def test_how_items_changed_is_listed_newest_first_and_told_in_words(busy: Api) -> None:
    part = await busy.get("/pages/13/items/changes?limit=1")
    rest = await busy.get("/pages/13/items/changes", params={"cursor": part["next"]})

    (latest,), (first,) = part["items"], rest["items"]
    renderings = {row["id"]: row["items"] for row in (await busy.get("/pages/13/renderings"))["items"]}
    assert (latest["changed"], latest["cut"], latest["told"][0][:29]) == (1, False, 'dtstart of "Jazz": some day →')
    for row in (latest, first):
        assert row["changes"] == renderings[row["rendering"]]["changes"]
        assert row["since"] == renderings[row["rendering"]]["since"]
    assert latest["at"] > first["at"]
    assert (rest["next"], part["why"], rest["why"]) == (None, None, None)


async def test_a_page_whose_items_never_changed_lists_none_and_one_that_is_not_watched_is_404(busy: Api) -> None:
    assert (await busy.get("/pages/1/items/changes"))["items"] == []
    assert (await busy.refused("GET", "/pages/999/items/changes"))["status"] == 404


async def test_why_no_change_of_items_is_known_is_said(api: Api, desk: Desk) -> None:
    path, whys = "/pages/1/items/changes", []
    whys.append((await api.get(path))["why"])
    await keep(api, desk)
    whys.append((await api.get(path))["why"])
    settings = api.rig.service.settings_
    api.rig.service.settings_ = replace(settings, items=ItemSettings(keep=False))
    whys.append((await api.get(path))["why"])
    await desk.check(URL, "0", noindex=True, items=NO_ITEMS)
    whys.append((await api.get(path))["why"])

    never, same, off, kept_back = whys
    assert "none was read yet" in never
    assert same == f"the page's items are as they were read first, at {to_rfc3339(desk.now)}"
    assert "items.keep" in off
    assert "noindex" in kept_back


async def test_the_last_two_texts_are_compared(busy: Api) -> None:
    found = await busy.get("/pages/13/difference")

    assert (found["from"]["number"], found["to"]["number"], found["changed"]) == (2, 1, True)
    before = "".join(run["text"] for run in found["runs"] if run["kind"] != "added")
    latest = "".join(run["text"] for run in found["runs"] if run["kind"] != "removed")
    assert (before, latest) == ("A bridge is being built.\n", "The bridge was built.\nPeople walk on it.\n")


async def test_any_two_texts_are_compared_by_lines(busy: Api) -> None:
    found = await busy.get("/pages/13/difference?from=3&to=1&by=lines")

    assert [run["kind"] for run in found["runs"]] == ["removed", "added"]


async def test_a_text_is_given_as_it_was(busy: Api) -> None:
    texts = (await busy.get("/pages/13/texts"))["items"]

    answer = await busy.call("GET", f"/pages/13/texts/{texts[-1]['id']}")

    assert (answer.text, answer.headers["content-type"]) == ("A bridge is planned.\n", "text/plain; charset=utf-8")


@pytest.mark.parametrize("path", ["/pages/13/difference?from=4", "/pages/1/difference", "/pages/13/texts/999"])
async def test_a_text_that_is_not_kept_is_told_so(busy: Api, path: str) -> None:
    assert (await busy.refused("GET", path))["status"] == 404


async def test_a_text_of_another_page_is_not_given(busy: Api) -> None:
    (text, *_) = (await busy.get("/pages/14/texts"))["items"]

    assert (await busy.refused("GET", f"/pages/13/texts/{text['id']}"))["status"] == 404


async def test_copies_of_a_page_are_listed(busy: Api) -> None:
    (newest, _) = (await busy.get("/pages/85/copies"))["items"]

    assert (newest["number"], newest["url"], newest["from"]) == (
        1,
        "https://copies.example/2025",
        "https://calm.example/0",
    )


async def test_pictures_are_listed_with_what_differs_and_given_as_they_were_kept(busy: Api) -> None:
    latest, first = (await busy.get("/pages/13/pictures"))["items"]

    assert (latest["before"], first["before"], first["difference"]) == (first["digest"], None, None)
    assert latest["difference"] == {
        "share": 0.05,
        "boxes": [{"left": 0, "top": 400, "width": 320, "height": 48}],
        "removed": [{"left": 0, "top": 900, "width": 1280, "height": 20}],
    }
    answer = await busy.call("GET", f"/pictures/{latest['digest']}")
    assert (answer.headers["content-type"], "immutable" in answer.headers["cache-control"]) == ("image/png", True)
    assert answer.content.startswith(b"picture at ")
    assert len(answer.content) == latest["bytes"]


@pytest.mark.parametrize(("digest", "status"), [("0" * 64, 404), ("x", 422), ("..%2f" * 20, 404)])
async def test_a_picture_that_is_not_kept_is_not_there(busy: Api, digest: str, status: int) -> None:
    assert (await busy.refused("GET", f"/pictures/{digest}"))["status"] == status
