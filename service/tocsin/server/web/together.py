"""Several reads of the store at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

T = TypeVar("T")


async def together(reads: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Give what reads of the store come to, in their order; raises what the first one that failed did.

    The store reads on a thread, which a busy loop hears of late: so it is waited for once, not after each of them.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(read, name="read for a page") for read in reads]
    except ExceptionGroup as exc:
        raise exc.exceptions[0] from None
    return [task.result() for task in tasks]
