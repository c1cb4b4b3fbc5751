"""`tocsin table`: the spec's plain-text table of states."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.progress import progress
from tocsin.cli.session import now
from tocsin.cli.sources import open_lines
from tocsin.cli.table.ahead import AheadOfTime
from tocsin.cli.table.exchange import export, import_
from tocsin.spec.topper.table import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.group("table", epilog="Example: tocsin table verify states.txt")
def command() -> None:
    """The spec's plain-text table of states: a record a line, 52 cells each."""


@command.command("verify", epilog="Example: tocsin table verify states.txt")
@click.argument("file", metavar="FILE")
@output.json_option
def verify(file: str) -> int:
    """Read a table whole and say whether import would take it: no store is touched.

    - stands for standard input.
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
