"""The outside world without the store: time, chance, happenings, requests, renderings, channels."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from tocsin.events import Happening
from tocsin.model import HopRequest, HopResponse, Instant, Rendered, RenderJob, SerializedEvent
from tocsin.model.messages import Message


class Clock(Protocol):
    """Wall time for what is stored, monotonic time for deadlines and politeness."""

    def now(self) -> Instant:
        """The wall clock, UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None:
        """Let this much monotonic time pass."""


class Chance(Protocol):
    """Randomness for jitter and identifiers."""

    def fraction(self) -> float:
        """A number from 0 up to but not including 1."""

    def ulid(self, at: Instant) -> str:
        """An identifier that sorts by time."""


class Telemetry(Protocol):
    """Where happenings go: log lines, and later metrics."""

    def emit(self, happening: Happening) -> None:
        """Take note of it; never blocks, never raises."""


class Session(Protocol):
    """One client session with its connections to the hosts needed: the spec's "computer connection" (T59)."""

    async def get(self, request: HopRequest) -> HopResponse:
        """Make one request.

        Raises FetchFailed (dns connect tls timeout protocol decode) or FetchRefused (blocked-address too-large).
        Any status is an answer.
        """


class Documents(Protocol):
    """Reads answers that are documents and no pages."""

    async def read(self, response: HopResponse) -> HopResponse:
        """Put the text of a document, as `spec.documents` writes it, in place of its bytes; gives back other answers.

        Raises FetchRefused (too-complex) for one that cannot be read, FetchFailed (crashed) where its reader ended.
        """


class Fetcher(Protocol):
    """Makes requests."""

    def shared(self) -> Session:
        """The session that all checks share."""

    def fresh(self) -> AbstractAsyncContextManager[Session]:
        """A session of its own, for "new connections" (T60)."""


class Renderer(Protocol):
    """Gives the page its awareness: receives it whole, anew, and processes it (T57)."""

    async def render(self, job: RenderJob) -> Rendered:
        """Receive the page (or the copy chosen for it) completely, with one set of requests.

        Raises FetchFailed or FetchRefused; or, where no set was made, Disallowed, Postponed or Withdrawn.
        The render queue makes the further sets (T58), because the page's slot is given up during the pause before each.
        """


class Notification(Struct, frozen=True, gc=False):
    """What a channel is given: an alert, or a digest of several.

    event    of a digest: type tocsin.digest.v1, with the digest's id
    message  the same for people; only where the channel takes messages
    """

    event: SerializedEvent
    message: Message | None = None


class ChannelFinding(Struct, frozen=True):
    """Something about a channel that its user should know.

    what      in words that follow the channel's name: "cannot be reached at …"
    mend      a sentence
    is_wrong  alerts do not arrive, or may be lost
    """

    what: str
    mend: str
    is_wrong: bool = True


class Channel(Protocol):
    """One downstream system that takes alerts.

    at_once         how many alerts it takes at once, at least 1
    takes_messages  it gives people messages; without one it cannot deliver
    """

    name: str
    at_once: int
    takes_messages: bool

    async def deliver(self, notification: Notification) -> None:
        """Give it the alert; returning means that it was accepted. Raises DeliveryError."""

    async def close(self) -> None:
        """Let go of connections and files; may be called twice."""
