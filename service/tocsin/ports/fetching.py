"""Making requests, giving pages their awareness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tocsin.model import HopRequest, HopResponse, Rendered, RenderJob


class Session(Protocol):
    """One client session with its connections to the hosts needed: the spec's "computer connection" (T59)."""

    async def get(self, request: HopRequest) -> HopResponse:
        """Make one request.

        Raises FetchFailed (dns connect tls timeout protocol decode) or FetchRefused (blocked-address too-large).
        Any status is an answer.
        """


class Fetcher(Protocol):
    """Makes requests."""

    def shared(self) -> Session:
        """The session that all checks share."""

    def fresh(self) -> AbstractAsyncContextManager[Session]:
        """A session of its own, for "new connections" (T60)."""


class Renderer(Protocol):
    """Gives the page its awareness: receives it whole, anew, and processes it (T57)."""

    kind: str

    async def render(self, job: RenderJob) -> Rendered:
        """Receive the page (or the copy chosen for it) completely, with one set of requests.

        Raises FetchFailed or FetchRefused; or, where no set was made, Disallowed, Postponed or Withdrawn.
        The render queue makes the further sets (T58), because the page's slot is given up during the pause before each.
        """
