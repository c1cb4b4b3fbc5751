"""The renderer that needs no browser: receives the page whole, anew, at its host's gate, and processes it (T57)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.engine.receive import PageRequest
from tocsin.errors import FetchRefused, TooComplex
from tocsin.model import FailureKind
from tocsin.ports import Rendered
from tocsin.spec.html.page import read_whole_page
from tocsin.spec.html.urls import host_and_origin

if TYPE_CHECKING:
    from tocsin.engine.policies import Policies
    from tocsin.engine.receive import Receiver
    from tocsin.model import RenderJob
    from tocsin.ports import Clock, Fetcher


class HttpRenderer:
    """Implements ports.Renderer with a set of requests that sends no validators."""

    kind = "http"

    def __init__(self, receiver: Receiver, fetcher: Fetcher, policies: Policies, clock: Clock) -> None:
        self._receiver, self._fetcher, self._policies, self._clock = receiver, fetcher, policies, clock

    async def render(self, job: RenderJob) -> Rendered:
        """Receive the page, or the copy chosen for it, completely and process it; one set of requests."""
        policy = self._policies.of(job.task)
        url = job.copy_url or job.task.url
        secrets = None if job.copy_url else job.task.secrets
        request = PageRequest(url, host_and_origin(url)[0], policy, secrets=secrets)
        received = await self._receiver.receive(request, self._fetcher.shared())
        response = received.response
        content_type = response.header("content-type")
        try:
            title = read_whole_page(response.body, content_type).title
        except TooComplex as exc:
            raise FetchRefused(received.final_url, FailureKind.TOO_COMPLEX, str(exc)) from exc
        return Rendered(
            started_at=received.started_at,
            received_at=self._clock.now(),
            status=response.status,
            final_url=received.final_url,
            content_type=content_type,
            title=title,
            body=response.body,
            validators=(response.header("etag"), response.header("last-modified")),
            hop_url=received.final_url,
        )
