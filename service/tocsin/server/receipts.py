"""Pages that were received for whoever asked: each at most once for what its checks found, and once a minute."""

from __future__ import annotations

import asyncio
from enum import Enum, auto
from math import ceil
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec import Struct

from tocsin.errors import FetchError, LeftAlone, NotAllowed, NotWatched, Shortage
from tocsin.model import FailureKind
from tocsin.server.problems import Problem, problem_of
from tocsin.server.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.model import Instant, Rendered
    from tocsin.ports import Clock

PAUSE_S: Final = 60.0
"""Between two requests for one page, whoever asks."""
DOUBTED_S: Final = 600.0
"""So long what may be no such page serves, as far as it can; then it is asked for again, whatever checks found."""
LONGEST_PAUSE_S: Final = 86_400.0
MOST_BYTES: Final = 32 * 2**20
MOST_TRIED: Final = 10_000
"""Pages whose last request is remembered; it is forgotten when it forbids nothing any more."""

Error: TypeAlias = FetchError | LeftAlone | NotAllowed
"""Why a page is not received."""


class Standing(Enum):
    """How a page stood when it was checked last."""

    SOUND = auto()
    """It was received, or it was not checked yet."""
    SUSPECT = auto()
    """Something else stood in its place."""
    UNSEEN = auto()
    """It was not received."""


class Finding(Struct, frozen=True):
    """What a page's checks found last.

    mark      the same as long as they found nothing else
    standing  as the last of them that was made found it, whatever that one left of the mark
    at        when that one began; 0: there was none
    failed    why it did not bring the page, where it says so
    """

    mark: tuple[object, ...]
    standing: Standing = Standing.SOUND
    at: Instant = 0
    failed: Error | None = None


class Step(Enum):
    """What is done for somebody who wants a page."""

    USE = auto()
    ASK = auto()
    WAIT = auto()


class Tried(Struct, frozen=True):
    """The last request for a page.

    finding  of its checks, when it was made
    until_s  no other one is made before, in monotonic time, unless checks found that what came of it is over
    at       when it was made
    error    why the page was not received; None where it was, or where the request was never ended
    doubted  what came is something else in the page's place
    """

    finding: Finding
    until_s: float
    at: Instant = 0
    error: Error | None = None
    doubted: bool = False

    @property
    def is_provisional(self) -> bool:
        """Say whether what came may have been something else in the page's place: it never outlives that."""
        return self.doubted or self.finding.standing is not Standing.SOUND

    def is_over(self, finding: Finding) -> bool:
        """Say whether the page's checks, which found this, have shown that what came does not hold any more."""
        is_newer = finding.at > self.at
        if self.error is not None:
            return is_newer and finding.standing is not Standing.UNSEEN
        if finding.standing is not Standing.SOUND or not self.is_provisional:
            return False
        return is_newer or self.finding.standing is not Standing.SOUND


class NotReceived(Problem):
    """A page cannot be had now.

    kind  why, in a word
    """

    def __init__(self, kind: str, problem: Problem, wait_s: float | None) -> None:
        headers = dict(problem.headers)
        if wait_s is not None:
            headers["Retry-After"] = str(max(ceil(wait_s), 1))
        super().__init__(
            problem.status, problem.type, problem.title, problem.detail, mend=problem.mend, headers=headers
        )
        self.kind = kind


def next_step(last: Tried | None, finding: Finding, now_s: float, *, is_here: bool) -> Step:
    """Decide what is done for somebody who wants a page.

    last     the last request for it; None: none that would forbid another one
    finding  of its checks, now
    is_here  what was received last is still there
    """
    if last is None or last.is_over(finding):
        return Step.ASK
    if is_here and last.finding.mark == finding.mark and not last.is_provisional:
        return Step.USE
    # What may be something else, and has made room since, is asked for as what was never received is.
    if now_s < last.until_s + (DOUBTED_S - PAUSE_S if is_here and last.is_provisional else 0):
        # What was received less than a minute ago is as good as new.
        return Step.USE if is_here and last.error is None else Step.WAIT
    return Step.ASK


class Receipts:
    """Receives pages for whoever wants them, and keeps them as long as there is room.

    receive  makes the request, at its host's turn, and raises FetchError, LeftAlone, NotAllowed or NotWatched
    """

    def __init__(
        self,
        receive: Callable[[int], Awaitable[Rendered]],
        clock: Clock,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._receive, self._clock = receive, clock
        self._pages: Shelf[int, Rendered] = Shelf(most_bytes)
        self._tried: dict[int, Tried] = {}
        self._under_way: dict[int, asyncio.Future[Rendered]] = {}

    def at_hand(self, page_id: int, finding: Finding) -> Rendered | None:
        """Give a page that need not be asked for, if nobody is asking for it just now."""
        if page_id in self._under_way or page_id not in self._pages:
            return None
        step = next_step(self._tried.get(page_id), finding, self._clock.monotonic(), is_here=True)
        return self._pages.get(page_id) if step is Step.USE else None

    async def get(
        self, page_id: int, finding: Finding, *, on_made: Callable[[FetchError | None], Awaitable[None]] | None = None
    ) -> Rendered:
        """Give a page as it was received last, or receive it now; whoever wants it meanwhile shares that request.

        finding  of its checks
        on_made  is told when a request was made, and why it did not bring the page, if it did not
        Raises NotReceived, NotWatched, and Shortage.
        """
        while (under_way := self._under_way.get(page_id)) is not None:
            page, last = await asyncio.shield(under_way), self._tried.get(page_id)
            if last is None or not last.is_over(finding):
                return page
        here, last, now_s = self._pages.get(page_id), self._tried.get(page_id), self._clock.monotonic()
        match next_step(last, finding, now_s, is_here=here is not None):
            case Step.USE:
                assert here is not None  # noqa: S101 - `next_step` was told whether it is
                return here
            case Step.WAIT:
                assert last is not None  # noqa: S101 - else nothing would be waited for
                failed = finding.failed if last.error is not None and finding.at > last.at else None
                raise not_received(failed or last.error, last.until_s - now_s)
        self._forget_old(now_s)
        shared = self._under_way[page_id] = asyncio.get_running_loop().create_future()
        try:
            page = await self._ask(page_id, finding, on_made)
            shared.set_result(page)
        except (NotReceived, NotWatched, Shortage) as exc:
            shared.set_exception(exc)
            raise
        finally:
            del self._under_way[page_id]
            if not shared.done():
                # Whoever made it was stopped, or met a fault of ours: nobody else waits for ever.
                shared.set_exception(not_received(None, PAUSE_S))
            # Told to those who wait; where nobody does, nobody need know.
            shared.exception()
        return page

    def doubt(self, page_id: int, page: Rendered) -> None:
        """Note that what came is something else in the page's place, which may be over soon."""
        last = self._tried.get(page_id)
        if last is not None and self._pages.get(page_id) is page:
            self._tried[page_id] = msgspec.structs.replace(last, doubted=True)

    async def _ask(
        self, page_id: int, finding: Finding, on_made: Callable[[FetchError | None], Awaitable[None]] | None
    ) -> Rendered:
        # Noted before it is made: a request that is broken off was one, too. What it was made for is old.
        self._pages.drop(page_id)
        at = self._clock.now()
        self._tried[page_id] = Tried(finding, self._clock.monotonic() + PAUSE_S, at)
        try:
            # What is made of a page is read of its bytes.
            page = msgspec.structs.replace(await self._receive(page_id), items=None)
        except (NotWatched, Shortage):
            del self._tried[page_id]
            raise
        except (FetchError, LeftAlone, NotAllowed) as exc:
            if isinstance(exc, NotAllowed) and not exc.is_asked:
                # Nobody was asked: whoever allows it now has it at once.
                del self._tried[page_id]
                raise not_received(exc, None) from exc
            asked = None if isinstance(exc, NotAllowed) else exc.retry_after
            pause_s = PAUSE_S if asked is None else min(max(PAUSE_S, asked.total_seconds()), LONGEST_PAUSE_S)
            if isinstance(exc, FetchError) and on_made is not None:
                await on_made(exc)
            self._tried[page_id] = Tried(finding, self._clock.monotonic() + pause_s, at, _bare(exc))
            raise not_received(exc, pause_s) from exc
        self._tried[page_id] = Tried(finding, self._clock.monotonic() + PAUSE_S, at)
        self._pages.put(page_id, page, len(page.body) + sum(len(name) + len(said) for name, said in page.headers))
        if on_made is not None:
            await on_made(None)
        return page

    def _forget_old(self, now_s: float) -> None:
        """Make room to remember one request more. Raises NotReceived where all are still to be remembered."""
        if len(self._tried) < MOST_TRIED:
            return
        # What is still there needs its finding; what is not may be asked for anew.
        self._tried = {
            page_id: tried for page_id, tried in self._tried.items() if now_s < tried.until_s or page_id in self._pages
        }
        if len(self._tried) >= MOST_TRIED:
            raise not_received(None, PAUSE_S)


def _bare(error: Error) -> Error:
    """Give an error without where it came from: its frames hold what was received, as long as it is remembered."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def not_received(error: Error | None, wait_s: float | None) -> NotReceived:
    """Say that a page cannot be had, and when to ask again.

    error   why; None: it was asked for, and what came is not there any more
    wait_s  None: nobody knows
    """
    if error is None:
        problem = Problem(
            503,
            "asked-already",
            "The page was asked for a moment ago",
            f"each page is asked for once in {PAUSE_S:g} s, and what came of it is not at hand",
            mend="ask again as late as Retry-After says",
        )
        return NotReceived("asked-already", problem, wait_s)
    kind = error.why if isinstance(error, NotAllowed) else "left-alone"
    if isinstance(error, FetchError):
        kind = in_a_word(error.kind, error.status)
    return NotReceived(kind, problem_of(error), wait_s)


def in_a_word(kind: str, status: int | None) -> str:
    """Say why a page was not received: the kind of failure, with the status where that is what failed."""
    return f"{kind}-{status}" if kind == FailureKind.STATUS and status else kind
