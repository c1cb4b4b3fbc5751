"""The channels of a configuration, open; what another configuration changes of them is opened anew."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from tocsin.adapters.http.tls import accepted_of
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.app.fetching import user_agent
from tocsin.app.messages import MessageWriter
from tocsin.engine.judging.events import EventWriter
from tocsin.errors import DeliveryError, SettingsError
from tocsin.model import ChannelState, MessagePreview, SerializedEvent
from tocsin.model.records.routing import ChannelPreview, channel_preview_of
from tocsin.model.saved import merge
from tocsin.ports import Notification
from tocsin.settings import unread_channels

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from types import TracebackType

    from tocsin.adapters.channels.context import ChannelContext
    from tocsin.adapters.http.guarded import GuardedSessions
    from tocsin.events import Happening
    from tocsin.model import ChannelTest, JsonObject
    from tocsin.ports import Channel, ChannelFinding, Store
    from tocsin.settings import ChannelSettings, Settings

# A running service begins a requested test within this time.
TAKEN_S: Final = 5.0
_FOLLOW_S: Final = 0.1


class OpenChannels:
    """The channels of a configuration.

    Channels whose secret cannot be read are left out (`unread_channels` names them), and so are muted ones.

    muted  names of channels that are given nothing
    saved  what was made at run time, as "channels.NAME" and "routes.NAME": one that cannot be opened is left out
    emit   takes what the egress proxy refused to their processes
    """

    def __init__(
        self,
        settings: Settings,
        muted: Collection[str] = (),
        saved: Collection[str] = (),
        *,
        emit: Callable[[Happening], None] = lambda _: None,
    ) -> None:
        self._settings, self._muted, self._saved, self._emit = settings, muted, saved, emit
        self._sections: dict[str, ChannelSettings] = {}
        self._stack = AsyncExitStack()
        self._plugins = settings.delivery.plugins
        self._context: ChannelContext | None = None
        self._sessions: GuardedSessions | None = None
        self.messages = MessageWriter(settings, emit, saved)
        self._stack.push_async_callback(self.messages.close)
        self.opened: list[Channel] = []
        self.unusable: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        """Open them; raises SettingsError."""
        try:
            self.opened, _ = await self.change(self._settings, self._muted, self._saved)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all."""
        await self._stack.aclose()

    async def change(
        self, settings: Settings, muted: Collection[str] = (), saved: Collection[str] = ()
    ) -> tuple[list[Channel], set[str]]:
        """Open what another configuration has anew or otherwise, and name what it has no more.

        Nothing is contacted, and what was open stays so. Network and certificates stay those of the start.
        Raises SettingsError; then nothing has changed.
        """
        self._plugins = settings.delivery.plugins
        left_out = {*unread_channels(settings), *muted}
        wanted = {name: section for name, section in settings.channels.items() if name not in left_out}
        changed = {name: section for name, section in wanted.items() if self._sections.get(name) != section}
        opened, self.unusable = [], {}
        for name, section in changed.items():
            try:
                opened.append(await self.open(name, section))
            except SettingsError as exc:
                if f"channels.{name}" not in saved:
                    raise
                # It was opened when it was saved: what it needs is gone since, and no other channel suffers.
                self.unusable[name] = str(exc)
                del wanted[name]
        self.messages.configure(settings, saved)
        for channel in opened:
            self._stack.push_async_callback(channel.close)
        gone = self._sections.keys() - wanted.keys()
        self._sections = wanted
        return opened, gone

    async def open(self, name: str, section: ChannelSettings) -> Channel:
        """Open one channel; raises SettingsError."""
        from tocsin.adapters.channels.registry import open_channel  # noqa: PLC0415 - without channels no aiohttp is needed

        return open_channel(name, section, await self._needed_context(), self._plugins)

    async def demand(self, name: str, section: ChannelSettings) -> None:
        """Raise SettingsError where a channel cannot be opened, or leads to an address that must not be dialled."""
        from tocsin.adapters.http.addresses import AddressRefused  # noqa: PLC0415 - as above

        channel = await self.open(name, section)
        await channel.close()
        self.messages.demand_channel(f"channels.{name}.template", section)
        address = section.address()
        # A mail server is named without a URL.
        host = urlsplit(address).hostname if "://" in address else getattr(section, "host", "") or None
        if host is None or self._sessions is None:
            return
        try:
            await self._sessions.addresses(host)
        except AddressRefused as exc:
            raise SettingsError(f"channels.{name}: {exc}") from exc
        except (OSError, ValueError):
            # A name that does not resolve now may do so later; until then its alerts wait, and the channel says why.
            return

    async def preview(self, name: str, section: ChannelSettings, event: JsonObject, route: str) -> MessagePreview:
        """Show what a channel would send of an alert that this route sends it; raises SettingsError."""
        from tocsin.adapters.channels.context import ShowsMessages  # noqa: PLC0415 - as above

        channel = await self.open(name, section)
        message = await self.messages.write_as(event, section, route)
        notification = Notification(SerializedEvent.of(event), message)
        try:
            if isinstance(channel, ShowsMessages):
                content_type, body = channel.show(notification)
                return MessagePreview(message, content_type, body.decode(errors="replace"))
        except DeliveryError as exc:
            return MessagePreview(message, error=exc.detail)
        finally:
            await channel.close()
        if channel.takes_messages:
            return MessagePreview(message)
        return MessagePreview(message, "application/cloudevents+json", notification.event.json.decode())

    async def try_out(self, name: str, section: ChannelSettings, event: JsonObject) -> None:
        """Give a test event to a channel that is opened for it alone; raises DeliveryError, SettingsError."""
        channel = await self.open(name, section)
        message = await self.messages.write_as(event, section) if channel.takes_messages else None
        try:
            await channel.deliver(Notification(SerializedEvent.of(event), message))
        finally:
            await channel.close()

    async def probe(self, name: str, section: ChannelSettings) -> Sequence[ChannelFinding]:
        """Find what keeps alerts from a channel that could be opened."""
        from tocsin.adapters.channels.registry import channel_type  # noqa: PLC0415 - as above

        return await channel_type(section, self._plugins).probe(name, section, await self._needed_context())

    async def _needed_context(self) -> ChannelContext:
        if self._context is None:
            self._context = await self._make_context()
        return self._context

    async def _make_context(self) -> ChannelContext:
        from tocsin.adapters.channels.context import ChannelContext  # noqa: PLC0415 - as above
        from tocsin.adapters.http.guarded import GuardedSessions  # noqa: PLC0415 - as above
        from tocsin.app.egress import CellAsides  # noqa: PLC0415 - as above

        settings = self._settings
        agent, accepted = user_agent(settings.instance.contact), accepted_of(settings.hosts)
        sessions = GuardedSessions(settings.network, user_agent=agent, accepted=accepted)
        self._sessions = await self._stack.enter_async_context(sessions)
        asides = CellAsides(settings.network, self._emit, most=settings.delivery.asides)
        self._stack.push_async_callback(asides.close)
        return ChannelContext(sessions.open, SystemClock(), sessions.dial, sessions.tls, asides, sessions.connect)


async def preview_channel(
    settings: Settings, store: Store, name: str, alert_id: str | None, route: str | None
) -> ChannelPreview:
    """Show what a channel would send of an alert, as this configuration has it; see `alert_to_show`."""
    from tocsin.engine.alerting.previewing import alert_to_show  # noqa: PLC0415 - only to preview

    settings = merge(settings, await store.saved()).settings
    shown = await alert_to_show(
        settings, store, SystemChance(), SystemClock().now(), channel=name, alert_id=alert_id, route=route
    )
    only = OpenChannels(settings)
    async with AsyncExitStack() as stack:
        found = await only.preview(name, settings.channels[name], shown.event, shown.route)
        stack.push_async_exit(only)
    return channel_preview_of(name, shown.route, shown.id, found)


async def test_channel(settings: Settings, name: str, store: Store) -> bool:
    """Send a channel a test alert; a channel that was disabled and takes it is enabled again.

    A running service sends it, where there is one: what counts is its network, its secret and its state.
    Returns whether it did. Raises DeliveryError, SettingsError.
    """
    if await store.is_held() and (found := await _ask_service(store, name)) is not None:
        if found.blames == "settings":
            # A channel whose secret cannot be read is not opened: there the service knows its name alone.
            unread = unread_channels(merge(settings, await store.saved()).settings)
            raise SettingsError(unread.get(name) or found.error or name)
        if found.blames is not None:
            raise DeliveryError(name, found.blames, found.error or "")
        return True
    settings = merge(settings, await store.saved()).settings
    if name not in settings.channels:
        known = ", ".join(sorted(settings.channels)) or "none is configured"
        raise SettingsError(
            f"channels.{name}: there is no such channel ({known}); add [channels.{name}] to the configuration"
        )
    only = OpenChannels(settings)
    async with AsyncExitStack() as stack:
        channel = await only.open(name, settings.channels[name])
        stack.push_async_exit(only)
        stack.push_async_callback(channel.close)
        instance = settings.instance
        writer = EventWriter(instance.name, SystemChance(), language=instance.language)
        alert = writer.test_event(name, SystemClock().now())
        message = await only.messages.write(alert.event, name) if channel.takes_messages else None
        await channel.deliver(Notification(SerializedEvent.of(alert.event), message))
        await store.save_channel_state(ChannelState(name, accepted_at=SystemClock().now()))
    return False


async def _ask_service(store: Store, name: str) -> ChannelTest | None:
    """Let the engine that holds the store try a channel; None if it does not: a one-shot check, or it is gone."""
    clock = SystemClock()
    number = await store.ask_for_channel_test(name, clock.now())
    until_s = clock.monotonic() + TAKEN_S
    while (found := await store.channel_test(number)) is not None:
        if found.ended_at is not None:
            return found
        is_late = found.begun_at is None and clock.monotonic() > until_s
        if is_late and await store.withdraw_channel_test(number):
            return None
        if not await store.is_held():
            await store.withdraw_channel_test(number)
            return None
        await asyncio.sleep(_FOLLOW_S)
    return None
