"""What most commands begin with: the configuration, the store, the time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from tocsin.cli import output
from tocsin.configuration import Loaded, load
from tocsin.errors import StoreError, StoreOutdated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import click

    from tocsin.adapters.stores import Migrating
    from tocsin.model import Instant
    from tocsin.ports import Store
    from tocsin.settings import Settings, StoreSettings


T = TypeVar("T")

_LOADED = "tocsin.loaded"


def read_configuration(ctx: click.Context) -> Loaded:
    """Read the configuration anew, as the command line asks for it.

    Raises SettingsError.
    """
    call = ctx.find_root().obj
    overrides: dict[str, tuple[str, str]] = {}
    if call.store is not None:
        # With its origin: an error in it names the option, and `doctor` says where it came from.
        overrides["store.url"] = (call.store, "--store")
    if call.verbose:
        overrides["log.level"] = ("debug", "-v")
    config = None if call.config is None else str(call.config)
    return load(environ=os.environ, cwd=Path.cwd(), config=config, overrides=overrides)


def configuration(ctx: click.Context) -> Loaded:
    """Return the configuration of this call, read once."""
    root = ctx.find_root()
    found = root.meta.get(_LOADED)
    if not isinstance(found, Loaded):
        # Once for all: a file that is edited meanwhile must not give two halves of one command different settings.
        found = root.meta[_LOADED] = read_configuration(ctx)
    return found


def settings_in_force(ctx: click.Context) -> Settings:
    """Return the settings with the channels and routes that were made at run time."""
    from tocsin.model.saved import merge  # noqa: PLC0415 - the help needs none

    settings = configuration(ctx).settings
    # Opening it would make one, or fail; there is nothing in it that could change the settings.
    if not is_store_there(settings):
        return settings
    return merge(settings, with_store(ctx, lambda store: store.saved())).settings


def with_store(
    ctx: click.Context, work: Callable[[Store], Awaitable[T]], *, create: bool = False, alone: bool = False
) -> T:
    """Open the store, do the work, close the store.

    create  make the store where there is none, and bring one of an older version up to date first, as an engine does
    alone   hold the engine lock meanwhile; else an engine may run beside us
    Raises StoreError: an older store is left as it is where nothing is to be made, or where an engine holds it.
    """
    import asyncio  # noqa: PLC0415 - a health check, every half a minute, needs none of this

    from tocsin.adapters.stores import open_store  # noqa: PLC0415 - the help needs no store, and this no engine

    settings = configuration(ctx).settings
    path = store_path(settings)
    if not create and path.is_file() and not is_store_there(settings):
        # An empty list would hide that a store was lost.
        raise StoreError(f"{path}: the file is empty; name your store with --store, or restore a backup")

    def tell(migrating: Migrating) -> None:
        kept = f"; a copy of the old one is kept as {migrating.copy}" if migrating.copy else ""
        output.note(f"{path}: the store is migrated from version {migrating.before} to {migrating.after}{kept}")

    async def opened() -> T:
        store = await open_store(
            settings.store.url,
            password=settings.store.password,
            engine=alone,
            create=create,
            history=bool(settings.store.history),
            gather=settings.questions.gather,
            on_migrating=tell,
        )
        try:
            return await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(opened())
    # Outside of the loop that ran: migrating runs one of its own.
    except StoreOutdated:
        if not create:
            raise
    _bring_up_to_date(settings.store)
    return asyncio.run(opened())


def _bring_up_to_date(store: StoreSettings) -> None:
    """Migrate a store of an older version, with a copy of it as it was, and say so on stderr; raises StoreError."""
    import asyncio  # noqa: PLC0415 - as above

    _, kept = asyncio.run(migrate_store(store))
    output.note(f"{store.url}: the store was of an older version, and was migrated")
    for file in kept:
        output.note(KEPT.format(file))


def store_path(settings: Settings) -> Path:
    """Where the store of these settings lies."""
    return Path(settings.store.url.partition(":")[2])


def is_store_there(settings: Settings) -> bool:
    """Say whether there is more than the name of a store; raises StoreError where that cannot be told."""
    from tocsin.adapters.stores import is_there  # noqa: PLC0415 - the help needs no store

    return is_there(settings.store.url, password=settings.store.password)


def now() -> Instant:
    """The wall clock."""
    from tocsin.adapters.system import SystemClock  # noqa: PLC0415 - as above

    return SystemClock().now()


KEPT: Final = "A copy of the old store is kept as {}; delete it when you no longer need it."


async def migrate_store(store: StoreSettings, *, keep: bool = True) -> tuple[int, list[str]]:
    """Migrate a store, with a progress bar; returns how many migrations there were, and the files that were kept.

    keep  a copy of the store as it was, beside it
    Raises StoreError.
    """
    from tocsin.adapters.stores import kept_copies, migrate  # noqa: PLC0415 - the help needs no store

    # Copies of earlier migrations lie there, too; only what is new is told.
    url = store.url
    before = set(kept_copies(url))
    done = await output.follow("Migrating", migrate(url, password=store.password, keep=keep))
    return done, [str(file) for file in kept_copies(url) if file not in before]
