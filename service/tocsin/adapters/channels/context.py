"""What channels are given of the process they live in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import ClientSession

    from tocsin.ports import Clock


class ChannelContext(Struct, frozen=True):
    """What a channel may need.

    session  opens a client session whose connections obey the address policy; each channel closes its own
    clock    for the time that signatures carry
    """

    session: Callable[[], ClientSession]
    clock: Clock
