"""`tocsin attention`: pages that could not be received, and the user's word on them (T60)."""

from __future__ import annotations

import click

from tocsin.cli.attention.answering import answer
from tocsin.cli.attention.listing import list_, show
from tocsin.cli.attention.rules import lift


@click.group("attention", epilog="Example: tocsin attention list")
def command() -> None:
    """Pages that could not be received, and your instruction for them."""


for subcommand in (list_, show, answer, lift):
    command.add_command(subcommand)
