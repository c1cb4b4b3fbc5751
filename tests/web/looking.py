"""What is asked of every page in a browser, whatever it shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import urlsplit

from axe_core_python.async_playwright import Axe  # type: ignore[import-untyped] # it has no types
from playwright.async_api import Browser, Error, Page

from tests.journey.running import PATIENCE_S

TELEPHONE, DESK = 360, 1280
PATIENCE_MS = PATIENCE_S * 1000
"""How long a browser waits for what never comes."""
_PATIENCE_TO_SHOW_S = 60
_WIDTH = "document.documentElement.scrollWidth"
_FOCUSED = """() => {
  const at = document.activeElement, style = getComputedStyle(at);
  return { tag: at.tagName, name: at.name || at.textContent.trim().slice(0, 40), href: at.getAttribute("href"),
           ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
}"""


class Window:
    """A window of a browser on our service.

    said      what its console said: errors, and what the content policy refused
    elsewhere URLs that were asked for at other places than ours
    dialogs   that were opened
    answers   what was asked for, the answers of our service, and requests that failed, in order
    """

    def __init__(self, page: Page, base: str) -> None:
        self.page, self._base = page, base
        self.said: list[str] = []
        self.elsewhere: list[str] = []
        self.dialogs: list[str] = []
        self.answers: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self._asks(request.url))
        page.on("dialog", lambda dialog: self.dialogs.append(dialog.message))
        page.on("request", lambda request: self.answers.append(f"{request.method} {request.url}"))
        page.on("response", lambda answer: self.answers.append(f"{answer.request.method} {answer.url} {answer.status}"))
        page.on("requestfailed", lambda request: self.answers.append(f"{request.url}: {request.failure}"))

    @classmethod
    @asynccontextmanager
    async def on(cls, browser: Browser, base: str, *, width: int = DESK, **options: Any) -> AsyncIterator[Self]:
        """Open one, with a memory of its own."""
        context = await browser.new_context(viewport={"width": width, "height": 800}, **options)
        context.set_default_timeout(PATIENCE_MS)
        context.set_default_navigation_timeout(PATIENCE_MS)
        window = cls(await context.new_page(), base)
        try:
            yield window
        except (AssertionError, Error) as exc:
            exc.add_note(await window.shown())
            raise
        finally:
            await context.close()

    async def shown(self) -> str:
        """What stands in it, and how it came there, for whoever asks why something else was to be there."""
        try:
            # It has no limit of its own, and what never answered before may never answer this.
            async with asyncio.timeout(_PATIENCE_TO_SHOW_S):
                text = str(await self.page.evaluate("document.body ? document.body.innerText : ''"))
        except (TimeoutError, Error) as exc:
            text = f"(nothing that could be read: {exc!r})"
        return "\n".join([f"{self.page.url} shows:", text[:1000], "after:", *self.answers[-24:]])

    def _asks(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self._base).netloc and not url.startswith("data:"):
            self.elsewhere.append(url)

    async def go(self, path: str) -> None:
        """Open a page of ours."""
        await self.page.goto(self._base + path)

    async def overflow(self) -> int:
        """How much wider the page is than the window."""
        wide = int(await self.page.evaluate(_WIDTH))
        size = self.page.viewport_size
        assert size is not None
        return wide - size["width"]

    async def complaints(self, rules: Sequence[str] = ()) -> list[str]:
        """What axe finds wrong by these rules, or by all, a line each."""
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(Axe().axe_script)
        wanted = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        found = await self.page.evaluate("(wanted) => axe.run(wanted)", wanted)
        return [
            f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    async def walk(self, most: int = 200) -> list[dict[str, Any]]:
        """Press Tab until the page is through; tells each place where the focus was."""
        await self.page.evaluate("document.activeElement.blur()")
        places: list[dict[str, Any]] = []
        for _ in range(most):
            await self.page.keyboard.press("Tab")
            at = await self.page.evaluate(_FOCUSED)
            if at["tag"] == "BODY":
                break
            places.append(at)
        return places
