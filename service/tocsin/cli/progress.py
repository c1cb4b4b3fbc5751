"""The progress bar, and what is said of work that the user interrupts."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.formatting import count

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator


@contextmanager
def progress(
    description: str, total: int | None = None, *, into: IO[bytes] | None = None
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr while the block runs, if that is a terminal and stdout is no pipe.

    into  the file that the work writes; there is no bar if it is a terminal, where it would stand in the output
    Yields a function that adds to what is done.
    """
    is_shown = sys.stderr.isatty() and (into is None or not into.isatty())
    # The program at the other end of a pipe may write to the same terminal.
    if not is_shown or stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode):
        yield lambda _: None
        return
    from rich import progress as bars  # noqa: PLC0415 - the same
    from rich.console import Console  # noqa: PLC0415 - costs 50 ms; JSON needs none of it

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    context = click.get_current_context(silent=True)
    meta = {} if context is None else context.meta
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        meta[output.BAR] = bar
        task = bar.add_task(output.clean(description), total=total)
        try:
            yield lambda done: bar.advance(task, done)
        finally:
            meta.pop(output.BAR, None)


@contextmanager
def steps(doing: str, done: str, *, total: int | None = None, what: str = "page") -> Iterator[Callable[[int], None]]:
    """Show the progress of work on pages (or `what`); if the user interrupts it, say how far it got.

    doing, done  the work in words, such as "Removing" and "removed"
    Yields a function that adds to the pages done.
    """
    so_far = 0
    with progress(doing, total=total) as advance:

        def on_step(pages: int) -> None:
            nonlocal so_far
            so_far += pages
            advance(pages)

        try:
            yield on_step
        except asyncio.CancelledError:
            of = "" if total is None else f" of {total:,}"
            output.note(f"Interrupted: {count(so_far, what)}{of} {done}; run the same command again to continue.")
            raise


async def follow(description: str, work: AsyncIterator[tuple[int, int]]) -> int:
    """Show the store's own steps (done, total) as a progress bar; returns how many there were."""
    with ExitStack() as stack:
        advance, before, total = None, 0, 0
        async for done, total in work:
            # The number of steps is known from the first one.
            advance = advance or stack.enter_context(progress(description, total=total))
            advance(done - before)
            before = done
    return total
