"""Signals and noise over HTTP."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from tests.claiming import claim_all
from tests.contract.desk import NOW, Desk
from tests.server.api.talk import Api
from tocsin.model import PageKnowledge, PageNoise

A = "https://a.example/"
LARGEST = 2**63 - 1


async def test_what_changes_all_the_time_is_shown_and_can_be_heard_again(api: Api, tmp_path: Path) -> None:
    claim = await claim_all(api.store, "engine")
    assert claim is not None
    desk = Desk(api.store, claim, tmp_path)  # type: ignore[arg-type]  # a store like any other
    await desk.watch(A)
    known = PageKnowledge(
        "readers 1", {"json-ld.modified": "2026"}, noise=(PageNoise(7, "visitors", 3, since=NOW, at=NOW),)
    )
    await desk.check(A, known=structs.replace(known))

    before = await api.get("/pages/1/signals")
    await api.do("POST", "/pages/1/noise", {"keys": ["7"], "heard": True})
    heard = await api.get("/pages/1/signals")
    await api.do("POST", "/pages/1/noise", {"keys": ["7"], "heard": False})
    muted = await api.get("/pages/1/signals")

    assert before["values"] == {"json-ld.modified": "2026"}
    assert [(each["key"], each["what"], each["heard"]) for each in before["noise"]] == [("7", "visitors", False)]
    assert (heard["heard"], heard["noise"][0]["heard"]) == (["7"], True)
    assert muted["heard"] == []
    assert (await api.audited())[:2] == ["page.hear", "page.hear"]


async def test_a_key_of_19_digits_is_shown_and_can_be_heard(api: Api, tmp_path: Path) -> None:
    claim = await claim_all(api.store, "engine")
    assert claim is not None
    desk = Desk(api.store, claim, tmp_path)  # type: ignore[arg-type]  # a store like any other
    await desk.watch(A)
    await desk.check(
        A, known=PageKnowledge("readers 1", {}, noise=(PageNoise(LARGEST, "visitors", 3, since=NOW, at=NOW),))
    )

    shown = await api.get("/pages/1/signals")
    await api.do("POST", "/pages/1/noise", {"keys": [str(LARGEST)], "heard": True})
    beyond = await api.call("POST", "/pages/1/noise", {"keys": [str(LARGEST + 1)], "heard": True})

    assert [each["key"] for each in shown["noise"]] == [str(LARGEST)]
    assert (await api.get("/pages/1/signals"))["heard"] == [str(LARGEST)]
    assert beyond.status_code == 422


async def test_a_page_of_which_nothing_is_known_has_no_signals(api: Api) -> None:
    await api.add(A)

    found = await api.get("/pages/1/signals")

    assert found == {"values": {}, "listed": {}, "noise": [], "heard": [], "muted_on_host": []}
    assert await api.get("/hosts/a.example/noise") == {"items": [], "next": None}
