"""`tocsin table`: the spec's plain-text table of states, out of the store and into it."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Final

import click

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm
from tocsin.cli.files import open_lines, opened_source, opened_target
from tocsin.cli.formatting import count
from tocsin.cli.output import progress
from tocsin.cli.session import configuration, is_store_there, now, with_store
from tocsin.model import EPOCH, TableRow
from tocsin.spec.topper.state import PageState
from tocsin.spec.topper.table import RECORD_0, TableRecord, read_table, write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.model import Instant
    from tocsin.ports import Store


# Clocks of two machines differ by less.
_DOUBTFUL: Final = timedelta(days=1)


class AheadOfTime:
    """Counts the records of a table that were stored later than a day from now."""

    def __init__(self, now: Instant) -> None:
        self._latest = EPOCH + timedelta(microseconds=now) + _DOUBTFUL
        self._first: TableRecord | None = None
        self._records = 0

    def look(self, record: TableRecord) -> None:
        """Look at one record."""
        if record.stored > self._latest:
            self._first = self._first or record
            self._records += 1

    def tell(self, file: str) -> None:
        """Say on stderr what was found, if anything was."""
        if self._first is not None:
            output.note(
                f"{file}: {count(self._records, 'record')} stored in the future, the first is record "
                f"{self._first.number} ({self._first.stored:%Y-%m-%d %H:%M:%S} UTC): no new state of such a "
                "page is stored before then; was a clock wrong?"
            )


_MICROSECOND: Final = timedelta(microseconds=1)


@click.command("export", epilog="Example: tocsin table export states.txt")
@click.argument("file", required=False, metavar="[FILE]")
@click.pass_context
def export(ctx: click.Context, file: str | None) -> None:
    """Write the states as a table, in order of storing, to a file or standard output.

    The number of records and the SHA-256 of the table are printed on standard error.
    """
    with opened_target(file) as stream:
        records, digest = with_store(ctx, lambda store: _export(store, stream))
    output.note(f"{count(records, 'record')}, sha256:{digest}")


@click.command("import", epilog="Example: tocsin table import states.txt")
@click.argument("file", metavar="FILE")
@click.option("--replace", is_flag=True, help="Also replace the states of pages that have some.")
@careful
@output.json_option
@click.pass_context
def import_(ctx: click.Context, file: str, *, replace: bool, dry_run: bool, yes: bool) -> None:
    """Import a table: all of it or nothing. No service may be running. - is standard input.

    The number of records and the SHA-256 of the table are printed on standard error.
    """
    if replace and not dry_run:
        confirm("replace the states of every page of the table", yes=yes)
    digest, ahead = sha256(), AheadOfTime(now())
    # A table that is refused must not leave an empty store where there was none.
    looks_first = not dry_run and not is_store_there(configuration(ctx).settings)
    with opened_source(file, again=looks_first) as stream, progress(f"Reading {file}") as advance:
        if looks_first:
            for _ in read_table(stream, file=file):
                pass
            stream.seek(0)
        rows = _rows(stream, file, digest.update, ahead.look, advance)
        if dry_run:
            records = sum(1 for _ in rows)
        else:
            records = with_store(
                ctx, lambda store: store.import_table(rows, now(), replace=replace), create=True, alone=True
            )
    ahead.tell(file)
    output.note(f"{count(records, 'record')}, sha256:{digest.hexdigest()}")
    told = "would be imported" if dry_run else "imported"
    output.emit(
        {"file": file, "records": records, "dry_run": dry_run}, lambda: output.say(f"{records:,} records {told}.")
    )


async def _export(store: Store, stream: IO[bytes]) -> tuple[int, str]:
    digest, number = sha256(), 0

    def write(line: bytes) -> None:
        digest.update(line)
        stream.write(line)

    write(RECORD_0.encode())
    with progress("Exporting", into=stream) as advance:
        async for row in await store.table_rows():
            number += 1
            stored = EPOCH + timedelta(microseconds=row.stored_at)
            write(write_record(TableRecord(number, row.url, PageState(row.fields), stored, row.text)).encode())
            advance(1)
    return number, digest.hexdigest()


def _rows(
    stream: IO[bytes],
    name: str,
    digest: Callable[[bytes], None],
    look: Callable[[TableRecord], None],
    advance: Callable[[int], None],
) -> Iterator[TableRow]:
    """Read the table's records as the store takes them, and digest every byte on the way."""

    def lines() -> Iterator[bytes]:
        for line in stream:
            digest(line)
            yield line

    for record in read_table(lines(), file=name):
        advance(1)
        look(record)
        yield TableRow(record.url, record.state.values, (record.stored - EPOCH) // _MICROSECOND, record.text)


@click.group("table", epilog="Example: tocsin table verify states.txt")
def command() -> None:
    """The specification's plain-text table of states: one record per line, 52 cells each."""


@command.command("verify", epilog="Example: tocsin table verify states.txt")
@click.argument("file", metavar="FILE")
@output.json_option
def verify(file: str) -> int:
    """Verify that a table could be imported. No store is changed.

    - is standard input.
    """
    digest, records, pages, ahead = sha256(), 0, set[str](), AheadOfTime(now())
    with open_lines(file) as lines, progress(f"Reading {file}") as advance:

        def digested() -> Iterator[bytes]:
            for line in lines:
                digest.update(line)
                yield line

        for record in read_table(digested(), file=file):
            records += 1
            pages.add(record.url)
            ahead.look(record)
            advance(1)
    ahead.tell(file)
    found = {"file": file, "records": records, "pages": len(pages), "digest": f"sha256:{digest.hexdigest()}"}
    output.emit(found, lambda: output.table(("", ""), found.items()))
    return output.DONE


for subcommand in (export, import_):
    command.add_command(subcommand)
