"""Steps carried out by a real browser on pages of our own, which it is given without any network."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Route, async_playwright

from tocsin.adapters.browser import steps as carried
from tocsin.adapters.browser.steps import StepSetting, carry_out, refuse_consent, refuse_failed
from tocsin.errors import FetchFailed
from tocsin.ports.browser import StepResult
from tocsin.spec.html.whole import check_selector
from tocsin.spec.steps import read_steps

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHROMIUM: Final = shutil.which("chromium-headless-shell") or shutil.which("chromium")
SITE: Final = "https://www.example.org"
ELSEWHERE: Final = "https://login.example.net"
SECRETS: Final = {"USER": "ada", "PASSWORD": "analytical engine"}
LOGIN: Final = ["fill #user USER", "fill #password PASSWORD", "press Enter"]

_FORM: Final = """<form method=post action=/account>
<input id=user name=user><input id=password name=password type=password><button id=go>Log in</button></form>"""

# By path: pages in the shapes that sites have.
PAGES: Final = {
    "/more": """<ul id=list><li>one</ul><button class=more>Load more</button><script>
        document.querySelector('.more').onclick = () => setTimeout(() =>
            document.querySelector('#list').insertAdjacentHTML('beforeend', '<li>two'), 50)</script>""",
    "/shadow": """<x-more></x-more><p id=out></p><script>customElements.define('x-more', class extends HTMLElement {
        constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<button class=more>More</button>';
        this.shadowRoot.firstChild.onclick = () => document.querySelector('#out').textContent = 'two' } })</script>""",
    "/long": """<style>p {height: 700px}</style><p>0<p>1<p id=end>2<script>let n = 3; onscroll = () => {
        if (n < 6 && scrollY + innerHeight > document.body.scrollHeight - 50)
            document.body.insertAdjacentHTML('beforeend', `<p>${n++}`) }</script>""",
    "/keys": """<input id=q autofocus><p id=out></p><script>
        q.onkeydown = event => out.textContent += event.key + ' '; q.focus()</script>""",
    "/hidden": "<button class=more style='display:none'>More</button><button disabled id=off>Off</button>",
    "/covered": "<button class=more>More</button><div style='position:fixed;inset:0'>Wait</div>",
    "/adverts": "<div class=ad>Buy</div><p>Text<div class=ad>Buy</div>",
    "/framed": "<iframe srcdoc='<button class=more>More</button>'></iframe>",
    "/leaving": f"<button class=more>More</button><script>setTimeout(() => location = '{ELSEWHERE}/', 100)</script>",
    "/stuck": "<button class=more onclick='for (;;);'>More</button>",
    "/reflecting": _FORM
    + """<p id=out></p><script>user.oninput = () => user.setAttribute('value', user.value);
        document.forms[0].onsubmit = () => { out.textContent = 'sent'; return false }</script>""",
    "/english": """<p>News</p><script>const said = what => { box.remove(); document.title = what };
        setTimeout(() => document.body.insertAdjacentHTML('beforeend', `<div id=box>We use cookies to measure visits.
        <button onclick="said('all')">Accept all</button> <button onclick="said('none')">Reject all</button></div>`),
        300)</script>""",
    "/german": """<title>-</title><p>Nachrichten<div role=dialog style="position:fixed;bottom:0;width:100%">
        Wir verwenden Cookies und verarbeiten Ihre Daten.
        <button onclick="document.title = 'all'">Alle akzeptieren</button>
        <a href=#einstellungen>Einstellungen</a>
        <span role=button onclick="document.title = 'none'">Nur notwendige Cookies</span></div>""",
    "/banner-in-shadow": """<title>-</title><div id=host></div><script>
        host.attachShadow({mode: 'open'}).innerHTML = `<div>This site asks for your consent to tracking.
        <button>Agree</button><button id=no>Decline</button></div>`;
        host.shadowRoot.getElementById('no').onclick = () => document.title = 'none'</script>""",
    "/product": """<title>-</title><div class=cmplz-cookiebanner><button class=cmplz-accept>Ja</button>
        <button class=cmplz-deny onclick="document.title = 'none'">Ich nicht</button></div>""",
    "/invitation": """<title>-</title><p>You are invited. <button onclick="document.title = 'none'">Decline</button>""",
}


class Site:
    """Answers for two origins; `/account` is shown only with the cookie that its login sets."""

    async def answer(self, route: Route) -> None:
        request = route.request
        path = "/" + request.url.split("/", 3)[3]
        headers = {"content-type": "text/html; charset=utf-8"}
        if path == "/account":
            sent = request.post_data or ""
            if "user=ada" in sent and "password=analytical+engine" in sent:
                headers["set-cookie"] = "session=1; Path=/; HttpOnly"
            is_in = "set-cookie" in headers or "session=1" in (await request.all_headers()).get("cookie", "")
            body = "<h1>Hello Ada</h1><p id=news>News for members" if is_in else _FORM
        else:
            body = PAGES.get(path, _FORM)
        await route.fulfill(status=200, headers=headers, body=f"<!doctype html>{body}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no browser is installed: apt-get install chromium-headless-shell")
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        await found.close()


@pytest_asyncio.fixture(loop_scope="module")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    found = await browser.new_context()
    await found.route("**/*", Site().answer)
    yield found
    await found.close()


@pytest_asyncio.fixture(loop_scope="module")
async def page(context: BrowserContext) -> Page:
    return await context.new_page()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements that never come are waited for briefly."""
    monkeypatch.setattr(carried, "_STEP_S", 1.0)
    monkeypatch.setattr(carried, "_LOGIN_S", 0.3)
    monkeypatch.setattr(carried, "_PAUSE_S", 0.2)


async def _carry_out(
    page: Page, path: str, steps: Sequence[str], *, origin: str = SITE, has_cookies: bool = False
) -> tuple[StepResult, ...]:
    async def settle() -> None:
        await page.wait_for_load_state("load")
        await page.wait_for_timeout(100)

    await page.goto(f"{origin}{path}")
    setting = StepSetting(f"{SITE}{path}", SECRETS, settle, has_cookies=has_cookies)
    return await carry_out(page, read_steps(steps, check_selector), setting)


@pytest.mark.parametrize(
    ("path", "steps", "text"),
    [
        ("/more", ["click .more", "wait li:nth-child(2)"], "two"),
        ("/shadow", ["click .more"], "two"),
        ("/keys", ["press ArrowDown", "press Escape"], "ArrowDown Escape"),
        ("/account", LOGIN, "News for members"),
        ("/account", [*LOGIN[:2], "click #go", "wait #news"], "News for members"),
        ("/long", ["scroll"], "5"),
        ("/adverts", ["hide .ad"], "Text"),
        ("/more", ["wait 50ms", "click button:nth-of-type(1)"], "two"),
    ],
)
async def test_steps_are_carried_out_in_order(page: Page, path: str, steps: list[str], text: str) -> None:
    results = await _carry_out(page, path, steps)

    assert [(result.step, result.outcome) for result in results] == [(step, "done") for step in steps]
    assert text in await page.inner_text("body")


@pytest.mark.parametrize(
    ("path", "steps", "why"),
    [
        ("/adverts", ["scroll", "hide .ad", "click .more"], "step 3, click .more: no element"),
        ("/hidden", ["click .more"], "step 1, click .more: the element is not visible"),
        ("/hidden", ["click #off"], "step 1, click #off: the element is disabled"),
        ("/covered", ["click .more"], "step 1, click .more: another element covers it, or it keeps moving"),
        ("/framed", ["click .more"], "step 1, click .more: no element"),
        ("/hidden", ["wait .more"], "step 1, wait .more: the element is not visible"),
        (
            "/adverts",
            ["fill p USER"],
            "step 1, fill p USER: the element is no field that can be filled in, or the page",
        ),
        ("/account", ["fill #user NAME"], "step 1, fill #user NAME: the page has no secret NAME; set it with --secret"),
        ("/stuck", ["click .more"], "step 1, click .more: the page does not answer"),
    ],
)
async def test_a_step_that_fails_ends_the_steps_and_says_why(page: Page, path: str, steps: list[str], why: str) -> None:
    results = await _carry_out(page, path, [*steps, "scroll"])

    assert len(results) == len(steps)
    with pytest.raises(FetchFailed, match=r"^https://www\.example\.org/") as caught:
        refuse_failed(f"{SITE}{path}", results)
    assert caught.value.kind == "step"
    assert caught.value.detail.startswith(why)


async def test_what_is_hidden_is_no_text_of_the_page(page: Page) -> None:
    (result,) = await _carry_out(page, "/adverts", ["hide .ad"])

    assert result.detail == "2 hidden"
    assert (await page.inner_text("body")).strip() == "Text"
    assert (await page.content()).count('class="ad" hidden=""') == 2


@pytest.mark.parametrize(
    ("path", "origin", "steps"),
    [("/account", ELSEWHERE, LOGIN), ("/leaving", SITE, ["wait #user", *LOGIN])],
)
async def test_a_secret_is_typed_at_the_origin_of_the_page_alone(
    page: Page, path: str, origin: str, steps: list[str]
) -> None:
    results = await _carry_out(page, path, steps, origin=origin)

    assert results[-1].outcome == "failed"
    assert results[-1].detail == (
        f"the page is at {ELSEWHERE}; if USER belongs there, write: fill #user USER at {ELSEWHERE}"
    )
    assert await page.input_value("#user") == ""


async def test_a_step_may_name_another_origin_for_its_secret(page: Page) -> None:
    steps = [f"fill #user USER at {ELSEWHERE}", f"fill #password PASSWORD at {ELSEWHERE}", "press Enter"]

    results = await _carry_out(page, "/account", steps, origin=ELSEWHERE)

    assert [result.outcome for result in results] == ["done"] * 3
    assert "News for members" in await page.inner_text("body")


async def test_cookies_of_a_login_make_the_next_visit_leave_it_out(page: Page) -> None:
    await _carry_out(page, "/account", LOGIN)

    results = await _carry_out(page, "/account", [*LOGIN, "wait #news"], has_cookies=True)

    assert [(result.outcome, result.detail) for result in results] == [("skipped", "logged in already")] * 3 + [
        ("done", "")
    ]


async def test_a_login_that_ended_is_made_again(page: Page) -> None:
    results = await _carry_out(page, "/account", [*LOGIN, "wait #news"], has_cookies=True)

    assert [result.outcome for result in results] == ["done"] * 4


async def test_a_field_that_is_missing_amid_a_login_is_a_failure(page: Page) -> None:
    results = await _carry_out(page, "/account", ["fill #user USER", "fill #code PASSWORD"], has_cookies=True)

    assert [result.outcome for result in results] == ["done", "failed"]


async def test_what_was_typed_is_in_no_attribute_of_the_page(page: Page) -> None:
    results = await _carry_out(page, "/reflecting", LOGIN)

    assert [result.outcome for result in results] == ["done"] * 3
    assert "ada" not in await page.content()


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/english", "Reject all"),
        ("/german", "Nur notwendige Cookies"),
        ("/banner-in-shadow", "Decline"),
        ("/product", "Ich nicht"),
    ],
)
async def test_cookies_are_refused(page: Page, path: str, label: str) -> None:
    await page.goto(f"{SITE}{path}")

    result = await refuse_consent(page, _nothing)

    assert (result.outcome, result.detail) == ("done", f'clicked "{label}"')
    assert await page.title() == "none"


@pytest.mark.parametrize("path", ["/invitation", "/more"])
async def test_a_page_that_asks_for_no_consent_is_left_as_it_is(page: Page, path: str) -> None:
    await page.goto(f"{SITE}{path}")
    before = await page.content()

    result = await refuse_consent(page, _nothing)

    assert (result.outcome, result.detail) == ("done", "no button found that refuses")
    assert await page.content() == before


async def _nothing() -> None:
    """Wait for nothing."""
