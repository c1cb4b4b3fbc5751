"""The sinks of a configuration, open; what another configuration changes of them is opened anew."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Self

from tocsin.adapters.http.tls import accepted_of
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.app.agent import user_agent
from tocsin.engine.judging.events import Alerts
from tocsin.errors import DeliveryError, SettingsError
from tocsin.model import SinkState, unread_sinks

if TYPE_CHECKING:
    from types import TracebackType

    from tocsin.adapters.sinks.context import SinkContext
    from tocsin.model import SinkTest
    from tocsin.ports import Sink, Store
    from tocsin.settings import Settings, SinkSettings

TAKEN_S: Final = 5.0
"""When a running service should have begun a test that it was asked for."""
_FOLLOW_S: Final = 0.1


class OpenSinks:
    """The sinks of a configuration.

    Sinks whose secret cannot be read are left out (`unread_sinks` names them).
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._sections: dict[str, SinkSettings] = {}
        self._stack = AsyncExitStack()
        self._context: SinkContext | None = None
        self.opened: list[Sink] = []

    async def __aenter__(self) -> Self:
        """Open them; raises SettingsError."""
        try:
            self.opened, _ = await self.change(self._settings)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all."""
        await self._stack.aclose()

    async def change(self, settings: Settings) -> tuple[list[Sink], set[str]]:
        """Open what another configuration has anew or otherwise, and name what it has no more.

        Nothing is contacted, and what was open stays so. Network and certificates stay those of the start.
        Raises SettingsError; then nothing has changed.
        """
        unread = unread_sinks(settings)
        wanted = {name: section for name, section in settings.sinks.items() if name not in unread}
        changed = {name: section for name, section in wanted.items() if self._sections.get(name) != section}
        opened = [await self.open(name, section) for name, section in changed.items()]
        for sink in opened:
            self._stack.push_async_callback(sink.close)
        gone = self._sections.keys() - wanted.keys()
        self._sections = wanted
        return opened, gone

    async def open(self, name: str, section: SinkSettings) -> Sink:
        """Open one sink; raises SettingsError."""
        from tocsin.adapters.sinks.registry import open_sink  # noqa: PLC0415 - without sinks no aiohttp is needed

        if self._context is None:
            self._context = await self._make_context()
        return open_sink(name, section, self._context)

    async def _make_context(self) -> SinkContext:
        from tocsin.adapters.http.on_aiohttp.guarded import GuardedSessions  # noqa: PLC0415 - as above
        from tocsin.adapters.sinks.context import SinkContext  # noqa: PLC0415 - as above

        settings = self._settings
        agent, accepted = user_agent(settings.instance.contact), accepted_of(settings.hosts)
        sessions = GuardedSessions(settings.network, user_agent=agent, accepted=accepted)
        await self._stack.enter_async_context(sessions)
        return SinkContext(session=sessions.open, clock=SystemClock())


async def test_sink(settings: Settings, name: str, store: Store) -> bool:
    """Send a sink a test alert; a sink that was disabled and takes it is enabled again.

    A running service sends it, where there is one: what counts is its network, its secret and its state.
    Returns whether it did. Raises DeliveryError, SettingsError.
    """
    if await store.is_held() and (found := await _ask_service(store, name)) is not None:
        if found.blames == "settings":
            raise SettingsError(found.error or name)
        if found.blames is not None:
            raise DeliveryError(name, found.blames, found.error or "")
        return True
    if name not in settings.sinks:
        known = ", ".join(sorted(settings.sinks)) or "none is configured"
        raise SettingsError(f"sinks.{name}: there is no such sink ({known}); add [sinks.{name}] to the configuration")
    only = OpenSinks(settings)
    async with AsyncExitStack() as stack:
        sink = await only.open(name, settings.sinks[name])
        stack.push_async_exit(only)
        stack.push_async_callback(sink.close)
        alert = Alerts(settings.instance.name, SystemChance()).test_event(name, SystemClock().now())
        await sink.deliver(alert.event)
        await store.save_sink_state(SinkState(name))
    return False


async def _ask_service(store: Store, name: str) -> SinkTest | None:
    """Let the engine that holds the store try a sink; None if it does not: a one-shot check, or it is gone."""
    clock = SystemClock()
    number = await store.ask_for_sink_test(name, clock.now())
    until_s = clock.monotonic() + TAKEN_S
    while (found := await store.sink_test(number)) is not None:
        if found.ended_at is not None:
            return found
        is_late = found.begun_at is None and clock.monotonic() > until_s
        if is_late and await store.withdraw_sink_test(number):
            return None
        if not await store.is_held():
            await store.withdraw_sink_test(number)
            return None
        await asyncio.sleep(_FOLLOW_S)
    return None
