"""Changes, questions, activity and settings in a real browser, on a store that real checks have filled."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, expect

from tests.web.living import Living
from tests.web.looking import DESK, PATIENCE_MS, TELEPHONE, Window
from tests.web.town import EVIL
from tocsin.model import AlertQuery
from tocsin.spec.html.urls import watch_url

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL_GROUP: Final = "<b>&amp;{{7*191}}"
PATHS: Final = (
    "/changes",
    "/changes?show=all",
    "/changes/{evil}",
    "/changes?group=" + quote(EVIL_GROUP),
    "/questions/{question}",
    "/questions",
    "/questions?show=standing",
    "/activity/jobs",
    "/activity",
    "/notifications",
    "/notifications/route",
    "/notifications/channel?type=webhook",
    "/notifications/digests",
    "/notifications/preview?channel=log",
    "/settings",
    "/settings/groups",
    "/settings/group?name=" + quote(EVIL_GROUP),
    "/settings/force",
    "/settings/access",
    "/settings/audit",
    "/settings/nodes",
    "/api/docs",
)
MOST_BYTES: Final = 50_000


async def paths_of(living: Living) -> list[str]:
    async with living.home.store() as store:
        page = await store.page(watch_url(EVIL).url)
        assert page is not None
        alert = (await store.browse_alerts(AlertQuery(page_id=page.id))).rows[0]
        (question, *_) = await store.questions()
    return [path.format(evil=alert.id, question=question.id) if "{{" not in path else path for path in PATHS]


async def test_these_pages_are_accessible_and_fit_a_desk_in_light(living: Living, browser: Browser) -> None:
    assert await _wrong(living, browser, await paths_of(living), DESK, "light") == []


async def test_these_pages_are_accessible_and_fit_a_telephone_in_the_dark(living: Living, browser: Browser) -> None:
    # Those that have something of their own: a list, a form, charts, tables.
    assert await _wrong(living, browser, (await paths_of(living))[0:12:4], TELEPHONE, "dark") == []


_STICKING_OUT: Final = """() => [...document.querySelectorAll("main :is(button, input, select, h1, h2, p, dd, iframe)")]
    .filter(each => each.offsetParent && !each.closest(".scroll, .hidden, .chips, .bulk, pre, svg"))
    .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.outerHTML.slice(0, 120))"""


async def test_nothing_of_these_pages_sticks_out_of_the_narrowest_window_in_the_longest_words(
    living: Living, browser: Browser
) -> None:
    wrong: list[str] = []
    async with Window.on(browser, living.url, width=320, locale="de-DE") as window:
        for path in await paths_of(living):
            await window.go(path)
            over, out = await window.overflow(), await window.page.evaluate(_STICKING_OUT)
            wrong += [f"{path}: {over} px, {out}"] * bool(over > 0 or out)

    assert wrong == []


@pytest.mark.parametrize("has_script", [True, False])
async def test_what_was_done_is_a_toast_that_can_be_closed(
    living: Living, browser: Browser, *, has_script: bool
) -> None:
    async with Window.on(browser, living.url, java_script_enabled=has_script) as window:
        await window.go("/changes?show=all")
        await window.page.locator("[data-item] details[open] button[data-key=m]").first.click()
        toast = window.page.locator("#told .toast")
        await expect(toast).to_contain_text("1 alert marked as", timeout=PATIENCE_MS)

        # With a script it is told once: the address is that of the page alone.
        assert ("told=" in window.page.url) is not has_script
        await toast.get_by_role("link", name="Close").click()
        await expect(toast).to_have_count(0, timeout=PATIENCE_MS)
        assert "told=" not in window.page.url


async def _wrong(living: Living, browser: Browser, paths: list[str], width: int, scheme: str) -> list[str]:
    wrong: list[str] = []
    async with Window.on(browser, living.url, width=width, color_scheme=scheme) as window:
        for path in paths:
            await window.go(path)
            wrong += [f"{path} at {width}, {scheme}: {each}" for each in await window.complaints()]
            if (over := await window.overflow()) > 0:
                wrong.append(f"{path} at {width}: {over} px too wide")
        return wrong + window.said


async def test_whatever_a_page_says_does_nothing_in_these(living: Living, browser: Browser) -> None:
    """Counterparts: CVE-2025-52558, CVE-2026-27645, CVE-2023-27592 (what pages and errors say ran as script),
    CVE-2024-32651 (template braces), CVE-2023-24769 (names of groups), GHSA-4j9m-cxq4-9c36 (CSS).
    """
    async with Window.on(browser, living.url) as window:
        for path in await paths_of(living):
            await window.go(path)
            shown = await window.page.inner_text("body")

            assert await window.page.evaluate("window.hit") is None, path
            # The frame of a mail's preview may run nothing, and has a policy of its own.
            foreign = "img, iframe:not(.mail[sandbox='']), object, embed, base, main b:has-text('amp')"
            assert await window.page.locator(foreign).count() == 0, path
            assert "1337" not in shown.replace("7*191", ""), path
            assert not any(ord(letter) in range(0x202A, 0x202F) or letter == "\x1b" for letter in shown), path
        assert (window.said, window.elsewhere, window.dialogs) == ([], [], [])


async def test_no_page_of_these_is_larger_than_50_kilobytes(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        for path in await paths_of(living):
            answer = await window.page.request.get(living.url + path)

            assert len(await answer.body()) <= MOST_BYTES, path


async def test_all_of_these_can_be_reached_and_seen_by_keyboard(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        for path in (await paths_of(living))[0:10:3]:
            await window.go(path)
            places = await window.walk()

            there = await window.page.locator("main a[href]:visible, main button:visible").count()
            assert [place for place in places if not place["ring"]] == []
            assert sum(place["tag"] in ("A", "BUTTON") for place in places) >= there


async def test_T60_a_question_is_answered_and_the_rule_lifted_without_script(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url, java_script_enabled=False) as window:
        page = window.page
        await window.go("/questions")
        await page.locator("li", has_text="closed.example").get_by_role("button", name="Never again").click()

        assert "1 page: never again." in await page.inner_text("#told")
        await page.get_by_role("link", name="See standing answers").click()
        await page.locator("tr", has_text="closed.example").get_by_role("button", name="Remove").click()
        assert "removed" in await page.inner_text("#told")


async def test_a_sentence_follows_the_pickers_of_a_route_by_keyboard(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url, width=320, forced_colors="active") as window:
        page = window.page
        await window.go("/notifications/route")
        await page.get_by_role("group", name="Days of the digest").get_by_label("Mon").focus()
        await page.keyboard.press("Space")
        await page.get_by_label("Time 1", exact=True).fill("08:00")

        await expect(page.locator("#sentence")).to_contain_text("One digest each Monday at 08:00", timeout=PATIENCE_MS)
        assert await page.locator("input[name=when]:checked").get_attribute("value") == "times"
        assert (await window.overflow(), window.said) == (0, [])


async def test_days_and_times_are_picked_without_script(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url, java_script_enabled=False) as window:
        await window.go("/notifications/route")
        await window.page.get_by_label("Together, at fixed times").check()
        await window.page.get_by_label("Time 1", exact=True).fill("09:00")
        await window.page.get_by_role("button", name="Preview").click()

        assert "One digest each day at 09:00" in await window.page.inner_text("#sentence")


async def test_a_change_that_is_found_is_counted_and_does_not_move_the_list(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        await window.go("/changes?show=all")
        first = window.page.locator("[data-item] input").first
        before = await first.get_attribute("value")
        living.town.publish(2)
        await living.check()

        await expect(window.page.locator("#news")).to_contain_text("new change", timeout=PATIENCE_MS)
        await expect(first).to_have_attribute("value", str(before))
        await window.page.locator("#news a").click()
        await expect(first).not_to_have_attribute("value", str(before), timeout=PATIENCE_MS)
