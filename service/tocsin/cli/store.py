"""`tocsin store`: migrate, back up, restore, copy, check and prune the store."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import structs

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm, parse_past
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.output import follow, progress
from tocsin.cli.session import KEPT, configuration, migrate_store, now, with_store
from tocsin.configuration import show_size, show_span
from tocsin.configuration.limits import check_store
from tocsin.errors import StoreError, UsageError
from tocsin.model.records.operations import (
    StoreBackup,
    StoreCopy,
    StoreFinding,
    StoreMigration,
    StorePruning,
    StoreRestoration,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from tocsin.adapters.stores import CopyProgress, Restored
    from tocsin.model import Instant
    from tocsin.ports import Store
    from tocsin.settings import SnapshotSettings


_DEFAULT: Final = "tocsin-%Y%m%dT%H%M%SZ.db"
_PARTS: Final = {"%Y": r"\d{4}", "%m": r"\d\d", "%d": r"\d\d", "%H": r"\d\d", "%M": r"\d\d", "%S": r"\d\d", "%%": "%"}
_ORDER: Final = ("%Y", "%m", "%d", "%H", "%M", "%S")
_PART: Final = re.compile(r"%.?")


@click.command("backup", epilog="Example: tocsin store backup tocsin-backup.db")
@click.argument("file", metavar="FILE|FOLDER")
@click.option("--verify", "verified", is_flag=True, help="Open the copy and check all of it.")
@click.option(
    "--keep", type=click.IntRange(min=1), metavar="N", help="Then remove all but the latest N copies with this pattern."
)
@output.json_option
@click.pass_context
def backup(ctx: click.Context, file: str, keep: int | None, *, verified: bool) -> None:
    """Back up the store: a consistent copy, also while the service runs.

    The name may contain the time: "tocsin-%Y%m%d.db" (UTC); in a folder such a name is chosen. --keep needs such a
    name; it verifies the new copy, and only then removes older ones.
    """
    target = Path(file)
    if target.is_dir():
        target /= _DEFAULT
    named = target.with_name(_filled(target.name, datetime.now(UTC)))
    if keep is not None and named == target:
        raise UsageError(f'{file}: --keep needs a name with the time, such as "tocsin-%Y%m%d.db", or a folder')

    from tocsin.adapters.stores import note_backup  # noqa: PLC0415 - the help needs no store

    async def carry_out(store: Store) -> tuple[int, str | None]:
        await follow("Copying", await store.backup(str(named)))
        return await store.count_pictures()

    pictures, folder = with_store(ctx, carry_out)
    pages = None
    if verified or keep is not None:
        pages = _verify(named)
    note_backup(configuration(ctx).settings.store.url, str(named.absolute()), now())
    removed = _rotate(target, named, keep) if keep is not None else []
    record = StoreBackup(
        backup=str(named),
        verified=pages is not None,
        pages=pages,
        removed=[str(old) for old in removed],
        pictures=pictures,
        pictures_in=folder,
    )
    output.emit(record, lambda: _tell(record))


@click.command("restore", epilog="Example: tocsin store restore tocsin-backup.db --replace")
@click.argument("file", metavar="FILE")
@click.option("--replace", is_flag=True, help="Replace an existing store; it is kept under another name.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@output.json_option
@click.pass_context
def restore(ctx: click.Context, file: str, *, replace: bool, yes: bool) -> None:
    """Restore a backup. No service may be running.

    The backup is verified first, and migrated if it is older. Nothing is changed until it is complete; the old store is
    kept beside it under another name. Tokens revoked in the old store stay revoked, and browsers must log in again.
    """
    from tocsin.adapters.stores import restore as steps_of  # noqa: PLC0415 - the help needs no store

    url = configuration(ctx).settings.store.url
    if replace:
        confirm(f"replace the store with {file}; the old store is kept", yes=yes)
    last: Restored | None = None

    async def carry_out() -> None:
        nonlocal last
        with progress("Restoring") as advance:
            before = 0
            async for last in steps_of(url, file, replace=replace):
                advance(last.done - before)
                before = last.done

    asyncio.run(carry_out())
    if last is None or last.verified is None:
        raise StoreError(f"{file}: not restored; nothing was changed")
    found, aside = last.verified, last.aside
    record = StoreRestoration(
        restored=file,
        pages=found.pages,
        migrated_from=found.version if found.version < found.newest else None,
        aside=aside,
    )

    def human() -> None:
        output.say(f"The store was restored from {file}, with {count(found.pages, 'page')}.", style="green")
        if found.version < found.newest:
            output.say(f"It was migrated from version {found.version} to {found.newest}.")
        if aside is not None:
            output.say(f"The old store is kept as {aside}; delete it when you no longer need it.")

    output.emit(record, human)


@click.command("copy", epilog="Example: tocsin store copy sqlite:tocsin.db postgresql://tocsin@db.example/tocsin")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@output.json_option
@click.pass_context
def copy(ctx: click.Context, source: str, target: str) -> None:
    """Copy a whole store from SQLite to PostgreSQL, or back. No service may be running.

    SOURCE and TARGET are URLs as in store.url. The target must be an empty database, or a file that does not exist. The
    copy is checked, and appears only when it is complete; the source is not changed. Browsers stay logged in, tokens
    and the numbers of pages stay the same.
    """
    from tocsin.adapters.stores import copy_store  # noqa: PLC0415 - the help needs no store

    for option, url in (("SOURCE", source), ("TARGET", target)):
        if (allowed := check_store(url)) is not None:
            raise UsageError(f"{option} names no store; give {allowed}")
    store = configuration(ctx).settings.store
    last: CopyProgress | None = None

    async def carry_out() -> None:
        nonlocal last
        with ExitStack() as shown:
            stage, advance, before = "", None, 0
            async for last in copy_store(source, target, password=store.password, parts=store.parts):
                if last.stage != stage:
                    shown.close()
                    stage, before = last.stage, 0
                    total = last.total if stage == _COUNTED else None
                    advance = shown.enter_context(progress(stage, total=total))
                if advance is not None and stage == _COUNTED:
                    advance(last.done - before)
                    before = last.done

    asyncio.run(carry_out())
    if last is None:
        raise StoreError(f"{target}: nothing was copied")
    record = StoreCopy(
        source=source,
        target=target,
        pages=last.tables["pages"],
        rows=last.tables,
        replaced=last.replaced,
    )

    output.emit(record, lambda: _tell_copy(record))


_COUNTED: Final = "Copying"


def _tell_copy(made: StoreCopy) -> None:
    rows = sum(made.rows.values())
    output.say(
        f"{made.source} was copied to {made.target}: {count(made.pages, 'page')}, {count(rows, 'row')} in all.",
        style="green",
    )
    if made.replaced:
        what = "a text had U+0000, which PostgreSQL cannot keep; U+FFFD is in its place"
        output.say(f"In {count(made.replaced, 'row')} {what}.")
    if pictures := made.rows.get("pictures"):
        output.say(f"{count(pictures, 'picture')} of pages are files, not copied: name their folder in store.pictures.")
    output.say("To work with it from now on, name it in store.url.")


def _verify(file: Path) -> int:
    """Read a copy whole; returns how many pages it has. Raises StoreError."""
    from tocsin.adapters.stores import verify  # noqa: PLC0415 - the help needs no store

    found = asyncio.run(verify(str(file)))
    if found.findings:
        told = "; ".join(found.findings[:5])
        raise StoreError(f"{file}: the copy is damaged: {told}; see: tocsin store check")
    return found.pages


def _filled(pattern: str, at: datetime) -> str:
    """Fill a time into a name; raises UsageError for a part that names of backups do not have."""

    def part(match: re.Match[str]) -> str:
        if match[0] not in _PARTS:
            known = " ".join(_PARTS)
            raise UsageError(f"{pattern}: unknown part {match[0]}; use {known}")
        return at.strftime(match[0])

    return _PART.sub(part, pattern)


def _rotate(pattern: Path, newest: Path, keep: int) -> list[Path]:
    """Remove the oldest copies of this pattern, by the times in their names; the newest one always stays."""
    copies = [(told, file) for file in newest.parent.iterdir() if (told := _time_in(pattern.name, file)) is not None]
    older = sorted((told, file) for told, file in copies if file.name != newest.name)
    removed = [file for _, file in older[: max(0, len(older) - (keep - 1))]]
    for file in removed:
        try:
            file.unlink()
        except OSError as exc:
            raise UsageError(
                f"{file}: cannot be removed ({exc.strerror}); the new copy exists, remove old ones yourself"
            ) from exc
    return removed


def _time_in(pattern: str, file: Path) -> tuple[str, ...] | None:
    """Return the parts of the time in a file's name, the largest first; None if it is no copy with this pattern."""
    pieces = re.split(r"(%.)", pattern)
    parts = [piece for piece in pieces if piece in _ORDER]
    found = re.fullmatch(
        "".join(f"({_PARTS[piece]})" if piece in _ORDER else _PARTS.get(piece, re.escape(piece)) for piece in pieces),
        file.name,
    )
    if found is None or file.is_symlink() or not file.is_file():
        return None
    told = dict(zip(parts, found.groups(), strict=True))
    return tuple(told.get(part, "") for part in _ORDER)


def _tell(made: StoreBackup) -> None:
    sound = "" if made.pages is None else f" It is sound, with {count(made.pages, 'page')}."
    output.say(f"The store was copied to {made.backup}.{sound}")
    if made.pictures:
        output.say(f"Not in it: {count(made.pictures, 'picture')} of pages; copy their folder, too: {made.pictures_in}")
    for old in made.removed:
        output.say(f"Removed {old}.")


_ROWS: Final = 1000


@click.group("store", epilog="Example: tocsin store backup tocsin-backup.db")
def command() -> None:
    """Migrate, back up, restore, copy, check or prune the store."""


command.add_command(backup)
command.add_command(restore)
command.add_command(copy)


@command.command("migrate", epilog="Example: tocsin store migrate")
@click.option("--backup/--no-backup", "keep", default=True, help="Keep a copy of the old store beside it.")
@output.json_option
@click.pass_context
def migrate(ctx: click.Context, *, keep: bool) -> None:
    """Migrate the store to this version of Tocsin. No service may be running.

    The service does this at its start, too. It keeps a copy beside the store: FILE.before-N.vM.
    """
    store = configuration(ctx).settings.store
    url = store.url
    done, kept = asyncio.run(migrate_store(store, keep=keep))
    told = f"{count(done, 'migration')} applied." if done else "Nothing to do: the store has this version."

    def human() -> None:
        output.say(told)
        for file in kept:
            output.say(KEPT.format(file))

    output.emit(StoreMigration(store=url, migrations=done, kept=kept), human)


@command.command("check", epilog="Example: tocsin store check")
@click.argument("file", metavar="[FILE]", required=False)
@output.json_option
@click.pass_context
def check(ctx: click.Context, file: str | None) -> int:
    """Check the store, or a backup: SQLite's structure, Tocsin's invariants, and the digests of rows.

    A changed bit is found in states, verdicts, alerts, renderings, URLs, texts, microdata and all indexes; not in
    values that each check rewrites, such as validators and times, as long as they can be read. Of the store, not of a
    backup, the files of pictures are compared with their digests, too. The exit status is 1 if anything is wrong.
    """
    from tocsin.adapters.stores import verify  # noqa: PLC0415 - the help needs no store

    async def check_all(store: Store) -> list[str]:
        return [*await store.check(), *await store.check_pictures()]

    findings = with_store(ctx, check_all) if file is None else asyncio.run(verify(file)).findings
    for finding in findings:
        output.emit(StoreFinding(finding=finding), partial(output.say, finding, style="red"))
    if findings:
        output.note(f"{count(len(findings), 'finding')}; restore a backup, or ask for help and quote these lines")
        return output.NEEDS_USER
    if not output.is_json():
        output.say("The store is sound." if file is None else "The backup is sound.", style="green")
    return output.DONE


@command.command("prune", epilog="Example: tocsin store prune --older 90d --dry-run")
@click.option(
    "--older",
    metavar="DURATION",
    help="Delete what is older than this; default: store.history and snapshots.keep of the configuration.",
)
@careful
@output.json_option
@click.pass_context
def prune(ctx: click.Context, older: str | None, *, dry_run: bool, yes: bool) -> None:
    """Delete old history, alerts, answered questions, texts and pictures of pages.

    The table, waiting alerts and open questions are kept; so is the latest text of each page, within snapshots.total.
    """
    settings = configuration(ctx).settings
    history, texts = settings.store.history, settings.snapshots
    if older is not None:
        history = parse_past(older, option="--older")
        texts = structs.replace(texts, keep=history)
    instant = now()
    before = instant - round(history.total_seconds() * 1_000_000)
    act = (
        f"delete history, alerts and answered questions from before {show_time(before)} ({show_span(history)}), "
        f"texts of pages after {show_span(texts.keep)}, and the oldest of those beyond {show_size(texts.total)} in all"
    )
    if not dry_run:
        confirm(act, yes=yes)
    forgotten = {} if dry_run else with_store(ctx, lambda store: _prune(store, instant, history, texts))
    rows = sum(forgotten.values())
    what = ", ".join(f"{number:,} {kind}" for kind, number in forgotten.items() if number)
    told = f"Would {act}." if dry_run else f"{count(rows, 'row')} deleted{f': {what}' if what else ''}."
    record = StorePruning(before=json_time(before), rows=rows, forgotten=forgotten, dry_run=dry_run)
    output.emit(record, lambda: output.say(told))


async def _prune(store: Store, at: Instant, history: timedelta, texts: SnapshotSettings) -> dict[str, int]:
    """Forget in small batches; returns how many rows of each kind."""
    forgotten: Counter[str] = Counter()
    prunings: tuple[Callable[[], Awaitable[int]], ...] = (
        partial(store.prune_snapshots, at, keep=texts.keep, per_page=texts.per_page, limit=_ROWS),
        partial(store.fit_snapshots, total=texts.total, limit=_ROWS),
    )
    with progress("Forgetting") as advance:
        while sum((found := await store.forget(at, history=history, limit=_ROWS)).values()):
            forgotten.update(found)
            advance(sum(found.values()))
        for pruning in prunings:
            while some := await pruning():
                forgotten["texts"] += some
                advance(some)
    await store.sweep_pictures()
    return dict(forgotten)
