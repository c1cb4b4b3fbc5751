"""The browser: what it makes of a page, what it asks of the network, and how its processes come and go."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from tests.browsing import CHROMIUM, let, start_of, visit_of
from tests.origin import Origin, Page, RawOrigin
from tocsin.app.browser import CellBrowser, open_browser
from tocsin.errors import Disallowed, FetchFailed, FetchRefused
from tocsin.events import Happening
from tocsin.model import FailureKind

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium-headless-shell is not installed"),
]

# 127.0.0.2 is refused.
ALLOWED = ("127.0.0.1/32", "127.0.0.3/32")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def happenings() -> list[Happening]:
    return []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(happenings: list[Happening]) -> AsyncIterator[CellBrowser]:
    async with open_browser(start_of(slots=2), ALLOWED, happenings.append) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def origin() -> AsyncIterator[Origin]:
    async with Origin() as found:
        await found.start("127.0.0.2")
        await found.start("127.0.0.3")
        yield found


async def test_the_document_is_read_as_its_scripts_have_made_it(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page(
        "<!doctype html><title>t</title><p></p><script src=/s.js></script>", headers={"X-Own": "1"}
    )
    origin.pages["/s.js"] = Page(
        "fetch('/data').then(each => each.text()).then(text => document.querySelector('p').textContent = text)",
        content_type="text/javascript",
    )
    origin.pages["/data"] = Page("from <afar> ä")

    page = await browser.visit(visit_of(origin.url("/")), let)

    assert page.body.startswith(b"<!DOCTYPE html>\n<html><head><title>t</title>")
    assert "<p>from &lt;afar&gt; ä</p>".encode() in page.body
    assert (page.url, page.documents, page.status) == (origin.url("/"), (origin.url("/"),), 200)
    assert dict(page.headers)["x-own"] == "1"
    assert dict(page.headers)["content-type"] == "text/html; charset=utf-8"
    assert page.is_ready
    assert page.wire_bytes > 0
    assert page.cpu_ms > 0


async def test_the_text_of_web_components_is_read_where_people_see_it(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page(
        "<!doctype html><h1>Board</h1><x-notice><b>given</b></x-notice><p>after</p><script>"
        "customElements.define('x-notice', class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({mode: 'open'}).innerHTML ="
        "'<p>own <slot>empty</slot>, <x-time></x-time></p><template>kept</template>' } });"
        "customElements.define('x-time', class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({mode: 'open'}).innerHTML = '<i>at noon <slot>and later</slot></i>' } })</script>"
    )

    page = await browser.visit(visit_of(origin.url("/")), let)

    assert (
        b"<h1>Board</h1><x-notice><p>own <slot><b>given</b></slot>, "
        b"<x-time><i>at noon <slot>and later</slot></i></x-time></p><template>kept</template></x-notice><p>after</p>"
    ) in page.body


@pytest.mark.parametrize(
    "leading",
    [
        Page(status=302, headers={"Location": "/there"}),
        Page("<script>location = '/there'</script>"),
        Page("<meta http-equiv=refresh content='0;/there'>"),
        Page("<form action=/there></form><script>document.forms[0].submit()</script>"),
    ],
)
async def test_a_further_document_is_asked_for_before_its_request_is_sent(
    browser: CellBrowser, origin: Origin, leading: Page
) -> None:
    origin.pages["/"] = leading
    origin.pages["/there"] = Page("<p>there</p>")
    asked: list[tuple[str, int]] = []

    async def admit(url: str) -> None:
        asked.append((url, len(origin.asked("/there"))))

    page = await browser.visit(visit_of(origin.url("/")), admit)

    there = asked[0][0]
    assert there.rstrip("?") == origin.url("/there")
    assert [before for _, before in asked] == [0]
    assert (page.url, page.documents) == (there, (origin.url("/"), there))
    assert b"<p>there</p>" in page.body


async def test_a_document_that_is_not_admitted_is_never_requested(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page(status=302, headers={"Location": "/there"})

    async def admit(url: str) -> None:
        raise Disallowed(url, "Disallow: /there", None)

    with pytest.raises(Disallowed):
        await browser.visit(visit_of(origin.url("/")), admit)

    assert origin.asked("/there") == []


async def test_the_pages_own_headers_go_to_its_own_origin_alone(browser: CellBrowser, origin: Origin) -> None:
    elsewhere = origin.url("/elsewhere", host="127.0.0.3")
    origin.pages["/"] = Page(
        f"<script src=/s.js></script><script src={elsewhere}></script><script src=/moved></script>"
    )
    origin.pages["/moved"] = Page(status=302, headers={"Location": elsewhere + "?moved"})
    own = (("Authorization", "Basic eDp5"), ("X-Own", "Ã¤"), ("Cookie", "a=1; b=2"))

    await browser.visit(visit_of(origin.url("/"), headers=own), let)

    for path in ("/", "/s.js", "/moved"):
        (asked,) = origin.asked(path)
        assert asked.headers["authorization"] == "Basic eDp5"
        assert asked.headers["cookie"] == "a=1; b=2"
        assert asked.headers["x-own"].encode("utf-8", "surrogateescape") == "ä".encode()
    for path in ("/elsewhere", "/elsewhere?moved"):
        (asked,) = origin.asked(path)
        assert {"authorization", "cookie", "x-own"}.isdisjoint(asked.headers)


async def test_pictures_are_requested_only_for_a_picture_which_is_the_same_each_time(
    browser: CellBrowser, origin: Origin
) -> None:
    origin.pages["/"] = Page(
        "<body style='height: 20000px'>words<img src=/i.png><video src=/v.mp4></video>"
        "<div style='width: 90px; animation: a 1s infinite'>moves</div>"
        "<style>@keyframes a { to { width: 500px } }</style>"
    )

    without = await browser.visit(visit_of(origin.url("/")), let)
    requested = [asked.path for asked in origin.log]
    pictures = [await browser.visit(visit_of(origin.url("/"), wants_picture=True), let) for _ in range(2)]

    assert without.picture is None
    assert requested == ["/"]
    assert [asked.path for asked in origin.log] == ["/", "/", "/i.png", "/", "/i.png"]
    first, second = (page.picture for page in pictures)
    assert first is not None
    assert struct.unpack(">II", first.png[16:24]) == (first.width, first.height) == (1280, 10_000)
    assert first == second


async def test_a_page_sees_the_same_machine_each_time(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page(
        "<p></p><script>document.querySelector('p').textContent = [innerWidth, innerHeight, navigator.language,"
        " Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-reduced-motion)').matches].join()"
        "</script>"
    )

    page = await browser.visit(visit_of(origin.url("/"), language="de", time_zone="Asia/Tokyo"), let)

    assert b"<p>1280,1024,de,Asia/Tokyo,true</p>" in page.body
    agent = origin.log[0].headers["user-agent"]
    assert "Headless" not in agent
    assert agent.startswith("Mozilla/5.0 (")
    assert agent.endswith(" Tocsin/1 (+me)")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/moved", FailureKind.BLOCKED_ADDRESS),
        ("/script", FailureKind.BLOCKED_ADDRESS),
        ("/file", FailureKind.REDIRECT),
    ],
)
async def test_a_document_at_a_refused_address_ends_the_visit_with_the_reason(
    browser: CellBrowser, origin: Origin, happenings: list[Happening], path: str, kind: FailureKind
) -> None:
    refused = origin.url("/refused", host="127.0.0.2")
    origin.pages["/moved"] = Page(status=302, headers={"Location": refused})
    origin.pages["/script"] = Page(f"<script>location = '{refused}'</script>")
    origin.pages["/file"] = Page(status=302, headers={"Location": "file:///etc/passwd"})
    happenings.clear()

    with pytest.raises((FetchRefused, FetchFailed)) as caught:
        await browser.visit(visit_of(origin.url(path), private=False), let)

    assert caught.value.kind == kind
    assert origin.asked("/refused") == []
    if kind == FailureKind.BLOCKED_ADDRESS:
        assert "127.0.0.2 is a loopback address" in caught.value.detail
        assert [each.values["host"] for each in happenings] == ["127.0.0.2"]


async def test_parts_of_a_page_at_a_refused_address_are_missing_and_named(browser: CellBrowser, origin: Origin) -> None:
    refused = origin.url("/refused", host="127.0.0.2")
    origin.pages["/"] = Page(f"<p>words</p><script src={refused}></script><img src=/i.png>")

    page = await browser.visit(visit_of(origin.url("/"), private=False), let)

    assert b"<p>words</p>" in page.body
    assert origin.asked("/refused") == []
    assert any("127.0.0.2 is a loopback address" in reason for reason in page.refused)
    assert "Image is not requested" in page.refused


ANSWERS: dict[str, tuple[bytes, int | FailureKind]] = {
    "nothing there": (b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", 404),
    "nothing at all": (b"HTTP/1.1 204 No Content\r\n\r\n", 204),
    "an error without a body": (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 9\r\n\r\n", 503),
    "a document that is cut off": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\n<p>half</p>",
        FailureKind.PROTOCOL,
    ),
    "chunks that are cut off": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<p>ha",
        FailureKind.PROTOCOL,
    ),
    "a download": (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 2\r\n\r\nPK",
        FailureKind.PROTOCOL,
    ),
    "no HTTP": (b"220 mail.example ESMTP\r\n\r\n", FailureKind.CONNECT),
}


@pytest.mark.parametrize("what", ANSWERS)
async def test_an_answer_that_is_no_page_is_told_as_it_is(browser: CellBrowser, what: str) -> None:
    answer, expected = ANSWERS[what]
    async with RawOrigin(answer) as origin:
        found: int | str
        try:
            page = await browser.visit(visit_of(origin.url()), let)
            found = page.status
            assert dict(page.headers).get("retry-after") == ("9" if found == 503 else None)
        except FetchFailed as exc:
            found = exc.kind

    assert found == expected


@pytest.mark.parametrize("ready", ["dom", "css: #late", "0.3s"])
async def test_a_page_is_ready_as_it_was_asked(browser: CellBrowser, origin: Origin, ready: str) -> None:
    arrives = asyncio.Event()
    origin.pages["/"] = Page(
        "<p>words</p><script>setTimeout(() => document.body.innerHTML += '<i id=late></i>', 100)</script>"
        "<script async src=/never></script>"
    )
    origin.pages["/never"] = Page("", wait=arrives.wait)

    page = await browser.visit(visit_of(origin.url("/"), ready=ready), let)
    arrives.set()

    assert page.is_ready
    assert (b'id="late"' in page.body) or ready == "dom"


async def test_a_page_whose_scripts_are_late_is_read_after_what_they_ask_for(
    browser: CellBrowser, origin: Origin
) -> None:
    """As on a busy machine: the network is quiet, since the page did not come to its turn."""
    origin.pages["/"] = Page(
        "<p>words</p><script>"
        "addEventListener('load', () => { const end = Date.now() + 1500; while (Date.now() < end); "
        "const wait = (left) => left ? requestAnimationFrame(() => setTimeout(() => wait(left - 1))) "
        ": fetch('/data').then(said => said.text()).then(said => document.body.innerHTML += said); "
        "wait(2); })</script>"
    )
    origin.pages["/data"] = Page("<i id=late></i>")

    page = await browser.visit(visit_of(origin.url("/")), let)

    assert b'id="late"' in page.body


async def test_a_page_that_goes_on_while_it_is_asked_is_followed(browser: CellBrowser, origin: Origin) -> None:
    # Its frames leave no idle moment, so that the question is still open when it goes on.
    origin.pages["/"] = Page(
        "<p>first</p><script>const spin = () => { const end = Date.now() + 60; while (Date.now() < end); "
        "requestAnimationFrame(spin); }; spin(); setTimeout(() => location = '/next', 1000)</script>"
    )
    origin.pages["/next"] = Page("<p>next</p>")

    page = await browser.visit(visit_of(origin.url("/")), let)

    assert page.url == origin.url("/next")


async def test_a_document_that_is_too_large_is_refused(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page("<p>" + "x" * 2000)

    with pytest.raises(FetchRefused, match="larger than 1000 bytes") as caught:
        await browser.visit(visit_of(origin.url("/"), max_body_bytes=1000), let)

    assert caught.value.kind == FailureKind.TOO_LARGE


async def test_a_page_that_sends_more_than_it_may_is_refused(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page("<p>words</p><script src=/large.js></script>")
    origin.pages["/large.js"] = Page("//" + "x" * 200_000)

    with pytest.raises(FetchRefused, match=r"browser\.max_wire") as caught:
        await browser.visit(visit_of(origin.url("/"), max_wire_bytes=100_000), let)

    assert caught.value.kind == FailureKind.TOO_LARGE


async def test_a_page_that_hangs_does_not_hold_up_the_pages_of_other_slots(
    browser: CellBrowser, origin: Origin
) -> None:
    origin.pages["/hangs"] = Page("<script>for (;;);</script>")
    origin.pages["/good"] = Page("<p>good</p>")
    ended: list[str] = []

    async def visit(path: str, total_s: float = 90.0) -> None:
        try:
            await browser.visit(visit_of(origin.url(path), total_s=total_s), let)
        except FetchFailed:
            ended.append("failed")
        else:
            ended.append(path)

    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(visit("/hangs"))
        for _ in range(3):
            await visit("/good")
        assert ended == ["/good"] * 3
        hanging.cancel()

    await asyncio.gather(*(visit("/good") for _ in range(4)))
    assert ended == ["/good"] * 7


MEMBERS = """<!doctype html><title>Members</title><div id=banner>We use cookies.
<button onclick="choose('all')">Accept</button><button onclick="choose('few')">Only necessary</button></div>
<main></main><script>
const choose = what => { document.cookie = `chosen=${what}`; banner.remove() }
if (document.cookie.includes('chosen')) banner.remove()
if (document.cookie.includes('session=ada')) document.querySelector('main').innerHTML = '<p id=news>News for Ada</p>'
else document.querySelector('main').innerHTML = '<form><input id=user><button>Log in</button></form>'
document.forms[0]?.addEventListener('submit', event => {
    event.preventDefault(); document.cookie = `session=${user.value}`; location.reload() })</script>"""


async def test_steps_are_taken_and_their_login_is_good_for_the_next_visit(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page(MEMBERS)
    steps, wanted = ("fill #user USER", "press Enter", "wait #news"), {"secrets": {"USER": "ada"}, "consent": "reject"}

    first = await browser.visit(visit_of(origin.url("/"), steps=steps, **wanted), let)
    again = await browser.visit(visit_of(origin.url("/"), steps=steps, cookies=first.cookies, **wanted), let)

    assert [each.outcome for each in first.steps] == ["done"] * 4
    assert [each.outcome for each in again.steps] == ["done", "skipped", "skipped", "done"]
    assert first.steps[0].detail == 'clicked "Only necessary"'
    assert b"News for Ada" in first.body
    assert b"News for Ada" in again.body
    assert b"We use cookies" not in first.body
    assert '"few"' in first.cookies


async def test_a_step_that_fails_is_a_failure_that_names_it_and_on_trial_the_page_as_it_is(
    browser: CellBrowser, origin: Origin
) -> None:
    origin.pages["/"] = Page("<p>text</p><input id=user>")
    visit = visit_of(origin.url("/"), steps=("scroll", "fill #user NAME"))

    with pytest.raises(FetchFailed, match="step 2, fill #user NAME: the page has no secret NAME") as caught:
        await browser.visit(visit, let)
    tried = await browser.visit(msgspec.structs.replace(visit, is_trial=True), let)

    assert caught.value.kind == FailureKind.STEP
    assert [each.outcome for each in tried.steps] == ["done", "failed"]
    assert b"<p>text</p>" in tried.body


async def test_a_document_that_a_step_leads_to_is_asked_for_first(browser: CellBrowser, origin: Origin) -> None:
    origin.pages["/"] = Page("<a href=/there>There</a>")

    async def admit(url: str) -> None:
        raise Disallowed(url, "Disallow: /there", None)

    with pytest.raises(Disallowed):
        await browser.visit(visit_of(origin.url("/"), steps=("click a",)), admit)

    assert origin.asked("/there") == []


async def test_what_a_step_typed_into_an_address_reaches_the_site_and_is_not_told(
    browser: CellBrowser, origin: Origin
) -> None:
    origin.pages["/"] = Page(
        "<form action=/in><input type=password name=p><input type=hidden name=tab value=ada></form>"
    )
    origin.pages["/in?p=a+b%26c&tab=ada"] = Page("<p id=news>News")
    asked: list[str] = []

    async def admit(url: str) -> None:
        asked.append(url)

    steps, secrets = ("fill [name=p] PASSWORD", "press Enter", "wait #news"), {"PASSWORD": "a b&c", "USER": "eve"}
    page = await browser.visit(visit_of(origin.url("/"), steps=steps, secrets=secrets), admit)

    assert b"News" in page.body
    assert asked == [origin.url("/in?p=***&tab=ada")]
    assert (page.url, page.documents) == (asked[0], (origin.url("/"), asked[0]))
