"""What sinks are given of the process they live in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import ClientSession

    from tocsin.ports import Clock


class SinkContext(Struct, frozen=True):
    """What a sink may need.

    session  opens a client session whose connections obey the address policy; each sink closes its own
    clock    for the time that signatures carry
    """

    session: Callable[[], ClientSession]
    clock: Clock
