"""What a channel needs of its process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import ClientSession

    from tocsin.ports import Clock


class ChannelContext(Struct, frozen=True):
    """What a channel may use.

    session  opens a client session that obeys the address policy; the channel closes it
    clock    for the time in signatures
    """

    session: Callable[[], ClientSession]
    clock: Clock
