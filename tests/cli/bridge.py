"""A page about a bridge, whose text, date and counter change, and how `tocsin signals` shows it."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.cli.calling import Answer, Installation
from tests.cli.terminal import on_terminal
from tests.origin import Origin, Page

PAGE = """<!doctype html><title>The bridge</title>
<script type=application/ld+json>{{"@type": "Article", "dateModified": "{modified}"}}</script>
<main><h1>The bridge</h1><p>{text}</p><p>Visitors: {visitors}</p><p id=price>12.50</p>
<nav><a href=/>Home</a> <a href=/all>All the other pages</a></nav></main>"""
PLANNED = "The council has planned a bridge over the river, and nobody knows when it will come."
BUILT = "The bridge over the river was built in spring, and people walk on it every day."


def page(text: str = PLANNED, *, modified: str = "2024-05-01", visitors: int = 1) -> Page:
    body = PAGE.format(text=text, modified=modified, visitors=visitors)
    return Page(body, etag=f'"{visitors}"', last_modified="Wed, 01 May 2024 10:00:00 GMT")


async def call(installation: Installation, *arguments: str) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments)


async def seen(installation: Installation, *arguments: str) -> dict[str, Any]:
    answer = await call(installation, "signals", *arguments, "--json")
    assert answer.status == 0, answer.err
    (record,) = answer.records
    return record


async def shown(installation: Installation, *arguments: str) -> str:
    config = str(installation.folder / "tocsin.toml")
    status, text = await asyncio.to_thread(
        on_terminal, "--config", config, "signals", *arguments, cwd=installation.folder
    )
    assert status == 0, text
    return text


def value_of(record: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in record["signals"] if each["signal"] == name)
    return found


async def restless(installation: Installation, site: Origin, path: str = "/bridge", times: int = 4) -> str:
    """Check a page whose counter of visitors changes each time; returns its URL."""
    url = site.url(path)
    for visitors in range(times):
        site.pages[path] = page(visitors=10 + visitors)
        await call(installation, "check", url)
    return url
