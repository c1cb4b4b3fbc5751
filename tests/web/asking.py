"""Somebody who reads our pages and sends their forms, without a browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any, Self

import httpx

from tests.claiming import claim_all
from tests.contract.desk import NOW, Desk
from tests.server.rig import Rig, served
from tocsin.adapters.stores.sql.store import SqlStore

_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Reader:
    """Who reads and sends; `desk` writes to the store what checks would."""

    def __init__(self, rig: Rig, client: httpx.AsyncClient, desk: Desk) -> None:
        self.rig, self.client, self.desk = rig, client, desk
        self._csrf = ""

    @classmethod
    @asynccontextmanager
    async def at(cls, store: SqlStore, folder: Path) -> AsyncIterator[Self]:
        """Let somebody of this machine read the pages of this store."""
        claim = await claim_all(store, "engine")
        assert claim is not None
        async with served(store) as rig, rig.asking() as client:
            rig.clock.set_wall(NOW)
            client.headers["accept"] = "text/html"
            reader = cls(rig, client, Desk(store, claim, folder))
            reader._csrf = unescape(_CSRF.findall((await client.get("/settings")).text)[0])
            yield reader

    async def read(self, path: str, status: int = 200) -> str:
        """Get a page."""
        answer = await self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    async def send(self, path: str, **fields: Any) -> httpx.Response:
        """Send a form of ours."""
        return await self.client.post(path, data={"csrf": self._csrf, **fields})

    async def sent(self, path: str, **fields: Any) -> str:
        """Send a form, go where it leads, and read that."""
        answer = await self.send(path, **fields)
        assert answer.status_code == 303, answer.text
        return await self.read(answer.headers["location"])


def rows_of(html: str) -> list[str]:
    """The URLs of a list, as they are shown."""
    return [unescape(re.sub("<[^>]+>", "", each)) for each in re.findall(r'<a class="name"[^>]*>(.*?)</a>', html)]


def words_of(html: str) -> str:
    """What can be read on a page, in one line."""
    main = html[html.index("<main") :]
    return unescape(" ".join(re.sub("<[^>]*>", " ", main).split()))
