"""Making requests, giving pages their awareness, delivering alerts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from tocsin.model import PageItems  # noqa: TC001 - it crosses between processes, and is decoded by its type

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tocsin.model import JsonObject, RenderJob

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class HopRequest(Struct, frozen=True):
    """One GET, without redirection.

    headers   in order, beside those that the client sends of itself; a value's characters are bytes, 0 to 255
    total_s   what is left of the set's total deadline
    proxy     the proxy's URL, or None
    private   loopback and private addresses may be dialled (a user typed this URL into a one-shot command)
    cut_at    of the decoded body only so many bytes are wanted: what follows is left unread, and the answer counts as
              complete; the two caps then end the body, too, instead of refusing it
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    total_s: float = 60.0
    max_body_bytes: int = 10 * 2**20
    max_wire_bytes: int = 10 * 2**20
    proxy: str | None = None
    private: bool = False
    cut_at: int | None = None


class HopResponse(Struct, frozen=True):
    """A complete answer: its framing and coding ended as announced.

    headers     names in lower case, in order, repeated ones repeated; each character of a value is one byte, so that
                nothing is lost, whatever the server means by it
    body        decoded
    wire_bytes  as received, before decoding
    cut         something was left unread, as the request's `cut_at` wanted
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    wire_bytes: int
    elapsed_ms: int
    cut: bool = False

    def header(self, name: str) -> str | None:
        """Return the first header of this (lower-case) name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    @property
    def location(self) -> str | None:
        """Where a redirect leads, as a reference to be resolved: bytes that are not ASCII are percent-encoded.

        Source  the Fetch standard, "location URL", and what browsers do with unescaped UTF-8.
        """
        value = self.header("location")
        return value if value is None or value.isascii() else _NOT_ASCII.sub(lambda byte: f"%{ord(byte[0]):02X}", value)


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


class Rendered(Struct, frozen=True):
    """A page received whole and processed.

    body        decoded bytes of the document, for assessing the state that the rendering found
    headers     of the last answer, as in HopResponse
    wire_bytes  of its body as received, None if the renderer cannot know
    items       its microdata, `NO_ITEMS` where none may be kept; None where it was not read, and then
    unread      says why, where something is wrong with the page
    """

    started_at: int
    received_at: int
    status: int
    final_url: str
    content_type: str | None
    title: str | None
    body: bytes
    validators: tuple[str | None, str | None]
    hop_url: str
    headers: tuple[tuple[str, str], ...] = ()
    wire_bytes: int | None = None
    items: PageItems | None = None
    unread: str | None = None


class Renderer(Protocol):
    """Gives the page its awareness: receives it whole, anew, and processes it (T57)."""

    kind: str

    async def render(self, job: RenderJob) -> Rendered:
        """Receive the page (or the copy chosen for it) completely, with one set of requests.

        Raises FetchFailed or FetchRefused; or, where no set was made, Disallowed, Postponed or Withdrawn of the engine.
        The render queue makes the further sets (T58), because the page's slot is given up during the pause before each.
        """


class Sink(Protocol):
    """One downstream system that takes alerts.

    at_once  how many alerts it takes at once, at least 1
    """

    name: str
    at_once: int

    async def deliver(self, event: JsonObject) -> None:
        """Give it the event; returning means that it was accepted. Raises DeliveryError."""

    async def close(self) -> None:
        """Let go of connections and files."""
