"""Downloads that are asked for, and not taken."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from tocsin.server.bodies import MOST_DOWNLOADS, OpenDownloads

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

    from tests.server.rig import Rig


async def lines() -> AsyncGenerator[str]:
    yield "a\n"
    yield "b\n"


async def test_downloads_that_nobody_takes_keep_out_further_ones_only(rig: Rig, local: httpx.AsyncClient) -> None:
    shared = rig.app.state.downloads = OpenDownloads(rig.app.state.parts)
    held = [shared.counted(lines()) for _ in range(MOST_DOWNLOADS)]
    for each in held:
        await anext(each)

    refused, other = await local.get("/pages/export"), await local.get("/api/v1/pages")
    for each in held:
        async with aclosing(each):
            pass
    afterwards = await local.get("/pages/export")

    assert (refused.status_code, refused.json()["type"]) == (503, "urn:tocsin:problem:too-many-downloads")
    assert (other.status_code, afterwards.status_code) == (200, 200)
