"""The pictures of the manual, made anew: `python -m tests.web.screenshots [FOLDER]`, docs/screenshots without one.

A real service watches a town for three weeks, in some seconds, and is looked at in a browser.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.async_api import Browser, BrowserContext, ViewportSize, async_playwright

from tests.conftest import ROOT
from tests.fakes import SeededChance
from tests.web.conftest import CHROMIUM
from tests.web.living import Living, townspeople
from tests.web.town import COUNCIL, EDITIONS, PRESS, STANDARD
from tocsin.engine.alerting.messages import message_of
from tocsin.engine.judging.events import EventWriter
from tocsin.model import ActivityRow

DAY_S: Final = 86_400
LATE: Final = (19 * DAY_S, 12 * DAY_S, 5 * DAY_S, 1500)
"""How long ago each edition of the town was published."""
SPANS_OF_A_DAY: Final = 288
SPAN_US: Final = 300_000_000
MADE_UP: Final = 1_795_249_325_123_000
"""2026-11-21T08:22:05.123Z."""
MOST_BYTES: Final = 180_000
OTHER_LOOKS: Final = {"page": "dark", "changes": "telephone"}
"""Pictures that are taken in another look, too, beside the light one."""


async def make(folder: Path) -> None:
    """Make all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home:
        async with Living.at(Path(home)) as living, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            await _mail(browser, folder)
            await _first(living, browser, folder)
            await _live(living)
            token = await _token(living)
            for path, name in await _wanted(living):
                for look in filter(None, ("light", OTHER_LOOKS.get(name))):
                    context = await _context(browser, look)
                    await _log_in(context, living, token)
                    await _take(context, living.url + path, folder / f"{name}-{look}.png")
                    await context.close()
            await browser.close()


async def _context(browser: Browser, look: str) -> BrowserContext:
    size: ViewportSize = {"width": 360, "height": 740} if look == "telephone" else {"width": 1280, "height": 860}
    return await browser.new_context(viewport=size, color_scheme="dark" if look == "dark" else "light")


async def _mail(browser: Browser, folder: Path) -> None:
    """A mail, as its program shows it."""
    writer = EventWriter("newsdesk", SeededChance(), public_url="https://tocsin.example.org/")
    context = await browser.new_context(viewport={"width": 760, "height": 480}, color_scheme="light")
    page = await context.new_page()
    await page.set_content(message_of(writer.example_event(MADE_UP), "en").html)
    await page.screenshot(path=folder / "mail-light.png")
    await context.close()


async def _first(living: Living, browser: Browser, folder: Path) -> None:
    """A first start, before anything is watched."""
    context = await _context(browser, "light")
    await _take(context, f"{living.url}/", folder / "first-start-light.png")
    await context.close()


async def _live(living: Living) -> None:
    """Let the service live through three weeks, a start for each edition."""
    await living.stop()
    for edition in range(1, EDITIONS + 1):
        living.home.late_s = LATE[edition - 1]
        await living.start()
        if edition == 1:
            await living.watch(townspeople()[:-1])
        living.town.publish(edition)
        await living.check()
        await living.stop()
    living.home.late_s = 0
    await _day(living)
    await living.start()


async def _day(living: Living) -> None:
    """Note what a service of some thousand pages does in a day: more by day than by night, and a bad half hour."""
    now = time.time_ns() // 1000
    async with living.home.store() as store:
        for step in range(1, SPANS_OF_A_DAY):
            day = 1 - math.cos(2 * math.pi * step / SPANS_OF_A_DAY)
            checks, is_bad = int(60 + 70 * day + step * 37 % 23), 100 <= step < 106
            outcomes = {
                "unchanged": checks,
                "minor": int(2 * day + step % 3),
                "major": 1 if step % 9 == 0 else 0,
                "unreachable": checks // 4 if is_bad else step % 5 // 4,
            }
            told, number = outcomes["minor"] + outcomes["major"], sum(outcomes.values())
            row = ActivityRow(
                now - step * SPAN_US,
                {outcome: number for outcome, number in outcomes.items() if number},
                alerts=told,
                rendered=told,
                wire_bytes=checks * 9_000,
                saved_bytes=checks * 41_000,
                delays={"1000": number - step % 3, "5000": step % 3},
                delivered=told,
            )
            await store.note_activity(row)


async def _token(living: Living) -> str:
    called = await living.home.call("token", "add", "manual", "--scope", "admin")
    return next(word for word in called.out.replace('"', " ").split() if word.startswith("tcs_"))


async def _log_in(context: BrowserContext, living: Living, token: str) -> None:
    page = await context.new_page()
    await page.goto(f"{living.url}/login")
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Log in").click()
    await page.wait_for_url(lambda url: not url.endswith("/login"))
    await page.close()


async def _wanted(living: Living) -> list[tuple[str, str]]:
    async with living.home.store() as store:
        rows = [await store.page(url) for url in (COUNCIL, STANDARD, PRESS)]
    council, standard, press = [row.id for row in rows if row is not None]
    return [
        ("/pages", "pages"),
        (f"/pages/{council}", "page"),
        (f"/pages/{council}#held", "page-data"),
        (f"/pages/{press}/text", "page-text"),
        (f"/pages/{standard}/settings", "page-settings"),
        ("/changes", "changes"),
        ("/questions", "questions"),
        ("/activity", "activity"),
        ("/notifications", "notifications"),
        ("/settings", "settings"),
    ]


async def _take(context: BrowserContext, url: str, file: Path) -> None:
    page = await context.new_page()
    await page.goto(url)
    await page.screenshot(path=file)
    await page.close()
    size = file.stat().st_size
    print(f"{file.name}: {size:,} bytes{' (too large)' if size > MOST_BYTES else ''}")  # noqa: T201 - what it is called for


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots"))
