"""What is made once for all who want the same, a few at a time; what nobody waits for any more gives its place up."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from starlette.requests import ClientDisconnect

from tocsin.errors import TocsinError
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from starlette.requests import Request

    HungUp: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

Key = TypeVar("Key")
Made = TypeVar("Made")

WAIT_S: Final = 50.0
"""So long anybody waits in all for what others make, and for their turns: many a proxy gives up after a minute."""
RETRY_S: Final = 10
MOST_BYTES: Final = 64 * 2**20
"""Of what those hold that wait for their turn; one alone may hold more."""


class Busy(Problem):
    """There is no room for one more that waits, or it was not made in time; it may be there later.

    about, title  of the problem
    """

    kind = "busy"

    def __init__(
        self, detail: str, about: str = "too-many-extracts", title: str = "Too many pages are extracted at one time"
    ) -> None:
        super().__init__(
            503,
            about,
            title,
            detail,
            mend="ask again as late as Retry-After says",
            headers={"Retry-After": str(RETRY_S)},
        )


class Waiter:
    """Somebody who asks, from now on.

    hung_up   returns as soon as they have hung up
    stopping  set as soon as nobody is to wait any more
    """

    def __init__(self, hung_up: HungUp, stopping: asyncio.Event) -> None:
        self._hung_up, self._stopping = hung_up, stopping
        self._until = asyncio.get_running_loop().time() + WAIT_S

    async def wait_for(self, event: asyncio.Event) -> None:
        """Wait, so long as they do. Raises ClientDisconnect and Busy."""
        if event.is_set():
            return
        left_s = self._until - asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(event.wait(), name="it is made")
            watching = group.create_task(self._hung_up(), name="whoever asks hangs up")
            ending = group.create_task(self._stopping.wait(), name="the service stops")
            ends = waiting, watching, ending
            await asyncio.wait(ends, timeout=max(0.0, left_s), return_when=asyncio.FIRST_COMPLETED)
            is_gone, is_stopping = watching.done(), ending.done()
            for end in ends:
                end.cancel()
        if event.is_set():
            return
        if is_gone:
            raise ClientDisconnect
        if is_stopping:
            raise Busy("nobody waits any more while it does", "stopping", "The service stops")
        raise Busy(f"it was not there within {WAIT_S:g} s")


class _Piece(Generic[Key, Made]):
    """One thing that is made.

    wanted     by so many, who wait for it
    has_begun  its turn has come
    called     set when it has begun, and when nobody wants it any more before that
    over       set when it was made, or will not be
    """

    def __init__(self, key: Key, size: int) -> None:
        self.key, self.size = key, size
        self.wanted, self.has_begun = 1, False
        self.called, self.over = asyncio.Event(), asyncio.Event()
        self.made: tuple[Made, ...] = ()
        self.failed: TocsinError | None = None

    def result(self) -> Made:
        """Give what was made. Raises what that failed with."""
        if self.failed is not None:
            raise self.failed
        if not self.made:
            raise Busy("it could not be made to its end")
        return self.made[0]


class Making(Generic[Key, Made]):
    """Makes things, each once for all who want it meanwhile.

    at_once     so many are made at one time; the others wait for their turn
    most_bytes  that those may hold which wait
    """

    def __init__(self, at_once: int = 1, *, most_bytes: int = MOST_BYTES) -> None:
        self._at_once, self._most_bytes = at_once, most_bytes
        self._pieces: dict[Key, _Piece[Key, Made]] = {}
        self._in_turn: deque[_Piece[Key, Made]] = deque()
        self._large: deque[_Piece[Key, Made]] = deque()
        self._front: _Piece[Key, Made] | None = None
        self._busy = self._bytes = 0

    @property
    def wanted(self) -> dict[Key, int]:
        """What is made, or is to be, and how many wait for it."""
        return {piece.key: piece.wanted for piece in self._pieces.values()}

    async def get(
        self,
        key: Key,
        make: Callable[[], Awaitable[Made]],
        waiter: Waiter,
        *,
        size: int = 0,
        is_large: bool = False,
    ) -> Made:
        """Give what somebody makes already, or make it.

        make      makes it; once begun, it is made to its end, whoever has hung up
        size      of what it holds until it is made, in bytes
        is_large  it takes long: of such pieces one alone is before whoever wants something small
        Raises ClientDisconnect, Busy, and what `make` raises.
        """
        piece = self._pieces.get(key)
        if piece is None:
            return await self._make(self._enter(_Piece(key, size), is_large=is_large), make, waiter)
        piece.wanted += 1
        try:
            await waiter.wait_for(piece.over)
        finally:
            self._unwant(piece)
        return piece.result()

    async def _make(self, piece: _Piece[Key, Made], make: Callable[[], Awaitable[Made]], waiter: Waiter) -> Made:
        try:
            try:
                await waiter.wait_for(piece.called)
            except (ClientDisconnect, Busy):
                self._unwant(piece)
                # It is made here for all who came later: they would lose their place in the queue.
                await piece.called.wait()
                if not piece.has_begun:
                    raise
            piece.made = (await make(),)
        except TocsinError as exc:
            piece.failed = exc
            raise
        finally:
            self._leave(piece)
        return piece.result()

    def _enter(self, piece: _Piece[Key, Made], *, is_large: bool) -> _Piece[Key, Made]:
        if piece.size and self._bytes and self._bytes + piece.size > self._most_bytes:
            raise Busy(f"what waits for its turn holds {self._bytes >> 20} MiB already")
        self._bytes += piece.size
        self._pieces[piece.key] = piece
        if is_large and self._front is not None:
            self._large.append(piece)
        else:
            self._in_turn.append(piece)
            self._front = piece if is_large else self._front
        self._call()
        return piece

    def _call(self) -> None:
        """Begin what may begin."""
        while self._busy < self._at_once and self._in_turn:
            piece = self._in_turn.popleft()
            self._busy += 1
            piece.has_begun = True
            piece.called.set()
        if self._front is None and self._large:
            self._front = self._large.popleft()
            self._in_turn.append(self._front)
            self._call()

    def _unwant(self, piece: _Piece[Key, Made]) -> None:
        """Note that somebody waits no longer; what nobody waits for is not begun any more."""
        piece.wanted -= 1
        if not piece.wanted and not piece.has_begun:
            self._leave(piece)
            piece.called.set()

    def _leave(self, piece: _Piece[Key, Made]) -> None:
        """Give its place up, once."""
        if piece.over.is_set():
            return
        piece.over.set()
        del self._pieces[piece.key]
        self._bytes -= piece.size
        if piece.has_begun:
            self._busy -= 1
        else:
            (self._in_turn if piece in self._in_turn else self._large).remove(piece)
        if self._front is piece:
            self._front = None
        self._call()


def waiting(request: Request) -> Waiter:
    """Say who asks by a request, while it is answered."""
    return Waiter(partial(_hang_up, request), request.app.state.stopping)


async def _hang_up(request: Request) -> None:
    """Return as soon as whoever asks has hung up, or has broken a rule of sending."""
    try:
        while (await request.receive())["type"] != "http.disconnect":
            continue
    except Problem:
        # They are told by those who keep the rule.
        return
