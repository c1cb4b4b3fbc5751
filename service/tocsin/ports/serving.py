"""What the HTTP edge asks of the service that it is a part of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import LiveState
    from tocsin.ports.demo import DemoDesk
    from tocsin.settings import Settings


class Service(Protocol):
    """The running service."""

    @property
    def demo(self) -> DemoDesk:
        """The demo site, to be watched with one click."""

    def live(self) -> LiveState:
        """What it is doing now; costs nothing."""

    def settings(self) -> Settings:
        """The settings in force, before what the store adds."""

    def origins(self) -> Mapping[str, str]:
        """Where each came from, by dotted key; see `configuration.Loaded`."""

    async def try_channel(self, name: str) -> None:
        """Give a channel a test event; raises DeliveryError, UsageError where there is none of this name."""

    def metrics(self) -> bytes:
        """What Prometheus reads, in its text format."""

    async def next_alert(self, after: int, timeout_s: float) -> None:
        """Return as soon as there may be an alert with a position after this one, or when the time is over."""
