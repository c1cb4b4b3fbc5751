"""The pages in a real browser, on a store that real checks have filled; every promise is one to the people who look."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from playwright.async_api import Browser, Route

from tests.journey.running import until
from tests.web.living import Living
from tests.web.looking import Window
from tests.web.town import EVIL, GONE
from tocsin.spec.html.urls import watch_url

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def id_of(living: Living, url: str) -> int:
    async with living.home.store() as store:
        row = await store.page(watch_url(url).url)
    assert row is not None
    return row.id


async def test_the_copy_that_parts_are_picked_from_has_nothing_that_acts_or_loads(
    living: Living, browser: Browser
) -> None:
    async with Window.on(browser, living.url) as window:
        await window.go(f"/pages/{await id_of(living, EVIL)}/settings")
        copy = window.page.frame_locator("iframe")
        await copy.locator("body *").first.wait_for(state="attached")

        names = await copy.locator("body *").evaluate_all("all => all.flatMap(each => each.getAttributeNames())")
        tags = await copy.locator("html *").evaluate_all("all => all.map(each => each.localName)")
        assert set(names) <= {"id", "class"}
        assert not set(tags) & {"script", "style", "img", "iframe", "form", "input", "base", "meta", "svg", "object"}
        assert "<script>" in await copy.locator("body").inner_text()
        assert (window.said, window.elsewhere, window.dialogs) == ([], [], [])


async def test_what_a_page_says_is_shown_as_it_is_written(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        await window.go(f"/pages/{await id_of(living, EVIL)}/text")

        shown = await window.page.inner_text("main")

    assert "<script>window.hit=1</script>" in shown
    assert "{{ 7*191 }}${7*191}" in shown


async def test_the_skip_link_goes_to_the_content(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        await window.go("/pages")
        await window.page.keyboard.press("Tab")
        await window.page.keyboard.press("Enter")

        assert await window.page.evaluate("document.activeElement.id") == "main"


async def test_a_page_is_added_paused_and_resumed_by_keyboard_and_without_script(
    living: Living, browser: Browser
) -> None:
    async with Window.on(browser, living.url, java_script_enabled=False) as window:
        page = window.page
        await window.go("/add")
        await page.focus("#urls")
        await page.keyboard.type("http://weather.example/forecast")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Watch it all the same").press("Enter")
        await page.wait_for_url("**/pages/*")
        assert "Added weather.example/forecast" in await page.inner_text("main")

        await page.get_by_role("button", name="Pause").focus()
        await page.keyboard.press("Enter")
        await page.get_by_text("Paused: the page is not checked.").wait_for()
        await page.get_by_role("button", name="Undo: resume it").press("Enter")
        await page.get_by_text("Resumed: the page is checked again.").wait_for()

        await page.get_by_role("button", name="Delete", exact=True).press("Enter")
        await page.get_by_role("button", name="Delete 1 page").press("Enter")
        await page.get_by_text("Deleted weather.example/forecast.").wait_for()


@pytest.mark.parametrize("width", [390, 800, 1280])
async def test_links_lead_to_every_place_in_every_window(living: Living, browser: Browser, width: int) -> None:
    places = {"/changes", "/pages", "/questions", "/notifications", "/activity", "/machines", "/settings"}
    async with Window.on(browser, living.url, width=width) as window:
        await window.go("/pages")
        hrefs = await window.page.locator("a[href]:visible").evaluate_all("all => all.map(each => each.pathname)")

        assert places - set(hrefs) == set()


async def test_a_folded_entry_says_what_changed_on_a_telephone(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url, width=390) as window:
        await window.go("/changes?open=none")
        lines = window.page.locator(".entry .say:not(:empty)")
        heights = await lines.evaluate_all("all => all.map(each => each.offsetHeight)")

        assert heights
        assert min(heights) > 0


async def test_all_pages_shown_are_chosen_with_one_box(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        await window.go("/pages?q=harbour.example&by=host")
        await window.page.get_by_label("Choose all pages shown").check()

        assert await window.page.locator("tbody input:checked").count() == 2


async def test_a_change_is_shown_without_asking_for_the_page_again(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        await window.go("/pages?q=closed.example&by=host")
        await window.page.get_by_text("The server answers 404").wait_for()
        living.town.pages[GONE].status = 200  # type: ignore[union-attr] # one answer, not a list of them
        async with living.home.store() as store:
            row = await store.page(GONE)
            assert row is not None
            assert row.question_id is not None
        await window.page.evaluate("window.same = true")
        await living.check()

        await window.page.get_by_text("The server answers 404").wait_for(state="detached")
        assert await window.page.evaluate("window.same") is True


async def test_a_page_that_nobody_looks_at_keeps_no_connection(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        page = window.page
        await window.go("/")
        closed = page.wait_for_event("requestfailed", lambda request: "/events" in request.url)
        hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});"
        tell = "document.dispatchEvent(new Event('visibilitychange'))"

        (ended, _) = await asyncio.gather(closed, page.evaluate(hide % "true" + tell))
        async with page.expect_request("**/events?live=only"):
            await page.evaluate(hide % "false" + tell)

    assert ended.failure == "net::ERR_ABORTED"


async def test_what_happened_before_anybody_listened_is_shown_too(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url) as window:
        page, checked = window.page, asyncio.Event()

        async def listen(route: Route) -> None:
            await checked.wait()
            await route.continue_()

        await page.route("**/events?live=only", listen)
        await window.go("/add")
        await page.fill("#urls", "http://weather.example/forecast")
        await page.get_by_role("button", name="Look", exact=True).click()
        await page.get_by_role("button", name="Watch it all the same").click()
        await page.get_by_text("Added weather.example/forecast").wait_for()
        row_id = int(page.url.partition("/pages/")[2].partition("?")[0])
        await until(partial(_is_checked, living, row_id), what="a check of the page")
        checked.set()

        await page.locator("#head").get_by_text("not checked yet").wait_for(state="detached")
        await page.get_by_role("button", name="Delete", exact=True).click()
        await page.get_by_role("button", name="Delete 1 page").click()
        await page.get_by_text("Deleted weather.example/forecast.").wait_for()


async def _is_checked(living: Living, row_id: int) -> bool:
    async with living.home.store() as store:
        row = await store.page_by_id(row_id)
    return row is not None and row.last.checked_at is not None


async def test_the_look_is_kept_in_a_cookie(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url, color_scheme="light") as window:
        await window.go("/pages?view=changed")
        await window.page.get_by_role("button", name="dark").click()
        await window.page.wait_for_url("**/pages?view=changed")

        paper = await window.page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert paper == "rgb(18, 21, 24)"
