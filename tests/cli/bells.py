"""A page about a bell, in versions: as files, and as a page that is watched."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.cli.calling import Answer, Installation
from tests.origin import Origin, Page

RAIN = "It rains on the old town, and nobody is out on the square but the man who rings the bell at noon."
NINE = "We open at nine sharp on every day of the week, and the last visitors are let in at half past five."
TEN = NINE.replace("nine sharp", "ten sharp")
NEWS = "From next month on there will be a second bell, which was found in the river by two boys and a dog."


def page(*paragraphs: str, head: str = "") -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<!doctype html><meta charset=utf-8><title>The bell</title>{head}<main><h1>The bell</h1>{text}</main>"


def write_files(folder: Path) -> None:
    """Write an older version and a newer one."""
    (folder / "old.html").write_text(page(RAIN, NINE), encoding="utf-8")
    (folder / "new.html").write_text(page(RAIN, TEN, NEWS), encoding="utf-8")


async def watch(installation: Installation, *versions: str, path: str = "/a") -> str:
    """Watch a page through these versions of it; returns its URL, which is gone by then."""
    async with Origin() as site:
        site.pages[path] = Page(versions[0])
        await asyncio.to_thread(installation.call, "watch", "add", site.url(path))
        for version in versions[1:]:
            site.pages[path] = Page(version)
            await asyncio.to_thread(installation.call, "check", site.url(path))
        return site.url(path)


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


async def events_of(installation: Installation) -> list[dict[str, Any]]:
    """All alerts, newest first."""
    listed = (await call(installation, "alerts", "list")).records
    return [(await call(installation, "alerts", "show", alert["id"])).records[0]["event"] for alert in listed]
