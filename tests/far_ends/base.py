"""What is behind a channel: a real server, or a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import open_channel
from tocsin.configuration.channels import load_type
from tocsin.model import JsonObject
from tocsin.ports import Channel
from tocsin.settings import ChannelSettings

CERTIFICATE = Path(__file__).parents[1] / "adapters/loopback.pem"
USER, PASSWORD = "tocsin", "s3cret-of-what-is-behind-it"


class FarEnd(ABC):
    """One far end, and how to break it.

    type      of the channels that lead to it
    faults    what it can be made to do: whom that blames, and a part of what is told
    revoked   the same, once it no longer accepts the secret
    largest   it refuses larger events than other channels take, with this part of what is told
    """

    type: ClassVar[str]
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {}
    revoked: ClassVar[tuple[str, str]] = ("channel", "refused")
    # It leaves out what has an id that it has already.
    leaves_out_repeats: ClassVar[bool] = False
    # Messages that it may have accepted, but not written, when it is killed.
    may_lose: ClassVar[int] = 0
    # Events that the longest test gives for each page.
    per_page: ClassVar[int] = 4
    timeout_s: ClassVar[float] = 0.3

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    async def start(self) -> None:
        """Start it, where it was before."""

    @abstractmethod
    async def kill(self) -> None:
        """End it as kill -9 does."""

    @abstractmethod
    async def received(self, at_least: int) -> Sequence[JsonObject]:
        """Give what it accepted, in order."""

    @abstractmethod
    def section(self) -> dict[str, Any]:
        """The channel's section of the configuration."""

    def elsewhere(self, host: str, port: int) -> dict[str, Any]:
        """The keys that lead to another place."""
        raise NotImplementedError

    async def prepare(self) -> None:
        """Make the place that alerts go to, empty."""
        self.folder.mkdir(exist_ok=True)

    def mistaken(self, _fault: str) -> dict[str, Any]:
        """What is wrong in the channel's section, where the fault is there."""
        return {}

    async def break_it(self, _fault: str) -> None:
        """Bring a fault about that is the far end's."""
        raise NotImplementedError

    async def mend(self) -> None:
        """Undo the fault."""
        await self.prepare()

    async def accept(self, _password: str) -> None:
        """Accept this secret and no other, also over connections that are open."""
        raise NotImplementedError

    def headers(self) -> list[set[str]]:
        """The names of the headers of each message, where there are any."""
        return []

    def settings(self, **changes: Any) -> ChannelSettings:
        return msgspec.convert({"type": self.type, **self.section(), **changes}, load_type(self.type, ()).Settings)

    def open(self, context: ChannelContext, /, **changes: Any) -> Channel:
        return open_channel("ops", self.settings(**changes), context)
