"""What the HTTP edge asks of the service that it is a part of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from tocsin.model import JsonObject, LiveState, MessagePreview, PageRow, Rendered, Saved
from tocsin.settings import ChannelSettings, RouteSettings, Settings


class Service(Protocol):
    """The running service."""

    @property
    def demo(self) -> DemoDesk:
        """The demo site, to be watched with one click."""

    @property
    def node(self) -> str:
        """Its name among the nodes of its store."""

    def live(self) -> LiveState:
        """What it is doing now; costs nothing."""

    def settings(self) -> Settings:
        """The settings in force, before what the store adds."""

    def origins(self) -> Mapping[str, str]:
        """Where each came from, by dotted key; see `configuration.Loaded`."""

    def saved(self) -> Saved:
        """The channels and routes made at run time that are in force, and mutes."""

    def unusable_routes(self) -> Mapping[str, str]:
        """Saved routes that are left out, each with the reason."""

    async def take_up(self) -> None:
        """Let what was saved take effect; raises SettingsError: then nothing has changed."""

    def demand_route(self, route: RouteSettings) -> None:
        """Raise SettingsError where a route's template cannot be used."""

    async def preview(self, name: str, event: JsonObject, route: str) -> MessagePreview:
        """Show what a channel of the settings would send of an alert that this route sends it."""

    async def demand_channel(self, name: str, section: ChannelSettings) -> None:
        """Raise SettingsError where a channel with these settings could not be used, by the address policy as well."""

    async def try_channel(self, name: str, section: ChannelSettings | None = None) -> None:
        """Give a channel a test event; raises DeliveryError, UsageError where there is none of this name.

        section  other settings than those in force; a channel that they are for need not exist
        """

    async def receive(self, page: PageRow, *, is_trial: bool = False) -> Rendered:
        """Receive a page whole, at its host's gate, as a rendering does; nothing is stored.

        page      with the id 0 it is not watched
        is_trial  of its settings: where a step fails in the browser, the page is given as it is then

        Raises FetchFailed, FetchRefused, Disallowed, Postponed or Withdrawn.
        """

    def metrics(self) -> bytes:
        """What Prometheus reads, in its text format."""

    async def next_alert(self, after: int, timeout_s: float) -> None:
        """Return as soon as there may be an alert with a position after this one, or when the time is over."""


class DemoDesk(Protocol):
    """A small site within the service, whose pages change and are watched like any others, in one group."""

    @property
    def is_on(self) -> bool:
        """Say whether its pages are on the list; costs nothing."""

    async def begin(self) -> None:
        """Watch the site's pages; nothing if they are watched. Raises UsageError where it cannot be served."""

    async def end(self) -> int:
        """Take the site's pages off the list, and nothing else; returns how many there were."""
