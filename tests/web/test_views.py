"""Changes, questions, activity and settings in a real browser, on a store that real checks have filled."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.web.living import Living
from tests.web.looking import PATIENCE_MS, Window

pytestmark = pytest.mark.asyncio(loop_scope="module")


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
