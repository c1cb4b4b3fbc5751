"""The renderer: receives the whole page anew, at its host's gate, by HTTP or in the browser (T57)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from tocsin.engine.hosts.process_limits import LoopTime
from tocsin.engine.judging.contents import find_items, values_of
from tocsin.engine.judging.judge import awaits_html
from tocsin.engine.policies import compares_pictures
from tocsin.engine.visiting.receive import PageRequest
from tocsin.errors import FetchRefused, Postponed, StoreError, TooComplex
from tocsin.model import AGENT, NO_ITEMS, FailureKind, Rendered, sendable
from tocsin.settings import RenderSettings
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.html.page import read_whole_page
from tocsin.spec.html.urls import host_and_origin
from tocsin.spec.robots import read_directives

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.engine.policies import Policies
    from tocsin.engine.visiting.receive import Receiver
    from tocsin.model import Instant, PageItems, ReceivedPage, RenderJob
    from tocsin.ports import Clock, Fetcher
    from tocsin.ports.messages import RequestProgress
    from tocsin.settings import PageSettings
    from tocsin.spec.html.document import PageHead

_STORE_RETRY_US = 2_000_000


class WatchedPages(Protocol):
    """Knows which pages the user still watches; `ports.WorkStore` implements it."""

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        """Return the pages among these that are on the list and not paused."""


class PageRenderer:
    """Implements ports.Renderer with an unconditional set of requests.

    settings     say whether pages are rendered in the browser that their checks do not read in it
    mark         receives the id of the page whose bytes are being read, and 0 afterwards
    keeps_items  microdata of pages is kept
    loop_time    says when a page may be read
    """

    # Part of the engine and not an adapter, because it takes its turn at the host's gate like a check.
    def __init__(
        self,
        receiver: Receiver,
        fetcher: Fetcher,
        policies: Policies,
        agreement: WatchedPages,
        clock: Clock,
        settings: RenderSettings | None = None,
        *,
        mark: Callable[[int], None] = lambda _page_id: None,
        keeps_items: bool = True,
        loop_time: LoopTime | None = None,
    ) -> None:
        self.loop_time = loop_time or LoopTime()
        self._settings = settings or RenderSettings()
        self._receiver, self._fetcher, self._policies = receiver, fetcher, policies
        self._agreement, self._clock, self._mark, self._keeps_items = agreement, clock, mark, keeps_items

    async def render(self, job: RenderJob, so_far: RequestProgress | None = None) -> Rendered:
        """Receive the page, or the copy chosen for it, completely and process it; one set of requests, or its rest.

        Raises Elsewhere, too, where another fetcher serves the next host.
        """
        request, kind = self._request_of(job)
        received = await self._receiver.receive(request, self._fetcher.shared(), so_far)
        received_at, response = self._clock.now(), received.response
        content_type = response.header("content-type")
        await self.loop_time.begin(urgent=True)
        self._mark(job.page_id)
        try:
            nosniff = is_nosniff(values_of(response.headers, "x-content-type-options"))
            page = read_whole_page(response.body, content_type, nosniff=nosniff)
            items, unread = self._items_of(job, received, page, received_at)
        except TooComplex as exc:
            raise FetchRefused(received.final_url, FailureKind.TOO_COMPLEX, str(exc)) from exc
        finally:
            self._mark(0)
            self.loop_time.end()
        return Rendered(
            started_at=received.started_at,
            received_at=received_at,
            status=response.status,
            final_url=received.final_url,
            content_type=content_type,
            title=page.title,
            body=response.body,
            validators=(sendable(response.header("etag")), sendable(response.header("last-modified"))),
            hop_url=received.final_url,
            headers=response.headers,
            wire_bytes=response.wire_bytes,
            items=items,
            unread=unread,
            kind=kind,
            picture=received.picture,
            steps=received.steps,
        )

    def _request_of(self, job: RenderJob) -> tuple[PageRequest, str]:
        """Make the request of a rendering; returns it, and whether it is by http or browser."""
        policy, secrets = self._policies.of(job.task), job.task.secrets
        url = job.copy_url or job.task.url
        if host_and_origin(url)[1] != host_and_origin(job.task.url)[1]:
            # Credentials, cookies, secrets and the user's headers never go to the origin that holds a copy.
            own = {"headers": {}, "cookies": {}, "auth": "", "secrets": {}, "steps": ()}
            policy, secrets = msgspec.structs.replace(policy, **own), None
        # A page that is looked at before it is watched has no id: a user asks for this one request.
        wanted = partial(self._is_wanted, job.page_id) if job.page_id else None
        host = host_and_origin(url)[0]
        kind = kind_of_rendering(self._settings, policy)
        request = PageRequest(
            url,
            host,
            policy,
            secrets=secrets,
            is_wanted=wanted,
            page_id=0 if job.copy_url is not None else job.page_id,
            awaits_html=job.copy_url is None and not job.is_trial and awaits_html(job.task, policy),
            is_urgent=True,
            is_trial=job.is_trial,
            in_browser=kind == "browser",
            wants_picture=job.copy_url is None
            and (job.is_trial or self._settings.screenshot or compares_pictures(policy)),
        )
        return request, kind

    def _items_of(
        self, job: RenderJob, received: ReceivedPage, page: PageHead, at: Instant
    ) -> tuple[PageItems | None, str | None]:
        if job.copy_url is not None:
            # A copy is no state of the page.
            return None, None
        return _read_items(received, page, at) if self._keeps_items else (NO_ITEMS, None)

    async def _is_wanted(self, page_id: int) -> bool:
        # Asked right before the request: the page may have waited long for its slot and its turn.
        try:
            return page_id in await self._agreement.still_watched([page_id])
        except StoreError as exc:
            # No request without knowing that the user wants it (T62); the store may work again soon.
            raise Postponed(self._clock.now() + _STORE_RETRY_US, 0) from exc


def kind_of_rendering(settings: RenderSettings, policy: PageSettings) -> Literal["http", "browser"]:
    """Return how a page is rendered: in the browser where all are, or where its checks read it so."""
    return "browser" if "browser" in (settings.kind, policy.fetch) else "http"


def _read_items(received: ReceivedPage, page: PageHead, at: Instant) -> tuple[PageItems | None, str | None]:
    """Read the page's microdata in the process that has its bytes; returns the problem if that fails."""
    response = received.response
    metas = [(meta.name, meta.content) for meta in page.metas]
    said = read_directives(metas, values_of(response.headers, "x-robots-tag"), AGENT)
    content_type = response.header("content-type")
    try:
        return find_items(received.final_url, response.body, content_type, response.headers, said, at), None
    except TooComplex as exc:
        return None, f"too complex to be read for its items: {exc}"
