"""Remote calls over a stream of messages, matched by number; errors cross it as values."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from tocsin.errors import (
    Disallowed,
    FetchError,
    FetchFailed,
    FetchRefused,
    Postponed,
    SettingsError,
    Shortage,
    StoreError,
    TocsinError,
    Withdrawn,
)
from tocsin.ports.messages import Ask, Failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.ports.messages import Answer, FailureWay, Question, Reply

# The errors that can be an answer.
CROSSING = (FetchError, Disallowed, Postponed, Withdrawn, SettingsError, Shortage, StoreError)


class RemoteCalls:
    """Calls the other end, whose messages `send` takes."""

    def __init__(self, send: Callable[[Ask], None]) -> None:
        self._send = send
        self._asked = 0
        self._waiting: dict[int, asyncio.Future[Answer]] = {}

    async def ask(self, question: Question) -> Answer:
        """Send a question and wait for its answer; raises the error that the other end raised."""
        self._asked += 1
        number = self._asked
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        self._send(Ask(number, question))
        try:
            answer = await answered
        finally:
            del self._waiting[number]
        if isinstance(answer, Failed) and not answer.final:
            raise error_of(answer)
        return answer

    def take(self, reply: Reply) -> None:
        """Deliver an answer, unless its caller was cancelled."""
        answered = self._waiting.get(reply.number)
        if answered is not None and not answered.done():
            answered.set_result(reply.answer)


def failed_of(error: TocsinError, *, final: bool = False) -> Failed:  # noqa: PLR0911 - one for each error
    """Convert an error of `CROSSING` to a message."""
    match error:
        case FetchError():
            after = error.retry_after // timedelta(microseconds=1) if error.retry_after is not None else None
            way: FailureWay = "failed" if isinstance(error, FetchFailed) else "refused"
            return Failed(way, error.url, error.detail, error.kind, error.status, after, final=final)
        case Disallowed():
            return Failed("disallowed", error.url, error.rule or "", at=error.retry_at)
        case Postponed():
            return Failed("postponed", detail=error.why, at=error.not_before, attempts=error.attempts)
        case Withdrawn():
            return Failed("withdrawn", detail=str(error))
        case SettingsError():
            return Failed("settings", detail=str(error))
        case Shortage():
            return Failed("short", detail=error.detail, kind=error.what)
        case _:
            return Failed("store", detail=str(error))


def error_of(failed: Failed) -> TocsinError:  # noqa: PLR0911 - one for each error
    """Convert a message to the error that it stands for."""
    match failed.way:
        case "failed" | "refused":
            kind = FetchFailed if failed.way == "failed" else FetchRefused
            after = timedelta(microseconds=failed.retry_after_us) if failed.retry_after_us is not None else None
            return kind(failed.url, failed.kind, failed.detail, status=failed.status, retry_after=after)
        case "disallowed":
            return Disallowed(failed.url, failed.detail or None, failed.at)
        case "postponed":
            return Postponed(failed.at or 0, failed.attempts, failed.detail)
        case "withdrawn":
            return Withdrawn(failed.detail)
        case "settings":
            return SettingsError(failed.detail)
        case "short":
            return Shortage(failed.kind, failed.detail)
        case "store":
            return StoreError(failed.detail)
