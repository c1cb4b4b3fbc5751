"""`tocsin run`: the service."""

from __future__ import annotations

from functools import partial

import click

from tocsin.cli.session import read_configuration


@click.command("run", epilog="Example: tocsin --config /etc/tocsin.toml run")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Run the service: check pages when they are due, deliver alerts, serve web pages. Ends on SIGTERM or Ctrl-C.

    SIGHUP reloads the configuration; an invalid one is rejected and the old one stays in force.
    """
    from tocsin.app.executing import execute  # noqa: PLC0415 - the help needs no engine
    from tocsin.app.service import run  # noqa: PLC0415 - the help needs no engine

    execute(run(partial(read_configuration, ctx)))
