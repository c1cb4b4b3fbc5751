"""Pages that scripts make, and a receiver of their alerts: the far ends of the soak of the browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final, Self

from benchmarks.soak.versions import html_of
from benchmarks.soak.wire import Request, Wire, answer

HOSTS: Final = 8
_DATA: Final = "/data"
# Without its script it says nothing: a page that is read without it, or before it is done, has no version at all.
_SHELL: Final = f"""<!doctype html><html><head><title>A shell</title></head><body><div id=root></div><script>
fetch("{_DATA}" + location.pathname).then(answer => answer.text()).then(text => {{
  const made = new DOMParser().parseFromString(text, "text/html");
  document.head.append(...made.head.querySelectorAll("meta"));
  document.getElementById("root").append(...made.body.children);
}})
</script></body></html>""".encode()


class ShellSite:
    """Serves shells on eight addresses, and what their scripts fetch.

    on_read  called when a script was given what it fetches, while its page is in hand
    """

    def __init__(self, pages: int) -> None:
        self._wire = Wire(self._handle)
        self._pages = pages
        self.versions: dict[str, int] = {}
        self.read = 0
        self.on_read: Callable[[], None] = lambda: None

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        for number in range(self._pages):
            self.versions[f"http://127.0.0.{number % HOSTS + 1}:{self._wire.port}/{number}"] = 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._wire.__aexit__(None, None, None)

    def change_everything(self) -> None:
        """Let every page change once."""
        self.versions = {url: version + 1 for url, version in self.versions.items()}

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        url = f"http://{request.host}:{self._wire.port}{request.path.removeprefix(_DATA)}"
        version = self.versions.get(url)
        if version is None:
            writer.write(answer(404))
            return
        is_data = request.path.startswith(_DATA)
        body = html_of(url, version) if is_data else _SHELL
        writer.write(answer(200, body, Content_Type="text/html; charset=utf-8"))
        await writer.drain()
        if is_data:
            self.read += 1
            self.on_read()


class AlertReceiver:
    """Takes every alert, and keeps it under its id."""

    def __init__(self) -> None:
        self._wire = Wire(self._handle)
        self.taken: list[tuple[str, dict[str, Any]]] = []

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._wire.__aexit__(None, None, None)

    @property
    def url(self) -> str:
        """Where alerts go."""
        return f"http://127.0.0.1:{self._wire.port}/"

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.taken.append((request.headers["webhook-id"], json.loads(request.body)))
        writer.write(answer(204))
