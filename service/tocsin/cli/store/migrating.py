"""Bringing a store to this version of the program."""

from __future__ import annotations

from typing import Final

from tocsin.cli.progress import follow

KEPT: Final = "The store as it was is kept as {}; remove it once you are content."


async def migrate_store(url: str, *, keep: bool = True) -> tuple[int, list[str]]:
    """Migrate a store, with a progress bar; returns how many migrations there were, and the files that were kept.

    keep  a copy of the store as it was, beside it
    Raises StoreError.
    """
    from tocsin.adapters.stores import kept_copies, migrate  # noqa: PLC0415 - the help needs no store

    before = set(kept_copies(url))
    done = await follow("Migrating", migrate(url, keep=keep))
    return done, [str(file) for file in kept_copies(url) if file not in before]
