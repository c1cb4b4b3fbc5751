"""A page read in a browser: one visit is its set of requests, and each of its documents has its turn (T57 to T59)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from tocsin.engine.policies import asked_as
from tocsin.engine.visiting.receive import NO_TIME, demand_wanted, own_headers, refuse_what_is_not_the_page
from tocsin.errors import BadUrl, FetchError, FetchFailed, FetchRefused, SettingsError
from tocsin.model import DEMO_HOST, FailureKind, HopResponse, ReceivedPage
from tocsin.ports.browser import BrowserVisit
from tocsin.spec.html.urls import host_and_origin, watch_url

if TYPE_CHECKING:
    from tocsin.engine.hosts.gates import HostGate
    from tocsin.engine.visiting.receive import PageRequest, Receiver
    from tocsin.model import Instant
    from tocsin.ports.browser import Admission, VisitedPage
    from tocsin.settings import BrowserSettings, FetchSettings, InstanceSettings

# Failures of the browser that are tried again as a whole set, though by HTTP they are final (T58).
_OF_THE_SET: Final = frozenset({FailureKind.TOO_COMPLEX, FailureKind.CRASHED})
# What is read is the document as scripts made it: these headers tell of the one that was sent.
_OF_THE_BYTES: Final = frozenset(
    {"content-type", "content-length", "content-encoding", "transfer-encoding", "etag", "last-modified"}
)
_HTML: Final = ("content-type", "text/html; charset=utf-8")


class BrowserVisits(Protocol):
    """Visits pages in a browser, as many at once as there are slots."""

    async def visit(self, visit: BrowserVisit, admit: Admission, *, is_urgent: bool) -> VisitedPage:
        """Wait for a slot, then visit the page; `admit` is asked for its own URL, too, right before the request.

        is_urgent  goes first, as renderings do
        Raises what `ports.browser.Browser.visit` does, but SettingsError where there is no browser; and Postponed
        where too many wait.
        """


class PageBrowser:
    """Receives pages by visits in a browser.

    user_agent  as other requests have it
    """

    def __init__(
        self,
        visits: BrowserVisits,
        browser: BrowserSettings,
        fetch: FetchSettings,
        instance: InstanceSettings,
        user_agent: str,
    ) -> None:
        self._visits, self._browser, self._fetch = visits, browser, fetch
        self._instance, self._user_agent = instance, user_agent

    async def receive(self, request: PageRequest, receiver: Receiver) -> ReceivedPage:
        """Make one set of requests by one visit; see `Receiver.receive`."""
        if request.policy.proxy:
            # Without its proxy the request would show an address that the user wants hidden.
            raise SettingsError(
                f"{request.url}: a page that has a proxy is not read in a browser; set fetch to http, or unset proxy"
            )
        if request.stand_aside is not None:
            request.stand_aside()
        if request.unasked:
            # It waits for the browser from here on: that is no lateness of ours, but the page can still be given up.
            request.unasked[request.page_id] = NO_TIME
        documents = _Documents(request, receiver, self._fetch.redirects)
        await receiver.wait_until_near(request.host)
        try:
            page = await self._visits.visit(self._visit_of(request), documents.admit, is_urgent=request.is_urgent)
        except FetchRefused as exc:
            if exc.kind not in _OF_THE_SET:
                raise
            raise FetchFailed(exc.url, exc.kind, exc.detail, status=exc.status) from exc
        except FetchError as exc:
            receiver.note_failure(request.host, exc)
            raise
        finally:
            documents.leave()
        return self._received(request, receiver, documents, page)

    def _visit_of(self, request: PageRequest) -> BrowserVisit:
        policy, deadlines = request.policy, self._browser.deadlines
        return BrowserVisit(
            request.url,
            headers=own_headers(request),
            user_agent=self._user_agent,
            language=self._instance.language,
            time_zone=self._instance.time_zone,
            ready=policy.ready,
            steps=policy.steps,
            secrets=policy.secrets,
            # A trial shows the login, too.
            page_id=0 if request.is_trial else request.page_id,
            is_trial=request.is_trial,
            consent=policy.consent,
            wants_picture=request.wants_picture or request.compares_picture,
            compares_picture=request.compares_picture,
            ready_s=deadlines.ready.total_seconds(),
            total_s=deadlines.total.total_seconds(),
            max_body_bytes=self._fetch.max_body,
            max_wire_bytes=self._browser.max_wire,
            private=request.private,
        )

    def _received(
        self, request: PageRequest, receiver: Receiver, documents: _Documents, page: VisitedPage
    ) -> ReceivedPage:
        """Believe nothing of a browser that a page may have taken over: its URL is one that we admitted."""
        url = page.url if page.url in documents.admitted else documents.latest
        host = host_and_origin(url)[0]
        headers = (_HTML, *(pair for pair in page.headers if pair[0] not in _OF_THE_BYTES))
        response = HopResponse(url, page.status, headers, page.body, page.wire_bytes, page.elapsed_ms)
        receiver.note_answer(host, response)
        if len(page.body) > self._fetch.max_body:
            detail = f"{len(page.body)} bytes as scripts made it; raise fetch.max_body"
            raise FetchRefused(url, FailureKind.TOO_LARGE, detail, status=page.status)
        refuse_what_is_not_the_page(url, response, receiver.clock, takes_accepted=request.takes_accepted)
        return ReceivedPage(
            documents.started_at or receiver.clock.now(),
            response,
            url,
            None,
            not_modified=False,
            wire_bytes=page.wire_bytes,
            elapsed_ms=page.elapsed_ms,
            asked_as=asked_as(request.policy, request.secrets, in_browser=True),
            picture=page.picture,
            steps=page.steps,
            seen=page.seen,
        )


class _Documents:
    """The documents of one visit: the host of the latest one is held at its gate until the next one or the end.

    admitted    their URLs
    started_at  when the first one was admitted
    """

    def __init__(self, request: PageRequest, receiver: Receiver, redirects: int) -> None:
        self._request, self._receiver, self._left = request, receiver, redirects + 1
        self._gate: HostGate | None = None
        self.admitted: dict[str, None] = {}
        self.latest = request.url
        self.started_at: Instant | None = None

    async def admit(self, url: str) -> None:
        """Let the next document be requested; see `ports.browser.Admission`."""
        target = self._checked(url)
        # A page whose host allows one request at a time would wait for itself.
        self.leave()
        self._gate = await self._receiver.take_turn(target)
        await demand_wanted(self._request, target)
        if self.started_at is None:
            self.started_at = self._receiver.clock.now()
        self.admitted[url] = self.admitted[target] = None
        self.latest = target

    def _checked(self, url: str) -> str:
        """Return the URL as it is requested; raises FetchRefused where it may not be."""
        self._left -= 1
        # Scripts may well lead a page back to itself, once it has a cookie: that is no circle, only not for ever.
        if self._left < 0:
            raise FetchRefused(
                url, FailureKind.REDIRECT, "led on to further documents too often; raise fetch.redirects"
            )
        try:
            target = watch_url(url).url
        except BadUrl as exc:
            raise FetchRefused(url, FailureKind.REDIRECT, f"led to a URL that is not requested: {exc}") from exc
        if host_and_origin(target)[0] == DEMO_HOST != self._request.host:
            raise FetchRefused(url, FailureKind.BLOCKED_ADDRESS, "led to the demo site, where only its own pages lead")
        return target

    def leave(self) -> None:
        """Free the place at the gate."""
        if self._gate is not None:
            self._receiver.leave(self._gate)
            self._gate = None
