"""Every screen, in a real browser on a store that real checks have filled: for all who look, however they look."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, Literal
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.web.living import Living
from tests.web.looking import DESK, Window
from tests.web.pictured import keep_pictures
from tests.web.town import COUNCIL, EVIL, PRESS, STANDARD
from tocsin.model import AlertQuery
from tocsin.spec.html.urls import watch_url

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL_GROUP: Final = "<b>&amp;{{7*191}}"
SCREENS: Final = (
    "/changes",
    "/changes?show=problems",
    "/changes?show=all&by=page&diff=sides&open=all",
    "/changes/{alert}",
    "/changes?group=" + quote(EVIL_GROUP),
    "/pages",
    "/pages?more=1",
    "/pages?view=problems",
    "/pages?q=harbour.example&by=host",
    "/pages?q=councl",
    "/pages/{council}",
    "/pages/{council}?diff=sides",
    "/pages/{evil}",
    "/pages/{press}/text",
    "/pages/{evil}/text",
    "/pages/{council}/pictures",
    "/pages/{press}/pictures",
    "/pages/{standard}/settings",
    "/pages/{evil}/settings",
    "/add",
    "/questions",
    "/questions?show=standing",
    "/questions/{question}",
    "/notifications",
    "/notifications/route",
    "/notifications/channel?type=webhook",
    "/notifications/digests",
    "/notifications/preview?channel=log",
    "/activity",
    "/activity/jobs",
    "/activity/dead",
    "/machines",
    "/rules",
    "/settings",
    "/settings/groups",
    "/settings/group?name=" + quote(EVIL_GROUP),
    "/settings/force",
    "/settings/access",
    "/settings/audit",
    "/api/docs",
    "/login",
    "/nowhere",
)
WIDTHS: Final = (320, 390, 640, DESK)
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
# Looks in which axe applies all its rules: each scheme, the widest and the narrowest window.
WHOLE: Final = {(DESK, "light"), (320, "dark")}
# What else depends on the width; the contrast of colours does not.
OF_WIDTH: Final = ("scrollable-region-focusable", "aria-hidden-focus", "link-name", "region")
MOST_BYTES: Final = 50_000
MOST_PLACES: Final = 120
FOREIGN: Final = (
    # The frame to pick parts in runs no script; that of a mail's preview may run nothing, and has a policy of its own.
    "img, iframe:not([sandbox=allow-same-origin]):not(.mail[sandbox='']), object, embed, base, main b:has-text('amp')"
)
TOO_WIDE: Final = """[...document.querySelectorAll("body *")].filter((each) =>
  each.getBoundingClientRect().right > innerWidth + 0.5 && !each.closest(".rail, .chips, .scroll"))
  .slice(0, 4).map((each) => each.outerHTML.slice(0, 120))"""
# What a part that hides its overflow would cut off.
STICKING_OUT: Final = """[...document.querySelectorAll("main :is(button, input, select, h1, h2, p, dd, iframe)")]
  .filter((each) => each.offsetParent && !each.closest(".scroll, .hidden, .chips, .bulk, pre, svg"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 120))"""
TARGETS: Final = """all => all.flatMap(each => [each.href, each.src, each.action, each.formAction])
  .filter(at => typeof at === 'string' && at && !at.startsWith("http://") && !at.startsWith("https://"))"""
AWAY: Final = "all => all.filter(each => !each.relList.contains('noreferrer')).map(each => each.getAttribute('href'))"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def screens(living: Living) -> dict[str, str]:
    """The address of each screen, by how the table has it."""
    async with living.home.store() as store:
        named = {"council": COUNCIL, "press": PRESS, "standard": STANDARD, "evil": EVIL}
        rows = {name: await store.page(watch_url(url).url) for name, url in named.items()}
        ids = {name: row.id for name, row in rows.items() if row is not None}
        alert = (await store.browse_alerts(AlertQuery(page_id=ids["evil"]))).rows[0]
        (question, *_) = await store.questions()
        await keep_pictures(living.home.folder / "tocsin.db", store, rows["council"])
    values: dict[str, object] = {**ids, "alert": alert.id, "question": question.id}
    return {path: path if "{{" in path else path.format(**values) for path in SCREENS}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def window(living: Living, browser: Browser) -> AsyncIterator[Window]:
    async with Window.on(browser, living.url) as found:
        yield found


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_screen_is_accessible_and_fits_every_window_in_light_and_dark(
    window: Window, screens: dict[str, str], screen: str
) -> None:
    wrong: list[str] = []
    # How lists are shown is kept in a cookie.
    await window.page.context.clear_cookies()
    await window.go(screens[screen])
    for width in WIDTHS:
        await window.page.set_viewport_size({"width": width, "height": 800})
        for scheme in SCHEMES:
            await window.page.emulate_media(color_scheme=scheme)
            rules = () if (width, scheme) in WHOLE else OF_WIDTH
            wrong += [f"{width}, {scheme}: {each}" for each in await window.complaints(rules)]
        if (over := await window.overflow()) > 0:
            wrong.append(f"{width}: {over} px too wide: {await window.page.evaluate(TOO_WIDE)}")

    assert wrong == []


@pytest.mark.parametrize("screen", SCREENS)
async def test_whatever_a_page_says_does_nothing_in_a_screen(
    window: Window, screens: dict[str, str], screen: str
) -> None:
    """Counterparts: CVE-2025-52558, CVE-2025-62780, CVE-2026-27645, CVE-2026-29038, CVE-2023-27592 (what pages, URLs
    and errors say ran as script), CVE-2024-32651 (template braces), CVE-2023-24769 (names of groups),
    GHSA-4j9m-cxq4-9c36 (CSS), GHSA-44pq-9929-f8mq (`javascript:` links), CVE-2025-32015 (frames and form actions).
    """
    page = window.page
    await window.go(screens[screen])
    shown = (await page.inner_text("body")).replace("7*191", "")

    assert await page.evaluate("window.hit") is None
    assert await page.locator(FOREIGN).count() == 0
    assert "36481" not in shown
    assert "1337" not in shown
    assert not any(ord(letter) in range(0x202A, 0x202F) or letter == "\x1b" for letter in shown)
    targets = await page.eval_on_selector_all("[href], [src], [action], [formaction]", TARGETS)
    # The bookmark for a browser is the only link that is a program, and our own.
    assert [each for each in targets if not (screen == "/add" and each.startswith("javascript:location.href="))] == []
    assert await page.eval_on_selector_all("a[href^='http']", AWAY) == []
    assert (window.elsewhere, window.dialogs) == ([], [])
    answer = await page.request.get(page.url)
    assert len(await answer.body()) <= MOST_BYTES
    # "/nowhere" is not there.
    assert [each for each in window.said if "404 (Not Found)" not in each] == []


async def by_keyboard(window: Window) -> list[str]:
    """What no key leads to, or has no ring when it has the focus."""
    places = await window.walk(MOST_PLACES)
    # What Tab leads to besides: fields, summaries, frames.
    there = await window.page.locator("main a[href]:visible, main button:visible").count()
    reached = sum(place["tag"] in ("A", "BUTTON") for place in places)
    # Within a frame its own document has the focus.
    return [str(place) for place in places if not place["ring"] and place["tag"] != "IFRAME"] + ["unreachable"] * (
        reached < there and len(places) < MOST_PLACES
    )


async def as_it_is(window: Window) -> list[str]:
    """What is wrong with a screen that has no script, or other colours."""
    visible = await window.page.locator("h1:visible").count()
    over = await window.overflow()
    return [f"{visible} titles"] * (visible != 1) + [f"{over} px too wide"] * (over > 0)


async def in_long_words(window: Window) -> list[str]:
    """What is wrong with a screen in German, whose words are the longest."""
    out: list[str] = await window.page.evaluate(STICKING_OUT)
    return [*await as_it_is(window), *out]


async def on_paper(window: Window) -> list[str]:
    """What is wrong with a printed screen: it has no frame."""
    await window.page.emulate_media(media="print")
    frame = await window.page.locator("header.head:visible, nav.low:visible, .foot:visible, .bulk:visible").count()
    return [f"{frame} parts of the frame"] * bool(frame) + await as_it_is(window)


@pytest.mark.parametrize(
    ("ask", "each", "options"),
    [
        # A key is pressed for each link and button: on every third screen.
        pytest.param(by_keyboard, 3, {}, id="keyboard"),
        pytest.param(as_it_is, 1, {"java_script_enabled": False, "width": 390}, id="no script"),
        pytest.param(as_it_is, 1, {"forced_colors": "active", "width": 390}, id="forced colours"),
        pytest.param(in_long_words, 1, {"width": 320, "locale": "de-DE"}, id="German"),
        pytest.param(on_paper, 1, {}, id="print"),
    ],
)
async def test_every_screen_can_be_used_however_one_looks_at_it(
    living: Living,
    browser: Browser,
    screens: dict[str, str],
    ask: Callable[[Window], Awaitable[list[str]]],
    each: int,
    options: dict[str, Any],
) -> None:
    async with Window.on(browser, living.url, **options) as window:
        wrong = {}
        for path in list(screens.values())[::each]:
            await window.go(path)
            if found := await ask(window):
                wrong[path] = found

    assert [f"{path}: {one}" for path, found in wrong.items() for one in found] == []
