"""Imports of lists and tables: jobs that read a file which the request has stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import IO, Final

from msgspec import Struct, to_builtins

from tocsin.errors import HasStates
from tocsin.lists.importing import Reader, Tally
from tocsin.lists.pages import check_group
from tocsin.model import EPOCH, JsonObject, NewPage, TableRow
from tocsin.model.records.service import ImportedList
from tocsin.server.access.auditing import audit
from tocsin.server.actions import Act
from tocsin.server.jobs import Job, Progress
from tocsin.server.parts import Parts
from tocsin.server.problems import Problem
from tocsin.spec.topper.table import read_table

STEP: Final = 1000  # Pages parsed in one step on a thread.

MOST_TOLD: Final = 100  # Invalid lines reported; all are counted.

_MICROSECONDS: Final = 1_000_000
# An invalid line may be a megabyte long.
_LONGEST_WORD: Final = 400


class ListToTake(Struct, frozen=True):
    """A list of pages.

    file     positioned at its beginning; the job closes it
    name     for messages
    kind     its format; None to detect it
    group    for pages whose line names none
    strict   add nothing if any line is invalid
    dry_run  report only what would be added
    """

    file: IO[bytes]
    name: str = "list"
    kind: str | None = None
    group: str = "main"
    strict: bool = False
    dry_run: bool = False


async def start_import(parts: Parts, act: Act, listed: ListToTake) -> Job:
    """Start an import of a list; invalid lines are reported with their numbers."""
    lines: list[str] = []

    def say(line: str) -> None:
        if len(lines) < MOST_TOLD:
            lines.append(line[:_LONGEST_WORD])

    async def work(progress: Progress) -> JsonObject:
        try:
            tally = Tally()
            taken = not listed.dry_run
            groups = [name for name, _ in (await parts.store.overrides())[1].values()]
            if listed.strict or listed.dry_run:
                looked = Reader(listed.name, listed.kind, group, tally=tally, groups=groups, say=say)
                tally.added = await asyncio.to_thread(_count, looked, listed.file)
                taken = taken and not tally.refused
            if taken:
                listed.file.seek(0)
                lines.clear()
                tally = Tally()
                reader = Reader(listed.name, listed.kind, group, tally=tally, groups=groups, say=say)
                try:
                    await _take(parts, reader.pages(listed.file), tally, progress)
                finally:
                    # After any end, the pages added so far stay.
                    progress.result = _result(tally, lines, taken=True)
                    await audit(parts, act.caller, "pages.import", added=tally.added, known=tally.known)
        finally:
            listed.file.close()
        progress.total = progress.done
        return _result(tally, lines, taken=taken)

    with closed_on_error(listed.file):
        group = check_group(listed.group)
        return await act.jobs.start("pages.import", act.caller.who, work)


async def start_table(parts: Parts, act: Act, file: IO[bytes], *, replace: bool) -> Job:
    """Start an import of a table, all or nothing. Raises TableError for an invalid one."""

    async def work(progress: Progress) -> JsonObject:
        try:
            file.seek(0)
            rows = _rows(file)
            taken = await parts.store.import_table(rows, parts.clock.now(), replace=replace)
        except HasStates as exc:
            raise _stated(str(exc)) from exc
        finally:
            file.close()
        progress.advance(taken)
        await audit(parts, act.caller, "table.import", records=taken, replace=replace)
        return {"records": taken}

    with closed_on_error(file):
        records = await asyncio.to_thread(_count_records, file)
        return await act.jobs.start("table.import", act.caller.who, work, total=records)


@contextmanager
def closed_on_error(file: IO[bytes]) -> Iterator[None]:
    """Close a file if its job is not started."""
    with ExitStack() as stack:
        stack.callback(file.close)
        yield
        stack.pop_all()


def _result(tally: Tally, lines: list[str], *, taken: bool) -> JsonObject:
    counts = {"added": tally.added, "known": tally.known, "refused": tally.refused, "sitemaps": tally.sitemaps}
    shown: JsonObject = to_builtins(ImportedList(taken=taken, **counts, lines=lines))
    return shown


def _count(reader: Reader, file: IO[bytes]) -> int:
    return sum(1 for _ in reader.pages(file))


async def _take(parts: Parts, pages: Iterator[NewPage], tally: Tally, progress: Progress) -> None:
    ids: list[int | None] = []

    def on_step(number: int) -> None:
        step, ids[:] = ids[:number], ids[number:]
        added = sum(page_id is not None for page_id in step)
        tally.added += added
        tally.known += number - added
        progress.advance(number)

    batch = await asyncio.to_thread(_next, pages)
    while batch:
        # Read the next batch while this one is written.
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(asyncio.to_thread(_next, pages), name="next pages of a list")
                await parts.store.add_pages(batch, parts.clock.now(), on_step=on_step, ids=ids)
        except ExceptionGroup as exc:
            raise exc.exceptions[0] from None
        batch = reading.result()


def _next(pages: Iterator[NewPage]) -> list[NewPage]:
    return list(islice(pages, STEP))


def _count_records(file: IO[bytes]) -> int:
    return sum(1 for _ in read_table(file, file="table"))


def _rows(file: IO[bytes]) -> Iterator[TableRow]:
    for record in read_table(file, file="table"):
        stored = record.stored - EPOCH
        at = (stored.days * 86_400 + stored.seconds) * _MICROSECONDS + stored.microseconds
        yield TableRow(record.url, record.state.values, at, record.text)


def _stated(detail: str) -> Problem:
    return Problem(
        409,
        "has-states",
        "Pages of the table have states already",
        detail.partition(";")[0],
        mend="send it with ?replace=true to put the table's in their place",
    )
