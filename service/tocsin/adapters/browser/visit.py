"""One page in a context of its own: opened, waited for, read, pictured."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, CDPSession, Dialog, Page, Request
from playwright.async_api import Error as PlaywrightError

from tocsin.adapters.browser.cookies import read_cookies, write_cookies
from tocsin.adapters.browser.request_filter import PageRequests, Permit, RequestFilter
from tocsin.adapters.browser.steps import StepSetting, carry_out, refuse_consent, refuse_failed
from tocsin.errors import FetchError, FetchFailed, FetchRefused
from tocsin.model import FailureKind
from tocsin.ports.browser import BrowserVisit, PagePicture, StepResult, VisitedPage
from tocsin.spec.steps import ReadyRule, find_login, read_ready, read_steps

_WIDTH, _HEIGHT, _MOST_HEIGHT = 1280, 1024, 10_000
_MOST_FRAMES: Final = 50
_MOST_DIALOGS: Final = 5
_POLL_S: Final = 0.1
# Nothing begun and nothing ended for this long is a quiet network.
_QUIET_S: Final = 0.5
# A context that takes longer to close has processes that hang.
CLOSE_S: Final = 3.0
# The page's own scripts cannot reach what runs in a world of ours.
_WORLD: Final = "tocsin"
# What a step set off is waited for this long.
_SETTLE_S: Final = 5.0
_QUIET: Final = ReadyRule("network")
_STATE: Final = "document.readyState"
# Asked of a page whose network is quiet. On a busy machine its scripts may only be late: what the last answer set off,
# such as drawing and what follows it, comes before an idle moment.
_IDLE_STATE: Final = "new Promise(idle => requestIdleCallback(() => idle(document.readyState), {timeout: 1000}))"
# Words of errors of a document that was just replaced, also while it was asked.
_REPLACED: Final = ("context", "frame", "navigated", "Promise was collected")
_PARSED: Final = frozenset(("interactive", "complete"))
_NET_ERROR: Final = re.compile(r"net::(?P<name>ERR_[A-Z0-9_]+)")
_KINDS: Final = (
    ("ERR_ABORTED", FailureKind.CRASHED),
    ("ERR_NAME_", FailureKind.DNS),
    ("ERR_CERT_", FailureKind.TLS),
    ("ERR_SSL_", FailureKind.TLS),
    ("ERR_TIMED_OUT", FailureKind.TIMEOUT),
    ("ERR_ADDRESS_", FailureKind.CONNECT),
    ("ERR_CONNECTION_", FailureKind.CONNECT),
    ("ERR_PROXY_", FailureKind.CONNECT),
    ("ERR_TUNNEL_", FailureKind.CONNECT),
    ("ERR_TOO_MANY_REDIRECTS", FailureKind.REDIRECT),
)
_BAD_REDIRECTS: Final = frozenset(("ERR_INVALID_REDIRECT", "ERR_UNSAFE_REDIRECT", "ERR_UNKNOWN_URL_SCHEME"))
# The browser shows a page of its own for an answer without a body.
_NO_BODY: Final = "ERR_HTTP_RESPONSE_CODE_FAILURE"
_WITHOUT_BODY: Final = frozenset((204, 205))
# A document with open shadow roots is written as people see it: the content of each in its host, with what it was given
# in the place of its slots. That is done in a copy, since moving elements would set off scripts of the page.
_READ: Final = """((most) => {
    const root = document.documentElement
    const plain = document.implementation.createHTMLDocument('')
    const seen = (node) => {
        const made = plain.importNode(node, node.localName === 'template')
        if (node.nodeType !== Node.ELEMENT_NODE || node.localName === 'template') return made
        const given = node.localName === 'slot' ? node.assignedNodes({flatten: true}) : []
        const inside = node.shadowRoot ?? node
        for (const child of given.length ? given : inside.childNodes) made.append(seen(child))
        return made
    }
    const written = () => {
        const hasShadows = [...root.querySelectorAll('*')].some((each) => each.shadowRoot)
        // A document that is nested deeper than the stack is written without them.
        try { return hasShadows ? seen(root).outerHTML : root.outerHTML } catch { return root.outerHTML }
    }
    const type = document.contentType
    if (!root) return {type, length: 0, text: ''}
    let text
    if (type === 'text/html' || type === 'application/xhtml+xml') {
        const doctype = document.doctype
        text = (doctype ? new XMLSerializer().serializeToString(doctype) + '\\n' : '') + written()
    } else {
        text = document.body ? document.body.innerText : root.outerHTML
    }
    return {type, length: text.length, text: text.length > most ? '' : text.toWellFormed()}
})(%d)"""
_HEIGHT_OF_PAGE: Final = "Math.max(document.documentElement.scrollHeight, document.body?.scrollHeight ?? 0)"


class VisitClock:
    """The deadline of a visit. It does not pass while the engine is asked, and can end the visit early.

    is_reading  whether the page is ready, and is read
    """

    def __init__(self, timeout: asyncio.Timeout, total_s: float) -> None:
        self._timeout, self._total_s = timeout, total_s
        self._now = asyncio.get_running_loop().time
        self._started, self._stopped_s, self._stops = self._now(), 0.0, 0
        self._stopped_at = 0.0
        self._is_over = self.is_reading = False
        self.why: FetchError | None = None

    def spent_s(self) -> float:
        """Give the time that has passed."""
        until = self._stopped_at if self._stops else self._now()
        return until - self._started - self._stopped_s

    def end(self, why: FetchError) -> None:
        """End the visit, with this as the reason; a first reason stays."""
        if self.why is None and not self._is_over:
            self.why = why
            self._reschedule(self._now())

    def close(self) -> None:
        """The visit is over; what its page still does has no effect."""
        self._is_over = True

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let no time pass meanwhile."""
        self._stops += 1
        if self._stops == 1:
            self._stopped_at = self._now()
            if self.why is None:
                self._reschedule(None)
        try:
            yield
        finally:
            self._stops -= 1
            if self._stops == 0:
                self._stopped_s += self._now() - self._stopped_at
                if self.why is None:
                    self._reschedule(self._started + self._stopped_s + self._total_s)

    def _reschedule(self, when: float | None) -> None:
        if not self._is_over and not self._timeout.expired():
            self._timeout.reschedule(when)


class PageVisit:
    """One visit.

    user_agent  of the browser itself
    permit      asks the engine
    """

    def __init__(
        self,
        visit: BrowserVisit,
        clock: VisitClock,
        *,
        user_agent: str,
        most_requests: int,
        permit: Permit,
        group: asyncio.TaskGroup,
    ) -> None:
        self._visit, self._clock, self._group = visit, clock, group
        self._user_agent = f"{user_agent} {visit.user_agent}".strip()
        self._frames, self._dialogs = 0, 0
        self._loop = asyncio.get_running_loop()
        self._under_way: set[Request] = set()
        self._changed_at = self._loop.time()
        self._world: int | None = None
        self._steps: list[StepResult] = []
        self._cookies = ""
        self.requests = PageRequests(
            visit.url,
            visit.headers,
            secrets=frozenset(visit.secrets.values()),
            wants_picture=visit.wants_picture,
            most=most_requests,
            permit=permit,
            end=clock.end,
        )

    async def run(self, browser: Browser, requests: RequestFilter, opened: list[BrowserContext]) -> VisitedPage:
        """Visit the page; raises FetchFailed, FetchRefused, and PlaywrightError once the browser is gone.

        opened  gets the context, which the caller closes
        """
        visit = self._visit
        context = await browser.new_context(
            accept_downloads=False,
            locale=visit.language,
            reduced_motion="reduce",
            service_workers="block",
            timezone_id=visit.time_zone,
            user_agent=self._user_agent,
            viewport={"width": _WIDTH, "height": _HEIGHT},
        )
        opened.append(context)
        page = await context.new_page()
        self._watch(context, page)
        session = await context.new_cdp_session(page)
        self.requests.main_frame = (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        if cookies := [*read_cookies(visit.cookies), *_own_cookies(visit)]:
            await context.add_cookies(cookies)
        requests.page = self.requests
        if not await self._open(page):
            return self._answer(b"", is_ready=True, picture=None)
        is_ready = await self._wait(session)
        await self._take_steps(page, context, session)
        self._clock.is_reading = True
        content_type, body = await self._read(session)
        picture = await self._picture(page, session) if visit.wants_picture else None
        self.requests.headers = (
            *((name, value) for name, value in self.requests.headers if name not in _OF_THE_WIRE),
            ("content-type", f"{content_type}; charset=utf-8"),
        )
        return self._answer(body, is_ready=is_ready, picture=picture)

    def _answer(self, body: bytes, *, is_ready: bool, picture: PagePicture | None) -> VisitedPage:
        found = self.requests
        return VisitedPage(
            found.documents[-1],
            tuple(found.documents),
            found.status,
            found.headers,
            body,
            is_ready,
            picture,
            tuple(found.refused),
            round(self._clock.spent_s() * 1000),
            steps=tuple(self._steps),
            cookies=self._cookies,
        )

    def _watch(self, context: BrowserContext, page: Page) -> None:
        """Count what a page begins."""
        page.on("crash", lambda _: self._clock.end(self._failed(FailureKind.CRASHED, "the page's process ended")))
        page.on("frameattached", lambda _: self._count_frame())
        page.on("worker", lambda _: self._count_frame())
        page.on("dialog", self._dismiss)
        context.on("request", self._begun)
        context.on("requestfinished", self._ended)
        context.on("requestfailed", self._broken)

    async def _open(self, page: Page) -> bool:
        """Go to the page's URL; False: its answer has no body."""
        try:
            await page.goto(self._visit.url, wait_until="commit", timeout=0)
        except PlaywrightError as exc:
            found = _NET_ERROR.search(exc.message)
            name = found["name"] if found is not None else "ERR_ABORTED" if "Download" in exc.message else ""
            if not name:
                raise
            if self.requests.status and (name == _NO_BODY or self.requests.status in _WITHOUT_BODY):
                return False
            raise self._translated(name) from exc
        return True

    def _translated(self, name: str) -> FetchError:
        if name in _BAD_REDIRECTS:
            return FetchRefused(self._visit.url, FailureKind.REDIRECT, f"redirected to what is not requested ({name})")
        kind = next((kind for begin, kind in _KINDS if name.startswith(begin)), FailureKind.PROTOCOL)
        if name == "ERR_ABORTED" and self.requests.status:
            content_type = dict(self.requests.headers).get("content-type", "without a type")
            return self._failed(
                FailureKind.PROTOCOL, f"the answer is no page but a download ({content_type}); read it by http"
            )
        return self._failed(kind, f"the browser says {name}")

    async def _wait(self, session: CDPSession) -> bool:
        """Wait until the page is ready; returns False if it is not, but complete. Raises FetchFailed."""
        how = read_ready(self._visit.ready, _was_checked)
        try:
            while True:
                left_s = self._visit.ready_s - self._clock.spent_s()
                async with asyncio.timeout(max(left_s, 0)):
                    if await self._is_ready(session, how):
                        return True
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            # A page that asks its server for ever is a page.
            if how.kind == "network" and await self._evaluate(session, _STATE) == "complete":
                return False
            why = f"not ready ({self._visit.ready}) within {self._visit.ready_s:g} s; raise browser.deadlines.ready"
            raise self._failed(FailureKind.TIMEOUT, why) from None

    async def _is_ready(self, session: CDPSession, how: ReadyRule) -> bool:
        match how.kind:
            case "css":
                return bool(await self._evaluate(session, f"!!document.querySelector({_quoted(how.selector)})"))
            case "dom":
                return await self._evaluate(session, _STATE) in _PARSED
            case "time":
                return self._clock.spent_s() >= how.seconds and await self._evaluate(session, _STATE) in _PARSED
        # Asking a page takes all of the browser's processes, so it is asked last. While it has not yet answered, it may
        # begin a request.
        return (
            self._is_network_quiet()
            and await self._evaluate(session, _IDLE_STATE) == "complete"
            and self._is_network_quiet()
        )

    def _is_network_quiet(self) -> bool:
        return not self._under_way and self._loop.time() - self._changed_at >= _QUIET_S

    async def _take_steps(self, page: Page, context: BrowserContext, session: CDPSession) -> None:
        """Carry out the page's steps; raises FetchFailed for the first that fails."""
        visit = self._visit

        async def settle() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SETTLE_S):
                    while not await self._is_ready(session, _QUIET):  # noqa: ASYNC110 - only asking tells
                        await asyncio.sleep(_POLL_S)

        if visit.consent == "reject":
            self._steps.append(await refuse_consent(page, settle))
        if not visit.steps:
            return
        steps = read_steps(visit.steps, _was_checked)
        setting = StepSetting(visit.url, visit.secrets, settle, has_cookies=bool(visit.cookies))
        results = await carry_out(page, steps, setting)
        self._steps += results
        if not visit.is_trial:
            refuse_failed(visit.url, results)
        if find_login(steps):
            hosts = [urlsplit(url).hostname or "" for url in self.requests.documents]
            self._cookies = write_cookies(await context.cookies(), hosts)

    async def _evaluate(self, session: CDPSession, expression: str) -> Any:
        """Evaluate in a world of ours; None if the document is just being replaced."""
        try:
            if self._world is None:
                frame = {"frameId": self.requests.main_frame, "worldName": _WORLD}
                self._world = (await session.send("Page.createIsolatedWorld", frame))["executionContextId"]
            asked = {
                "expression": expression, "contextId": self._world, "returnByValue": True, "awaitPromise": True,
            }  # fmt: skip
            return (await session.send("Runtime.evaluate", asked))["result"].get("value")
        except PlaywrightError as exc:
            if not any(word in exc.message for word in _REPLACED):
                raise
            self._world = None
            return None

    async def _read(self, session: CDPSession) -> tuple[str, bytes]:
        """Give the document as it is now; its type, and itself."""
        most = self._visit.max_body_bytes
        while (found := await self._evaluate(session, _READ % most)) is None:  # noqa: ASYNC110 - only asking tells
            await asyncio.sleep(_POLL_S)
        body: bytes = found["text"].encode("utf-8", "replace")
        if found["length"] > most or len(body) > most:
            raise FetchRefused(
                self._visit.url,
                FailureKind.TOO_LARGE,
                f"the document is larger than {most} bytes; raise fetch.max_body",
            )
        return found["type"], body

    async def _picture(self, page: Page, session: CDPSession) -> PagePicture:
        height = min(max(int(await self._evaluate(session, _HEIGHT_OF_PAGE) or 0), _HEIGHT), _MOST_HEIGHT)
        clip: Any = {"x": 0, "y": 0, "width": _WIDTH, "height": height}
        png = await page.screenshot(
            type="png", full_page=True, clip=clip, animations="disabled", caret="hide", scale="css", timeout=0
        )
        return PagePicture(png, _WIDTH, height)

    def _count_frame(self) -> None:
        self._frames += 1
        if self._frames > _MOST_FRAMES:
            self._clock.end(self._too_complex(f"more than {_MOST_FRAMES} frames and workers"))

    def _dismiss(self, dialog: Dialog) -> None:
        self._dialogs += 1
        if self._dialogs > _MOST_DIALOGS:
            self._clock.end(self._too_complex(f"more than {_MOST_DIALOGS} dialogs"))
        else:
            self._group.create_task(_dismissed(dialog), name="browser-dialog")

    def _begun(self, request: Request) -> None:
        self._changed_at = self._loop.time()
        # Where a document's process is replaced amid its loading, its end is never told; a stream of events has none.
        if request.resource_type not in {"document", "eventsource"}:
            self._under_way.add(request)

    def _ended(self, request: Request) -> None:
        self._changed_at = self._loop.time()
        self._under_way.discard(request)

    def _broken(self, request: Request) -> None:
        self._ended(request)
        why = request.failure or ""
        is_document = request.resource_type == "document" and request.url == self.requests.document
        # An answer that was cut off is shown as far as it came, and never becomes complete (T57).
        if is_document and self.requests.status and "ERR_ABORTED" not in why:
            self._clock.end(self._failed(FailureKind.PROTOCOL, f"the document was cut off ({why})"))

    def _failed(self, kind: FailureKind, why: str) -> FetchFailed:
        return FetchFailed(self._visit.url, kind, why)

    def _too_complex(self, why: str) -> FetchRefused:
        return FetchRefused(self._visit.url, FailureKind.TOO_COMPLEX, why)


# Of the answer's headers, those that the serialised document no longer obeys.
_OF_THE_WIRE: Final = frozenset(("content-type", "content-length", "content-encoding", "transfer-encoding"))


async def _dismissed(dialog: Dialog) -> None:
    try:
        await dialog.dismiss()
    except PlaywrightError:
        # It has ended with its page.
        return


def _own_cookies(visit: BrowserVisit) -> list[Any]:
    """Give the page's own cookies as the browser takes them, for the page's host alone."""
    lines = [value for name, value in visit.headers if name.lower() == "cookie"]
    pairs = [pair.strip().partition("=") for line in lines for pair in line.split(";") if "=" in pair]
    return [{"name": name, "value": value, "url": visit.url} for name, _, value in pairs]


def _was_checked(_selector: str) -> None:
    """Selectors are checked where they are set."""


def _quoted(text: str) -> str:
    """Write a text as a literal of JavaScript."""
    return "'" + "".join(each if each.isalnum() else f"\\u{{{ord(each):x}}}" for each in text) + "'"
