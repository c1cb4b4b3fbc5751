"""Single keys, in a browser: they move along the items of a list, press what is there, and can be turned off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.web.living import Living
from tests.web.looking import Window

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Each act writes its key into the title.
LIST: Final = """() => {
  const list = document.createElement("ol");
  for (const name of ["a", "b", "c"]) list.insertAdjacentHTML("beforeend", `<li data-item id="${name}">
    <input type="checkbox" aria-label="${name}"><details><summary>${name}</summary>text</details>
    ${["v", "m", "c"].map((key) => `<button type="button" data-key="${key}">${key}</button>`).join("")}</li>`);
  list.insertAdjacentHTML("beforeend", '<a href="#t" data-key="s" aria-current="true">1</a>');
  list.insertAdjacentHTML("beforeend", '<a href="#s" data-key="s">2</a>');
  list.addEventListener("click", (event) => {
    const at = event.target.closest("[data-key]");
    if (at) document.title = at.dataset.key + (at.closest("li")?.id ?? at.textContent);
  });
  const note = Object.assign(document.createElement("textarea"), { id: "note" });
  document.getElementById("main").replaceChildren(list, note);
  document.querySelector(".keys").open = false;
  document.activeElement.blur();
  document.title = "";
}"""
STATE: Final = """() => [
  document.querySelector("[data-item][aria-current]")?.id ?? "", document.title,
  [...document.querySelectorAll("details[open]")].map((each) => each.className || each.parentElement.id).join(" "),
  [...document.querySelectorAll("li :checked")].map((each) => each.parentElement.id).join(" "),
  document.activeElement.id].join("|")"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(living: Living, browser: Browser) -> AsyncIterator[Window]:
    async with Window.on(browser, living.url) as found:
        await found.go("/activity")
        yield found
        assert found.said == []


@pytest_asyncio.fixture(loop_scope="module")
async def window(place: Window) -> Window:
    """A page with a fresh list."""
    await place.page.evaluate(LIST)
    return place


@pytest.mark.parametrize(
    ("keys", "state"),
    [
        ("j", "a||||"),
        ("j j k", "a||||"),
        ("j j j j", "c||||"),
        ("k", "a||||"),
        ("j j o", "b||b||"),
        ("j o o", "a||||"),
        ("j v", "a|va|||"),
        ("j j m", "b|mb|||"),
        ("j c", "a|ca|||"),
        ("j x", "a|||a|"),
        ("s", "|s2|||"),
        ("m", "||||"),
        ("/", "||||find"),
        ("/ j m Escape j m", "a|ma|||"),
        ("?", "||keys||"),
        ("? Escape", "||||"),
        ("j Control+m Alt+m Meta+m", "a||||"),
        ("g g z", "||||"),
    ],
)
async def test_a_key_does_what_the_help_says(window: Window, keys: str, state: str) -> None:
    for key in keys.split():
        await window.page.keyboard.press(key)

    assert await window.page.evaluate(STATE) == state


async def test_nothing_happens_while_a_text_is_typed(window: Window) -> None:
    await window.page.keyboard.press("j")
    await window.page.focus("#note")
    await window.page.keyboard.type("gpmx?/")

    assert await window.page.evaluate(STATE) == "a||||note"
    assert await window.page.input_value("#note") == "gpmx?/"


@pytest.mark.parametrize(
    ("letter", "path"), [("c", "/changes"), ("p", "/pages"), ("q", "/questions"), ("s", "/settings")]
)
async def test_two_keys_go_to_a_place(window: Window, letter: str, path: str) -> None:
    await window.page.keyboard.press("g")
    async with window.page.expect_navigation(url=f"**{path}"):
        await window.page.keyboard.press(letter)


async def test_single_keys_are_turned_off_and_on_again_without_script(living: Living, browser: Browser) -> None:
    async with Window.on(browser, living.url, java_script_enabled=False) as window:
        page, script = window.page, "script[src*='keys.js']"
        for verb, loaded in (("off", 0), ("on", 1)):
            await window.go("/activity")
            await page.locator(".keys summary").click()
            await page.get_by_role("button", name=f"Turn single keys {verb}").click()

            assert await page.locator(script).count() == loaded
            assert await page.locator("kbd:visible").count() == loaded  # The hint in the search field.
