"""No stream and no feed tells a secret of a channel."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.desk import new_page
from tests.server.streams.conftest import Desk
from tests.server.streams.reader import reading
from tests.server.test_channel_secrets import MARK, ROWS, named


@pytest.mark.parametrize("row", ROWS, ids=named)
async def test_no_stream_or_feed_tells_a_secret_of_a_channel(desk: Desk, row: dict[str, Any]) -> None:
    async with desk.rig.asking() as asked:
        assert (await asked.post("/api/v1/channels", json={"name": "ops", **row})).status_code == 201
        await desk.store.set_channels(["ops"])
        (page_id,) = await desk.store.add_pages([new_page("https://one.example/")], 0)
        await desk.publish("a", page_id=page_id, outcome="major")
        paths = ("/feed.atom", "/groups/main/feed.atom", f"/pages/{page_id}/feed.atom")
        told = {path: (await asked.get(path)).text for path in paths}
    for query in ("?from=start", "?live=only"):
        async with reading(desk.address, query) as reader:
            told[query] = str(await reader.event())

    assert "one.example" in told["/feed.atom"]
    assert [path for path, text in told.items() if MARK in text] == []
