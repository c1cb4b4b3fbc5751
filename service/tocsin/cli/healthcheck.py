"""`tocsin healthcheck`: what a container asks itself."""

from __future__ import annotations

from http.client import HTTPConnection, HTTPException

import click

from tocsin.cli import output
from tocsin.cli.session import configuration
from tocsin.errors import UsageError
from tocsin.server.address import local_address

WITHIN_S = 3.0
_READY, _MOST_BYTES = 200, 4096


@click.command("healthcheck", epilog="Example: tocsin healthcheck")
@click.option("--alive", is_flag=True, help="Ask only whether the process is alive.")
@output.json_option
@click.pass_context
def command(ctx: click.Context, *, alive: bool) -> None:
    """Ask the configured service whether it is ready. The exit status is 0 if it is, else 1.

    No token is needed. Made for HEALTHCHECK of containers and for probes.
    """
    listen = configuration(ctx).settings.http.listen
    if not listen:
        raise UsageError("http.listen is empty, so the service does not serve HTTP; set it")
    host, port = local_address(listen)
    if not port:
        raise UsageError("http.listen has port 0, so the port is chosen at startup and not known here; set a port")
    status, said = _ask(host, port, "/healthz" if alive else "/readyz")
    output.emit({"ready": status == _READY, "status": status, "said": said}, lambda: output.say(said))
    if status != _READY:
        ctx.exit(output.NEEDS_USER)


def _ask(host: str, port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection(host, port, timeout=WITHIN_S)
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{port}", "Connection": "close"})
        answer = connection.getresponse()
        return answer.status, answer.read(_MOST_BYTES).decode("utf-8", "replace")
    except (OSError, HTTPException) as exc:
        return 0, f"no answer from {host}:{port} ({exc}); is `tocsin run` running?"
    finally:
        connection.close()
