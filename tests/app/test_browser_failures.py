"""Pages that break browsers: each ends as it should, and a good page follows in the same slot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.browsing import CHROMIUM, let, start_of, visit_of
from tests.origin import Origin, Page
from tocsin.app.browser import CellBrowser, open_browser
from tocsin.errors import FetchError, FetchRefused
from tocsin.model import FailureKind

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium-headless-shell is not installed"),
]

# Runs once the page is complete, so that the page would be ready without it.
LATER = "<p>words</p><script>onload = () => setTimeout(() => {{ {} }}, 50)</script>"


def later(code: str) -> str:
    return LATER.format(code)


# What a page does, and as what its visit ends; "": it is received.
PAGES = {
    "loops at once": ("<p>words</p><script>for (;;);</script>", FailureKind.TIMEOUT),
    "loops later": (later("for (;;);"), FailureKind.TIMEOUT),
    "makes elements without end": (
        later(
            "setInterval(() => { for (let i = 0; i < 50000; i++)"
            " document.body.append(document.createElement('p')) }, 5)"
        ),
        FailureKind.TOO_COMPLEX,
    ),
    "fills arrays": (
        later(
            "const all = []; for (let i = 0; i < 200; i++) all.push(new Float64Array(1e6).fill(i)); window.all = all"
        ),
        FailureKind.TOO_COMPLEX,
    ),
    "fills canvases": (
        later(
            "window.all = []; for (let i = 0; i < 60; i++) { const c = document.createElement('canvas');"
            " c.width = c.height = 2048; const x = c.getContext('2d', {willReadFrequently: true});"
            " x.fillRect(0, 0, 2048, 2048); x.getImageData(0, 0, 1, 1); all.push(c) }"
        ),
        FailureKind.TOO_COMPLEX,
    ),
    "fills memory of WebAssembly": (
        later(
            "const m = new WebAssembly.Memory({initial: 10000}); const v = new Uint8Array(m.buffer);"
            " for (let i = 0; i < v.length; i += 4096) v[i] = 1; window.m = m"
        ),
        FailureKind.TOO_COMPLEX,
    ),
    "alerts a million times": (later("for (let i = 0; i < 1e6; i++) alert(i)"), FailureKind.TOO_COMPLEX),
    "starts workers that loop": (
        later("for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(new Blob(['for(;;);']))); for (;;);"),
        FailureKind.TIMEOUT,
    ),
    "starts workers without end": (
        later("setInterval(() => new Worker(URL.createObjectURL(new Blob(['']))), 1)"),
        FailureKind.TOO_COMPLEX,
    ),
    "loads itself again without end": ("<script>location.reload()</script>", FailureKind.TOO_COMPLEX),
    "makes frames without end": (
        later("setInterval(() => document.body.append(document.createElement('iframe')), 1)"),
        FailureKind.TOO_COMPLEX,
    ),
    "floods its history": (
        later("for (let i = 0; i < 1e9; i++) history.pushState(i, '', '#' + i)"),
        FailureKind.TIMEOUT,
    ),
    "fetches without end": (
        later("(async () => { for (;;) await fetch('/part').then(each => each.text()) })()"),
        FailureKind.TOO_COMPLEX,
    ),
    "logs without end": (later("for (;;) console.log('x'.repeat(1000))"), FailureKind.TOO_COMPLEX),
    "asks whether it may be left": (later("onbeforeunload = () => 'stay'"), ""),
    "loops when it is left": (later("onpagehide = () => { for (;;); }"), ""),
    "prints": (later("print()"), ""),
    "opens windows without end": (later("for (let i = 0; i < 100; i++) open('/part')"), ""),
    "asks its server for ever": (later("setInterval(() => fetch('/part'), 100)"), ""),
}


# What breaks a limit is waited for, on slow machines, too; what never ends is not.
HOW: dict[str, dict[str, Any]] = {
    FailureKind.TOO_COMPLEX: {"ready": "css: #never"},
    FailureKind.TIMEOUT: {"ready_s": 2.0, "total_s": 3.0},
    "": {"ready_s": 2.0},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def origin() -> AsyncIterator[Origin]:
    async with Origin() as found:
        found.pages["/good"] = Page("<p>good</p><script>document.querySelector('p').textContent += ' page'</script>")
        found.pages["/part"] = Page("part")
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[CellBrowser]:
    async with open_browser(start_of(slots=1), ("127.0.0.0/8",), lambda _: None) as found:
        yield found


@pytest.mark.parametrize("what", PAGES)
async def test_a_page_that_breaks_browsers_ends_as_it_should_and_the_next_one_is_received(
    what: str, origin: Origin, browser: CellBrowser
) -> None:
    html, kind = PAGES[what]
    origin.pages["/bad"] = Page(html)

    ended = await outcome(browser, origin.url("/bad"), **HOW[kind])
    after = await browser.visit(visit_of(origin.url("/good")), let)

    assert ended == kind
    assert b"<p>good page</p>" in after.body


async def test_a_page_that_floods_its_console_ends_by_what_it_wrote_whatever_else_it_takes(origin: Origin) -> None:
    """All slots share the driver through which it goes, so the other pages would wait."""
    origin.pages["/bad"] = Page(PAGES["logs without end"][0])
    boundless = start_of(slots=1, memory_bytes=2**40, cpu_s=1e6)
    async with open_browser(boundless, ("127.0.0.0/8",), lambda _: None) as browser:
        with pytest.raises(FetchRefused, match="write more than 16 MiB, as to the console") as refusal:
            await browser.visit(visit_of(origin.url("/bad"), ready="css: #never"), let)

    assert refusal.value.kind == FailureKind.TOO_COMPLEX


async def outcome(browser: CellBrowser, url: str, **options: Any) -> str:
    try:
        await browser.visit(visit_of(url, **options), let)
    except FetchError as exc:
        return str(exc.kind)
    return ""
