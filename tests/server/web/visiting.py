"""Somebody with a browser, and what a page tells them."""

from __future__ import annotations

import re
from typing import Any

import httpx
from lxml import html  # type: ignore[import-untyped]  # its stubs are a package of their own

from tests.server.rig import Rig
from tocsin.model import AlertQuery, AuditEntry


class Visitor:
    """Somebody with a browser who is on this machine."""

    def __init__(self, rig: Rig, client: httpx.AsyncClient) -> None:
        self.rig, self.store, self.client = rig, rig.store, client
        self._csrf = ""

    async def get(self, path: str, status: int = 200) -> str:
        answer = await self.client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == status, answer.text
        if found := re.search(r'name="csrf" value="([^"]+)"', answer.text):
            self._csrf = found[1]
        return answer.text

    async def post(self, path: str, **form: Any) -> httpx.Response:
        if not self._csrf:
            await self.get("/settings")
        return await self.client.post(path, data={"csrf": self._csrf, **form}, headers={"Accept": "text/html"})

    async def done(self, path: str, **form: Any) -> str:
        """Send a form that is carried out; returns the page that one is sent on to."""
        answer = await self.post(path, **form)
        assert answer.status_code == 303, answer.text
        return await self.get(answer.headers["location"])

    async def audited(self) -> list[AuditEntry]:
        return list((await self.store.audit()).rows)


def told(text: str) -> str:
    """What the page says was done."""
    (notice,) = html.fromstring(text).xpath("//*[@id='told']//p")
    return " ".join(notice.text_content().split())


def undo_of(text: str) -> tuple[str, dict[str, list[str]]]:
    """The way back that a page offers: where to, and the fields."""
    (form,) = html.fromstring(text).xpath("//*[@id='told']//form")
    fields: dict[str, list[str]] = {}
    for field in form.xpath(".//input"):
        fields.setdefault(field.get("name"), []).append(field.get("value"))
    return form.get("action"), {name: values for name, values in fields.items() if name != "csrf"}


async def unseen(visitor: Visitor) -> int:
    return (await visitor.store.tally_alerts(AlertQuery(unseen=True))).number


def tree(text: str) -> Any:
    """A page as a tree."""
    return html.fromstring(text)
