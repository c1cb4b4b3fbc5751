"""A page whose text scripts make is said to be one, and read in a browser by a button."""

from __future__ import annotations

from pathlib import Path

from tests.claiming import claim_all
from tests.contract.desk import Desk
from tests.server.web.visiting import Visitor, tree
from tocsin.adapters.stores.sql.store import SqlStore

A = "https://app.example/"


async def test_a_button_on_the_page_has_it_read_in_a_browser_and_it_can_be_undone(
    visitor: Visitor, tmp_path: Path
) -> None:
    store = visitor.rig.store
    assert isinstance(store, SqlStore)
    claim = await claim_all(store, "engine")
    assert claim is not None
    desk = Desk(store, claim, tmp_path)
    (page_id,) = await desk.watch(A)
    await desk.check(A, "1", is_shell=True)
    path = f"/pages/{page_id}"

    before = tree(await visitor.get(path)).xpath("//*[contains(@class, 'banner') and not(@hidden)]")[0]
    told = await visitor.done(f"{path}/fetch", fetch="browser")
    settings = (await desk.page(A)).settings
    after = tree(told).xpath("//*[contains(@class, 'banner')][.//a[contains(@href, '/settings')]]")
    await visitor.done(f"{path}/fetch", fetch="http")

    assert f"tocsin watch set {A} --fetch browser" in before.text_content()
    assert before.xpath(".//form/@action") == [f"{path}/fetch"]
    assert settings == {"fetch": "browser"}
    assert "Undo: read it by HTTP" in told
    assert "is empty there, too" in after[0].text_content()
    assert (await desk.page(A)).settings == {"fetch": "http"}
