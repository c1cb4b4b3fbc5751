"""Steps of the store's care, shown as a progress bar."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from tocsin.cli import output

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def follow(description: str, steps: AsyncIterator[tuple[int, int]]) -> int:
    """Show steps as a progress bar; returns how many there were."""
    with ExitStack() as stack:
        advance, before, total = None, 0, 0
        async for done, total in steps:
            # Only the first step tells how many there are.
            advance = advance or stack.enter_context(output.progress(description, total=total))
            advance(done - before)
            before = done
    return total
