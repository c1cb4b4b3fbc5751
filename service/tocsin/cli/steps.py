"""Work on many pages, done in small steps: its progress, and what is said of it where it is interrupted."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tocsin.cli import output
from tocsin.cli.asking import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def steps(doing: str, done: str, *, total: int | None = None, what: str = "page") -> Iterator[Callable[[int], None]]:
    """Show the progress of work on pages, or whatever `what` says, and say how far it came if the user interrupts it.

    doing, done  the work in words, such as "Removing" and "removed"
    Yields a function that is told how many more pages are done.
    """
    so_far = 0
    with output.progress(doing, total=total) as advance:

        def on_step(pages: int) -> None:
            nonlocal so_far
            so_far += pages
            advance(pages)

        try:
            yield on_step
        except asyncio.CancelledError:
            of = "" if total is None else f" of {total:,}"
            output.note(f"Interrupted: {count(so_far, what)}{of} {done}; the same call once more goes on from there.")
            raise
