"""What a channel needs of its process."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import ClientSession
from msgspec import Struct

from tocsin.ports import Clock


class ChannelContext(Struct, frozen=True):
    """What a channel may use.

    session  opens a client session that obeys the address policy; the channel closes it
    clock    for the time in signatures
    """

    session: Callable[[], ClientSession]
    clock: Clock
