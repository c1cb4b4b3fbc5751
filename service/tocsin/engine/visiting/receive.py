"""Sets of requests: a page received whole through its redirects, and again where that fails (T57 to T60)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from msgspec import Struct

from tocsin.engine.hosts.gates import Gates, HostGate
from tocsin.engine.hosts.outage import OURS
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.hosts.robots import ASKED_AGAIN_US, UNAVAILABLE, RobotsCache
from tocsin.engine.policies import asked_as
from tocsin.engine.visiting.retry import TryPolicy, parse_retry_after, tries
from tocsin.errors import (
    BadUrl,
    Disallowed,
    FetchError,
    FetchFailed,
    FetchRefused,
    Postponed,
    SettingsError,
    TocsinError,
    Withdrawn,
)
from tocsin.model import (
    ACCEPTED,
    DEMO_HOST,
    Attempt,
    CheckResult,
    FailureKind,
    HopRequest,
    HopResponse,
    Instant,
    ReceivedPage,
    Validators,
)
from tocsin.ports import Chance, Clock, Documents, Fetcher, Session
from tocsin.ports.messages import RequestProgress
from tocsin.settings import FetchSettings, PageSettings
from tocsin.spec.documents import is_pdf
from tocsin.spec.html.urls import host_and_origin, resolve, watch_url

if TYPE_CHECKING:
    from tocsin.engine.visiting.browsing import PageBrowser

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Only a chain of these alone tells where the page lives now.
PERMANENT = frozenset({301, 308})
# 203 is a 200 that a proxy transformed; other successes have no page in their body.
RECEIVED = frozenset({200, 203})
RETRIED_STATUSES = frozenset({408, 425, 429})
# With a Retry-After, these hold the whole host, not just the page.
BUSY = frozenset({429, 503})
# Later than any due time: sorts pages without one last.
NO_TIME: Final[Instant] = 2**62
# With a place in the browser, a page whose host is not near its turn would keep others from it.
_NEAR_S: Final = 1.0
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
Headers: TypeAlias = tuple[tuple[str, str], ...]
_PLAIN_HEADERS: Headers = (("Accept", ACCEPT),)
# The page; or, if another fetcher received it, the result of its check, or why it cannot be read.
ReceiveResult: TypeAlias = ReceivedPage | CheckResult | FetchRefused


class HandoffRequired(TocsinError):
    """The set continues at a host that another fetcher serves, from `so_far`."""

    def __init__(self, so_far: RequestProgress) -> None:
        super().__init__(f"{so_far.url}: another fetcher serves this host")
        self.so_far = so_far


class PageRequest(Struct, frozen=True):
    """A page to be received.

    host        of the URL, as gates know it
    validators  sent only to the hop that gave them; None makes an unconditional request
    secrets     user name and password of the page, sent only to its own origin
    private     private addresses are allowed: a person typed this URL into a one-shot command
    is_wanted   asked right before each request: the user's agreement can end while the page waits for its turn (T62)
    wanted      the same for pages that are known here: page ids to whether they are wanted, and
    page_id     the page's
    unasked     the pages that no request was made for yet: the first request takes this one out
    hand_off    continues the set at the fetcher that serves the next host
    stand_aside  called before waiting for anything but the page's own host
    takes_accepted  a 202 counts as received; its assessment decides whether it is a suspect
    awaits_html  what is not HTML is a suspect, so that no text needs to be taken from it
    is_urgent   goes first when all request slots are taken
    in_browser  it is received by a visit in the browser, which
    wants_picture  takes a picture of it,
    compares_picture  says how it differs from the one that is kept, in place of it, and
    is_trial    goes on to the end where a step of the page fails
    """

    url: str
    host: str
    policy: PageSettings
    validators: Validators | None = None
    secrets: tuple[str, str] | None = None
    private: bool = False
    is_wanted: Callable[[], Awaitable[bool]] | None = None
    wanted: Mapping[int, bool] | None = None
    page_id: int = 0
    unasked: dict[int, Instant] | None = None
    hand_off: Callable[[RequestProgress], Awaitable[RequestProgress | CheckResult | FetchRefused]] | None = None
    stand_aside: Callable[[], None] | None = None
    takes_accepted: bool = False
    awaits_html: bool = False
    is_urgent: bool = False
    in_browser: bool = False
    wants_picture: bool = False
    compares_picture: bool = False
    is_trial: bool = False


class TryObserver(Protocol):
    """Takes note of the result of each request; `outage.OutageWatch` implements it."""

    def note(self, host: str, ok: bool, kind: str | None = None) -> None:  # noqa: FBT001 - what became of it
        """Take note of one try."""


class Receiver:
    """Makes sets of requests.

    in_flight  bounds the requests of this process
    robots     None ignores robots.txt: a person typed the URL
    is_ours    tells whether this process serves a host
    documents  reads what is no page; None: its bytes are compared
    browser    receives the pages that want it; None where there is none
    elsewhere  takes a turn at the gate of a host that another process serves
    clock      that its times are of
    """

    def __init__(
        self,
        gates: Gates,
        robots: RobotsCache | None,
        outage: TryObserver,
        in_flight: RequestSlots,
        settings: FetchSettings,
        clock: Clock,
        documents: Documents | None = None,
        browser: PageBrowser | None = None,
        elsewhere: Callable[[str], Awaitable[None]] | None = None,
        *,
        is_ours: Callable[[str], bool] = lambda _host: True,
    ) -> None:
        self.clock, self._documents, self._browser, self._elsewhere = clock, documents, browser, elsewhere
        self._gates, self._robots, self._outage = gates, robots, outage
        self._in_flight, self._settings, self._clock, self._is_ours = in_flight, settings, clock, is_ours
        self._total_s = settings.deadlines.total.total_seconds()

    def receive(
        self, request: PageRequest, session: Session, so_far: RequestProgress | None = None
    ) -> Coroutine[Any, Any, ReceivedPage]:
        """Make one set of requests, or continue one.

        Raises FetchFailed or FetchRefused; Disallowed, Postponed or Withdrawn; HandoffRequired; SettingsError.
        """
        if not request.in_browser:
            return self._receive(request, session, so_far)
        if self._browser is None:
            raise SettingsError(f"{request.url}: no page is read in a browser here; set fetch to http")
        return self._browser.receive(request, self)

    async def _receive(self, request: PageRequest, session: Session, so_far: RequestProgress | None) -> ReceivedPage:
        begun = so_far or RequestProgress(request.url, self._clock.now(), (request.url,))
        url, moved_to, seen = begun.url, begun.moved_to, dict.fromkeys(begun.seen)
        spent_s, wire_bytes, permanent = begun.spent_s, begun.wire_bytes, begun.permanent
        own_host, own_origin = host, origin = host_and_origin(request.url)
        while True:
            if url != request.url:
                host, origin = host_and_origin(url)
                if len(seen) > 1 and not self._is_ours(host):
                    begun = RequestProgress(
                        url, begun.started_at, tuple(seen), moved_to, spent_s, wire_bytes, permanent
                    )
                    raise HandoffRequired(begun)
                if host != own_host and request.stand_aside is not None:
                    request.stand_aside()
            if self._robots is not None:
                await self._ask_robots(self._robots, url, host, origin, request.policy.proxy or None)
            hop = self._hop_request(request, url, spent_s, is_own=origin == own_origin)
            response = await self._hop(hop, host, session, request)
            spent_s += response.elapsed_ms / 1000
            wire_bytes += response.wire_bytes
            if response.status not in REDIRECTS:
                break
            permanent = permanent and response.status in PERMANENT
            url = self._next_url(url, response, seen)
            moved_to = url if permanent else moved_to
        sent_conditions = request.validators is not None and request.validators.hop_url == url
        not_modified = response.status == 304 and sent_conditions  # noqa: PLR2004 - Not Modified
        if not not_modified:
            refuse_what_is_not_the_page(url, response, self._clock, takes_accepted=request.takes_accepted)
            if self._documents is not None and not request.awaits_html and is_pdf(response.body):
                response = await self._documents.read(response)
        return ReceivedPage(
            begun.started_at,
            response,
            url,
            moved_to,
            not_modified,
            wire_bytes,
            round(spent_s * 1000),
            asked_as(request.policy, request.secrets),
        )

    async def hop(self, request: HopRequest, session: Session) -> HopResponse:
        """Make one request at its host's gate, as of a robots.txt."""
        return await self._hop(request, host_and_origin(request.url)[0], session, None)

    # For visits in a browser ------------------------------------------------------------------------------------

    async def take_turn(self, url: str) -> HostGate | None:
        """Ask robots.txt, and take a turn at the host's gate; `leave` must follow, unless the gate is elsewhere: None.

        Raises Disallowed, Postponed, FetchError.
        """
        host, origin = host_and_origin(url)
        if self._elsewhere is not None and not self._is_ours(host):
            await self._elsewhere(url)
            return None
        if self._robots is not None:
            await self._ask_robots(self._robots, url, host, origin, None)
        return self._gates.enter_at_once(host) or await self._stand_in_line(host)

    def leave(self, gate: HostGate) -> None:
        """End a turn."""
        self._gates.leave(gate)

    async def wait_until_near(self, host: str) -> None:
        """Wait until the turn of a new request to this host is near; raises Postponed if that takes too long."""
        waited_s, hold_s = 0.0, self._settings.hold.total_seconds()
        while (wait_s := self._gates.wait_s(host)) > _NEAR_S:
            if waited_s + wait_s > hold_s:
                raise Postponed(self._clock.now() + round(wait_s * 1_000_000), 0)
            await self._clock.sleep(wait_s)
            waited_s += wait_s

    def note_answer(self, host: str, response: HopResponse) -> None:
        """Note that a visit had an answer, and leave its host alone if it asked for that."""
        if host != DEMO_HOST:
            self._outage.note(host, ok=True)
        self._obey(host, response)

    def note_failure(self, host: str, error: FetchError) -> None:
        """Note a failed visit; a browser that crashes or is late says nothing of our connection."""
        if host != DEMO_HOST and error.kind in OURS:
            self._outage.note(host, ok=False, kind=error.kind)

    # ------------------------------------------------------------------------------------------------------------

    async def _hop(self, request: HopRequest, host: str, session: Session, whole: PageRequest | None) -> HopResponse:
        """Make one request of a set at its host's gate, if the page is still wanted by then."""
        # A free gate costs neither a task switch nor a timer.
        gate = self._gates.enter_at_once(host) or await self._stand_in_line(host)
        try:
            in_flight = self._in_flight
            if not in_flight.take_at_once():
                await in_flight.take(urgent=whole is not None and whole.is_urgent)
            try:
                if whole is not None and not (
                    whole.wanted[whole.page_id] if whole.wanted is not None else await _is_wanted(whole)
                ):
                    raise Withdrawn(f"{request.url}: no longer watched")
                if whole is not None and whole.unasked:
                    whole.unasked.pop(whole.page_id, None)
                response = await session.get(request)
            finally:
                in_flight.give_back()
        except (FetchFailed, FetchRefused) as exc:
            if host != DEMO_HOST:
                self._outage.note(host, ok=False, kind=exc.kind)
            raise
        finally:
            self._gates.leave(gate)
        if host != DEMO_HOST:
            # The demo site on loopback is no evidence for our connection.
            self._outage.note(host, ok=True)
        if response.status in BUSY:
            self._obey(host, response)
        return response

    def _obey(self, host: str, response: HopResponse) -> None:
        """Hold a whole host that is busy and said for how long."""
        wait = parse_retry_after(response.header("retry-after"), self._clock.now()) if response.status in BUSY else None
        if wait is not None:
            self._gates.hold(host, self._clock.monotonic() + wait.total_seconds())

    async def _stand_in_line(self, host: str) -> HostGate:
        """Wait for a turn at a host's gate; raises Postponed if that takes longer than `hold`."""
        hold_s = self._settings.hold.total_seconds()
        if (held_s := self._gates.held_s(host)) > hold_s:
            raise Postponed(self._clock.now() + round(held_s * 1_000_000), 0)
        try:
            async with asyncio.timeout(hold_s):
                return await self._gates.enter(host)
        except TimeoutError:
            wait_us = round(max(self._gates.wait_s(host), 1.0) * 1_000_000)
            raise Postponed(self._clock.now() + wait_us, 0) from None

    async def _ask_robots(self, robots: RobotsCache, url: str, host: str, origin: str, proxy: str | None) -> None:
        if self._gates.politeness(host).robots == "ignore":
            return
        ruling, delay_s = robots.known(url, origin) or await robots.look(url, proxy)
        # Repeated for each request: idle gates are forgotten together with their crawl delay.
        self._gates.slow_down(host, origin, delay_s)
        if not ruling.allowed:
            retry_at = self._clock.now() + ASKED_AGAIN_US if ruling is UNAVAILABLE else None
            raise Disallowed(url, ruling.rule, retry_at)

    def _hop_request(self, request: PageRequest, url: str, spent_s: float, *, is_own: bool) -> HopRequest:
        # Credentials, cookies and the user's headers never go to another origin.
        headers = own_headers(request) if is_own else _PLAIN_HEADERS
        known = request.validators
        if known is not None and known.hop_url == url:
            if known.etag is not None:
                headers = (*headers, ("If-None-Match", known.etag))
            if known.last_modified is not None:
                headers = (*headers, ("If-Modified-Since", known.last_modified))
        total_s = self._total_s - spent_s
        if total_s <= 0:
            raise FetchFailed(
                url, FailureKind.TIMEOUT, "the redirections took all of the time; raise fetch.deadlines.total"
            )
        return HopRequest(
            url=url,
            headers=headers,
            total_s=total_s,
            max_body_bytes=self._settings.max_body,
            max_wire_bytes=self._settings.max_wire,
            proxy=request.policy.proxy or None,
            # A redirect reaches a private network only within the origin that the user typed.
            private=request.private and is_own,
        )

    def _next_url(self, url: str, response: HopResponse, seen: dict[str, None]) -> str:
        target = resolve(url, response.location) if response.location else None
        if target is None:
            raise FetchRefused(url, FailureKind.REDIRECT, "redirected to nowhere", status=response.status)
        try:
            # Without user info: credentials come from the user, not from a site.
            target = watch_url(target).url
        except BadUrl as exc:
            said = f"redirected to a URL that is not requested: {exc}"
            raise FetchRefused(url, FailureKind.REDIRECT, said, status=response.status) from exc
        if host_and_origin(target)[0] == DEMO_HOST != host_and_origin(url)[0]:
            said = "redirected to the demo site, where only its own pages lead"
            raise FetchRefused(url, FailureKind.BLOCKED_ADDRESS, said, status=response.status)
        if target in seen:
            raise FetchRefused(url, FailureKind.REDIRECT, f"redirected in a circle to {target}", status=response.status)
        if len(seen) > self._settings.redirects:
            raise FetchRefused(
                url,
                FailureKind.REDIRECT,
                f"redirected more than {self._settings.redirects} times",
                status=response.status,
            )
        seen[target] = None
        return target


def refuse_what_is_not_the_page(url: str, response: HopResponse, clock: Clock, *, takes_accepted: bool) -> None:
    """Raise unless the answer is the page (T58: a complete answer that is not the page is final)."""
    status = response.status
    if status in RECEIVED or (takes_accepted and status == ACCEPTED and response.body):
        if not response.body:
            raise FetchFailed(url, FailureKind.EMPTY, "the answer is empty", status=status)
        return
    if status == 304:  # noqa: PLR2004 - Not Modified
        raise FetchFailed(url, FailureKind.PROTOCOL, "304 to a request without conditions", status=status)
    if status >= 500 or status in RETRIED_STATUSES:  # noqa: PLR2004 - server errors
        after = parse_retry_after(response.header("retry-after"), clock.now())
        raise FetchFailed(url, FailureKind.STATUS, f"answered {status}", status=status, retry_after=after)
    raise FetchRefused(url, FailureKind.STATUS, f"answered {status}", status=status)


async def _is_wanted(request: PageRequest) -> bool:
    return request.is_wanted is None or await request.is_wanted()


async def demand_wanted(request: PageRequest, url: str) -> None:
    """Raise Withdrawn if the page is no longer watched; otherwise a request is made for it now (T62)."""
    wanted = request.wanted
    if not (wanted[request.page_id] if wanted is not None else await _is_wanted(request)):
        raise Withdrawn(f"{url}: no longer watched")
    if request.unasked:
        request.unasked.pop(request.page_id, None)


def own_headers(request: PageRequest) -> Headers:
    """Return the headers for the page's own origin; the user's take precedence."""
    policy = request.policy
    if not (policy.headers or policy.cookies or policy.auth or request.secrets):
        return _PLAIN_HEADERS
    headers = [(name, _as_bytes(value)) for name, value in policy.headers.items()]
    if not any(name.lower() == "accept" for name in policy.headers):
        headers.insert(0, ("Accept", ACCEPT))
    if policy.cookies:
        headers.append(("Cookie", _as_bytes("; ".join(f"{name}={value}" for name, value in policy.cookies.items()))))
    if credentials := _credentials(request):
        headers.append(("Authorization", credentials))
    return tuple(headers)


def _as_bytes(value: str) -> str:
    """Encode a user's text for the wire: UTF-8, one character per byte."""
    return value if value.isascii() else value.encode().decode("latin-1")


def _credentials(request: PageRequest) -> str | None:
    auth = request.policy.auth or (":".join(request.secrets) if request.secrets else "")
    if auth.lower().startswith("bearer "):
        return _as_bytes(auth)
    return "Basic " + base64.b64encode(auth.encode()).decode() if auth else None


class RequestSets:
    """Repeats a page's set of requests as T58 and the user demand."""

    def __init__(
        self, receiver: Receiver, fetcher: Fetcher, gates: Gates, settings: FetchSettings, clock: Clock, chance: Chance
    ) -> None:
        self.receiver, self._fetcher, self._gates = receiver, fetcher, gates
        self._settings, self._clock, self._chance = settings, clock, chance

    def receive(
        self,
        request: PageRequest,
        attempts: list[Attempt],
        *,
        further: int,
        fresh: bool = False,
        retry_all: bool = False,
    ) -> Coroutine[Any, Any, ReceiveResult]:
        """Receive the page; failed sets are appended to `attempts`, which may hold earlier ones.

        further    sets after the first
        fresh      over new connections (T60)
        retry_all  every failure is tried again
        Raises the last FetchFailed or FetchRefused; Disallowed; Postponed if a pause is too long to wait for.
        """
        # Not a coroutine itself: each one on the way to the socket is resumed for every event of the request.
        if fresh:
            return self._receive_afresh(request, attempts, further, retry_all)
        return self._receive(request, self._fetcher.shared(), attempts, further, retry_all)

    async def _receive_afresh(
        self,
        request: PageRequest,
        attempts: list[Attempt],
        further: int,
        retry_all: bool,  # noqa: FBT001 - passed on
    ) -> ReceiveResult:
        async with self._fetcher.fresh() as session:
            return await self._receive(request, session, attempts, further, retry_all)

    async def _receive(
        self,
        request: PageRequest,
        session: Session,
        attempts: list[Attempt],
        further: int,
        retry_all: bool,  # noqa: FBT001 - passed on
    ) -> ReceiveResult:
        spent = len(attempts)
        # Nearly every page is received at once; only failures pay for the machinery of further tries.
        failures: list[FetchError] = []
        try:
            return await self._once(request, session, attempts)
        except FetchError as exc:
            failures.append(exc)
        if request.stand_aside is not None:
            request.stand_aside()
        policy = TryPolicy(
            further=further,
            retry_refused=retry_all or request.policy.retry_refused,
            hold_s=self._settings.hold.total_seconds(),
            retry_after_max_s=self._gates.politeness(request.host).retry_after_max_s,
        )
        async for attempt in tries(policy, self._clock, self._chance, spent=spent):
            with attempt:
                if failures:
                    raise failures.pop()
                return await self._once(request, session, attempts)
        raise AssertionError("tenacity ends with a result or an error")

    async def _once(self, request: PageRequest, session: Session, attempts: list[Attempt]) -> ReceiveResult:
        """Make one set of requests; a failed one is appended to the attempts."""
        began_s = self._clock.monotonic()
        try:
            try:
                return await self.receiver.receive(request, session)
            except HandoffRequired as exc:
                return await self._hand_off(request, session, exc)
        except FetchError as exc:
            elapsed_s = self._clock.monotonic() - began_s
            began = self._clock.now() - round(elapsed_s * 1_000_000)
            attempts.append(Attempt(began, exc.kind, exc.status, exc.detail, round(elapsed_s * 1000)))
            raise

    async def _hand_off(self, request: PageRequest, session: Session, elsewhere: HandoffRequired) -> ReceiveResult:
        """Continue a set at the fetchers that serve the hosts of its redirects."""
        while True:
            if request.hand_off is None:
                raise elsewhere
            if request.stand_aside is not None:
                request.stand_aside()
            came = await request.hand_off(elsewhere.so_far)
            if not isinstance(came, RequestProgress):
                return came
            try:
                return await self.receiver.receive(request, session, came)
            except HandoffRequired as exc:
                elsewhere = exc
