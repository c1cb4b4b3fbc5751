"""*Settings of a page*: what settings compare is seen before they are saved, with scripts and without."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, expect

from tests.contract.desk import A
from tests.web.asking import Reader, words_of
from tests.web.living import Living
from tests.web.looking import Window
from tests.web.town import STANDARD
from tocsin.errors import FetchFailed
from tocsin.model import KeptLogin, PageFlags, PagePicture, StepResult

PATH = "/pages/1/settings"
PAGE = b"""<!doctype html><title>Agenda</title><main><h1>Agenda of the council</h1>
<p id=date>The council meets on Friday in the large hall</p>
<div class=market>Visit the winter market, open until the end of the year!</div></main>"""
MARKET = "Visit the winter market, open until the end of the year!"


@pytest.fixture
async def tried(reader: Reader) -> Reader:
    """A page that is watched, and received when it is tried."""
    await reader.desk.watch(A)
    reader.rig.service.bodies[A] = PAGE
    return reader


async def test_a_test_shows_what_would_be_compared_and_saves_nothing(tried: Reader) -> None:
    answer = await tried.send(PATH, do="preview", ignore=".market, .cookies", every="6h")

    said = words_of(answer.text)
    assert answer.status_code == 200
    assert "This would be compared 3 of 4 parts" in said
    assert f"{MARKET} left out by .market" in said
    assert ".market leaves out 1 part" in said
    assert ".cookies matches nothing on this page Remove" in said
    assert 'value="6h"' in answer.text
    assert (await tried.desk.page(A)).settings == {}


async def saved(reader: Reader, **fields: str) -> int:
    """Save the form as it is, with these fields; returns the status of the answer."""
    revision = re.search(r'name="revision" value="(\d+)"', await reader.read(PATH))
    assert revision is not None
    return (await reader.send(PATH, revision=revision[1], **fields)).status_code


async def test_steps_have_a_line_each_and_are_saved_in_order(tried: Reader) -> None:
    status = await saved(tried, steps="click a, .more\r\nwait #list\r\n", fetch="browser")
    shown = await tried.read(PATH)

    assert (await tried.desk.page(A)).settings == {"fetch": "browser", "steps": ["click a, .more", "wait #list"]}
    assert ">click a, .more\nwait #list</textarea>" in shown
    assert status == 303


async def test_a_step_that_cannot_be_read_is_refused_beside_its_field(tried: Reader) -> None:
    answer = await tried.send(PATH, steps="scroll\r\nclick a[")

    assert answer.status_code == 422
    assert "step 2, column 7" in words_of(answer.text)


async def test_a_test_of_steps_says_what_each_of_them_did(tried: Reader) -> None:
    tried.rig.service.steps = (
        StepResult("click .more", "done"),
        StepResult("wait #list", "failed", "the element is not visible"),
    )

    answer = await tried.send(PATH, do="preview", fetch="browser", steps="click .more\r\nwait #list")

    said = words_of(answer.text)
    assert "click .more done" in said
    assert "wait #list failed: the element is not visible" in said
    assert MARKET in said
    assert tried.rig.service.on_trial == [{"fetch": "browser", "steps": ["click .more", "wait #list"]}]
    assert (await tried.desk.page(A)).settings == {}


async def test_a_test_in_a_browser_shows_the_picture_that_it_took_and_stores_it_nowhere(tried: Reader) -> None:
    picture = f"{PATH}/picture"
    assert (await tried.client.get(picture)).status_code == 404
    tried.rig.service.picture = PagePicture(b"\x89PNG", 1280, 2000)

    answer = await tried.send(PATH, do="preview", fetch="browser")

    assert f'src="{picture}?of=' in answer.text
    assert 'width="1280" height="2000"' in answer.text
    taken = await tried.client.get(picture)
    assert (taken.content, taken.headers["content-type"], taken.headers["cache-control"]) == (
        b"\x89PNG",
        "image/png",
        "no-store",
    )
    assert await tried.desk.store.pictures_of((await tried.desk.page(A)).id, limit=9) == []
    tried.rig.clock.set_wall(tried.rig.clock.now() + 601 * 1_000_000)
    assert (await tried.client.get(picture)).status_code == 404


async def test_a_secret_is_added_to_those_of_the_page_and_never_shown(tried: Reader) -> None:
    await saved(tried, **{"secret-name": "USER", "secret-value": "ada"})
    await saved(tried, **{"secret-name": "PASSWORD", "secret-value": "p4ss"})
    refused = await tried.send(PATH, **{"secret-name": "my name", "secret-value": "p5ss"})
    shown = await tried.read(PATH)

    assert (await tried.desk.page(A)).settings == {"secrets": {"USER": "ada", "PASSWORD": "p4ss"}}
    assert (refused.status_code, "a name of letters, digits" in refused.text) == (422, True)
    assert not {"p4ss", "p5ss"} & {*re.findall("p.ss", shown + refused.text)}


async def test_the_cookies_of_a_login_are_forgotten_on_command(tried: Reader) -> None:
    page = await tried.desk.page(A)
    before = await tried.read(PATH)
    await tried.desk.store.keep_login(page.id, KeptLogin("[]", tried.desk.now))
    shown = await tried.read(PATH)
    await saved(tried, **{"forget-login": "yes"})

    assert "forget-login" not in before
    assert "Forget the cookies of the login" in words_of(shown)
    assert await tried.desk.store.login(page.id) is None


async def test_a_selector_that_matches_nothing_is_dropped_with_one_click(tried: Reader) -> None:
    answer = await tried.send(PATH, drop=".cookies", ignore=".market, .cookies")

    assert re.search(r'name="ignore" value="\.market"', answer.text)


@pytest.mark.parametrize(
    ("fields", "ignore"),
    [
        ({"text-4": MARKET, "part-4": "out"}, "div.market"),
        ({"ignore": "p", "text-3": "The council …", "by-3": "p", "part-3": "in"}, ""),
        ({"ignore": "p", "text-2": "Agenda of the council", "part-2": "out"}, "p, h1"),
        ({"text-2": "is not on the page", "part-2": "out"}, ""),
    ],
)
async def test_without_script_two_choices_a_part_make_the_selector(
    tried: Reader, fields: dict[str, str], ignore: str
) -> None:
    answer = await tried.send(PATH, do="preview", **fields)

    assert re.search(rf'name="ignore" value="{re.escape(ignore)}"', answer.text)


async def test_a_page_that_is_not_received_says_why_and_keeps_what_was_typed(tried: Reader) -> None:
    tried.rig.service.bodies[A] = FetchFailed(A, "timeout", "it took too long")

    answer = await tried.send(PATH, do="preview", ignore=".market")

    assert "These settings were not tried. The page could not be received: timeout" in words_of(answer.text)
    assert 'value=".market"' in answer.text


async def test_a_wrong_setting_is_shown_at_its_field_and_not_tried(tried: Reader) -> None:
    answer = await tried.send(PATH, do="preview", every="sometimes")

    assert answer.text.count('aria-invalid="true"') == 1
    assert tried.rig.service.received == []


async def test_a_page_that_is_not_to_be_indexed_is_not_offered_a_trial(tried: Reader) -> None:
    await tried.desk.check(A, flags=PageFlags(noindex=True))

    html = await tried.read(PATH)

    assert 'class="picker"' not in html
    assert "may be indexed" in html


async def test_the_heads_of_the_steps_say_the_values_in_force(tried: Reader) -> None:
    await tried.desk.edit(1, settings={"every": "6h", "ignore": ".market", "tell": "major"})

    said = words_of(await tried.read(PATH))

    major = "When it is major if the page says so, after 3 minor ones, or 80d"
    for head in ("How often every 6h", "What counts all text but .market", major, "Notify me of major changes only"):
        assert head in said


@pytest.mark.asyncio(loop_scope="module")
async def test_a_part_is_picked_on_a_copy_in_which_nothing_runs(living: Living, browser: Browser) -> None:
    async with living.home.store() as store:
        row = await store.page(STANDARD)
    assert row is not None
    async with Window.on(browser, living.url) as window:
        await window.go(f"/pages/{row.id}/settings")
        page = window.page
        await expect(page.locator("#picking")).to_be_visible()
        await expect(page.locator("#trial .blk.counts").last).to_have_text(re.compile("Everything heavier is board"))
        frame = page.frame_locator(".picker iframe")
        place = await frame.locator("p").last.bounding_box()
        assert place is not None

        await page.mouse.click(place["x"] + 5, place["y"] + 5)

        field = page.locator("#f-ignore")
        assert re.fullmatch(r"[\w\s.#:-]*p", await field.input_value())
        await expect(page.locator("#trial .blk.out").last).to_have_text(re.compile("left out by"))
        assert await page.locator(".picker iframe").get_attribute("sandbox") == "allow-same-origin"
        assert (await window.complaints(), window.said, window.elsewhere) == ([], [], [])
