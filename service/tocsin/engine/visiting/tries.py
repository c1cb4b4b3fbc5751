"""Sets of requests for a page, made again when they fail, wherever their redirections lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tocsin.engine.visiting.receive import HandoffRequired
from tocsin.engine.visiting.retry import TryPolicy, tries
from tocsin.errors import FetchError, FetchRefused
from tocsin.model import Attempt, CheckResult, ReceivedPage
from tocsin.ports.messages import RequestProgress

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.visiting.receive import PageRequest, Receiver
    from tocsin.ports import Chance, Clock, Fetcher, Session
    from tocsin.settings import FetchSettings

ReceiveResult: TypeAlias = ReceivedPage | CheckResult | FetchRefused
"""What a set of requests brings: the page; or, where another fetcher received it, what it came to, or that it cannot
be read."""


class RequestSets:
    """Makes a page's set of requests again as T58 and the user say; checks and renderings share it."""

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
        """Receive the page; each failed set is added to `attempts`, which may hold earlier ones.

        further    sets after the first
        fresh      over new connections (T60)
        retry_all  every failure is tried again: in awareness T58 knows no exception
        Raises the last FetchFailed or FetchRefused; Disallowed; Postponed where a pause is too long to wait for.
        """
        # Each coroutine between the page and its request is entered again whenever the request goes on.
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
        # Nearly every page comes at the first try: only a failure is worth the machinery of the further ones.
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
        """Make one set of requests; one that failed is added to the attempts."""
        began_s = self._clock.monotonic()
        try:
            try:
                return await self.receiver.receive(request, session)
            except HandoffRequired as exc:
                return await self._carry_on(request, session, exc)
        except FetchError as exc:
            elapsed_s = self._clock.monotonic() - began_s
            began = self._clock.now() - round(elapsed_s * 1_000_000)
            attempts.append(Attempt(began, exc.kind, exc.status, exc.detail, round(elapsed_s * 1000)))
            raise

    async def _carry_on(self, request: PageRequest, session: Session, elsewhere: HandoffRequired) -> ReceiveResult:
        """Go on with a set wherever its redirections lead."""
        while True:
            if request.carry_on is None:
                raise elsewhere
            if request.stand_aside is not None:
                request.stand_aside()
            came = await request.carry_on(elsewhere.so_far)
            if not isinstance(came, RequestProgress):
                return came
            try:
                return await self.receiver.receive(request, session, came)
            except HandoffRequired as exc:
                elsewhere = exc
