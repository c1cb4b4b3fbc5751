"""`tocsin watch`: the list of pages."""

from __future__ import annotations

import click

from tocsin.cli.watch.adding import add
from tocsin.cli.watch.exporting import export
from tocsin.cli.watch.importing import import_
from tocsin.cli.watch.listing import list_
from tocsin.cli.watch.removing import clear, remove
from tocsin.cli.watch.setting import set_


@click.group("watch", epilog="Example: tocsin watch add https://example.org/news --every 6h")
def command() -> None:
    """The list of pages that are watched."""


for subcommand in (add, remove, list_, set_, import_, export, clear):
    command.add_command(subcommand)

__all__ = ["command"]
