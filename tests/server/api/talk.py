"""Short words for what tests ask of the API."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from tests.server.rig import Rig

PREFIX = "/api/v1"


class Api:
    """A client and the application that it asks."""

    def __init__(self, asked: httpx.AsyncClient, rig: Rig) -> None:
        self.asked, self.rig, self.store = asked, rig, rig.store

    async def get(self, path: str, **more: Any) -> Any:
        """What a GET gives."""
        answer = await self.asked.get(PREFIX + path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """Any request; a body of bytes goes as it is, every other one as JSON."""
        if isinstance(body, bytes):
            more["content"] = body
        elif body is not None:
            more["json"] = body
        return await self.asked.request(method, PREFIX + path, **more)

    async def do(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """What a request that is done answers."""
        answer = await self.call(method, path, body, **more)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    async def refused(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """The problem that a refused request is answered with."""
        answer = await self.call(method, path, body, **more)
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        problem: dict[str, Any] = answer.json()
        assert problem["status"] == answer.status_code
        return problem

    async def add(self, *urls: str, **more: Any) -> None:
        """Watch these pages."""
        await self.do("POST", "/pages", [{"url": url, **more} for url in urls])

    async def etag(self, path: str) -> str:
        """The ETag of something."""
        return str((await self.asked.get(PREFIX + path)).headers["etag"])

    async def ended(self, job: Any) -> Any:
        """A job, once it has ended."""
        while job["state"] == "running":
            await asyncio.sleep(0)
            job = await self.get(f"/jobs/{job['id']}")
        return job

    async def urls(self, query: str = "") -> list[str]:
        """The URLs of a list of pages."""
        return [page["url"] for page in (await self.get(f"/pages{query}"))["items"]]

    async def audited(self) -> list[str]:
        """What was changed, the latest first."""
        return [entry.what for entry in (await self.store.audit(limit=100)).rows]
