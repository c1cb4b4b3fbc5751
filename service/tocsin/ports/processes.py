"""Processes of our own, and the streams of messages between them and us."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from tocsin.ports.messages import FromFetcher, ToFetcher

Sent_contra = TypeVar("Sent_contra", contravariant=True)
Received_co = TypeVar("Received_co", covariant=True)


class MessagePipe(Protocol, Generic[Sent_contra, Received_co]):
    """One end of a bounded stream of messages."""

    async def send(self, messages: Sequence[Sent_contra]) -> None:
        """Send these in order; waits while the other end does not read. Once that is gone, messages are lost."""

    async def receive(self) -> Sequence[Received_co]:
        """Wait for the next messages, at least one; none: the other end is gone."""


class FetcherProcess(MessagePipe[ToFetcher, FromFetcher], Protocol):
    """A fetcher process, as its parent sees it."""

    pid: int

    def named(self) -> int | None:
        """The id of the page whose bytes it is working on, or was when it died; None: it says none."""

    def resident_bytes(self) -> int | None:
        """How much memory it takes; None where the machine does not tell."""

    def kill(self) -> None:
        """End it at once."""

    async def end(self, grace_s: float) -> int:
        """Close the stream, wait this long, then kill it; returns its exit status, negative for a signal."""


class FetcherStarter(Protocol):
    """Starts fetcher processes."""

    async def start(self) -> FetcherProcess:
        """Start one; raises ProcessError where the machine does not let us."""


class AsideAnswer(Struct, frozen=True):
    """What a process aside answered to a job.

    refusals  why it was not let out meanwhile, each with the mend
    """

    body: bytes
    refusals: tuple[str, ...] = ()


class Asides(Protocol):
    """Processes that do one job at a time each, and reach the network only meanwhile, by the address policy."""

    def why_not(self) -> str | None:
        """Say why this machine may start none, with the mend; None if it may."""

    async def ask(self, module: str, job: bytes, within_s: float) -> AsideAnswer:
        """Wait for a process that runs this module, give it a job, and wait for the answer.

        within_s  after which the process is killed, counted from when it gets the job
        Raises ProcessError, and TimeoutError.
        """
