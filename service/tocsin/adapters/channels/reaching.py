"""Why the address of a channel cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from tocsin.adapters.channels.context import ChannelContext
from tocsin.ports import ChannelFinding

_REACH_S: Final = 5.0
# Refusals of the policy name the line that allows the address; those of a certificate, the line that accepts it.
_ALLOW: Final = "; if it is yours, "
_TRUST: Final = "; if you trust it, "


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
    for clause, said, condition in (
        (_ALLOW, "is not contacted", "If it is yours"),
        (_TRUST, "is not trusted", "If you trust it"),
    ):
        what, found, mend = str(exc).partition(clause)
        if found:
            return ChannelFinding(f"at {where} {said}: {what}", f"{condition}, {mend}")
    reason = str(exc) or "no answer in time"
    return ChannelFinding(f"cannot be reached at {where}: {reason}", "Correct its address, or start its server")


def os_error_of(exc: BaseException | None) -> OSError | None:
    """Find the error of the system behind an error of a library."""
    while exc is not None and not isinstance(exc, OSError):
        exc = exc.__cause__ or exc.__context__
    return exc
