"""`tocsin browser`: a browser for a service in another container."""

from __future__ import annotations

import click

from tocsin.app.browser_serving import serve_engines
from tocsin.cli import output
from tocsin.cli.session import configuration
from tocsin.errors import UsageError


@click.command("browser", epilog="Example: TOCSIN_BROWSER__SOCKET=unix:/run/tocsin-browser/render.sock tocsin browser")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Visit pages in a browser for the service that connects to `browser.socket`.

    Of the configuration only [browser] is used. `tocsin run` starts a browser by itself where browser.socket is empty;
    this command is for a container of its own. It needs user namespaces, and never runs without them.
    """
    settings = configuration(ctx).settings.browser
    if not settings.socket:
        raise UsageError("browser.socket is empty; set it, for example to unix:/run/tocsin-browser/render.sock")
    serve_engines(settings.socket, settings.path, output.say)
