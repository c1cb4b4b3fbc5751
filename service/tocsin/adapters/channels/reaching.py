"""Why the address of a channel cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from tocsin.adapters.channels.context import ChannelContext
from tocsin.ports import ChannelFinding

_REACH_S: Final = 5.0
# The policy's refusals name the line that allows the address.
_ALLOW: Final = "; if it is yours, "


async def probe_address(host: str, port: int, where: str, context: ChannelContext) -> Sequence[ChannelFinding]:
    """Connect and hang up.

    where  the channel's address, as it may be shown
    """
    try:
        async with asyncio.timeout(_REACH_S):
            _, writer = await context.dial(host, port, tls=False)
    except (OSError, TimeoutError, ValueError) as exc:
        return [unreached(exc, where)]
    writer.close()
    return ()


def unreached(exc: Exception, where: str) -> ChannelFinding:
    """Say that a channel cannot be reached at its address, and why."""
    what, allow, mend = str(exc).partition(_ALLOW)
    if allow:
        return ChannelFinding(f"at {where} is not contacted: {what}", f"If it is yours, {mend}")
    reason = str(exc) or "no answer in time"
    return ChannelFinding(f"cannot be reached at {where}: {reason}", "Correct its url, or start its receiver")


def os_error_of(exc: BaseException | None) -> OSError | None:
    """Find the error of the system behind an error of a library."""
    while exc is not None and not isinstance(exc, OSError):
        exc = exc.__cause__ or exc.__context__
    return exc
