"""`tocsin table`: the spec's plain-text table of states."""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.sources import unreadable
from tocsin.errors import UsageError
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
    digest, records, pages = sha256(), 0, set[str]()
    with open_table(file) as lines, output.progress(f"Reading {file}") as advance:

        def digested() -> Iterator[bytes]:
            for line in lines:
                digest.update(line)
                yield line

        for record in read_table(digested(), file=file):
            records += 1
            pages.add(record.url)
            advance(1)
    found = {"file": file, "records": records, "pages": len(pages), "digest": f"sha256:{digest.hexdigest()}"}
    output.emit(found, lambda: output.table(("", ""), found.items()))
    return output.DONE


def open_table(name: str) -> IO[bytes]:
    """Open a table for reading by lines, or standard input (`-`).

    Raises UsageError for a file that cannot be read.
    """
    if name == "-":
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except (OSError, ValueError) as exc:
        raise UsageError(unreadable(name, exc)) from exc
