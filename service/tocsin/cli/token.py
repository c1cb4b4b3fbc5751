"""`tocsin token`: who may use the service over HTTP, and for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tocsin.cli import output
from tocsin.cli.arguments import parse_time
from tocsin.cli.formatting import json_time, show_time
from tocsin.cli.session import now, with_store
from tocsin.errors import UsageError
from tocsin.model.records.service import new_token_of, token_of

if TYPE_CHECKING:
    from tocsin.model import Instant, TokenRow
    from tocsin.ports import Store

SCOPES = ("read", "write", "admin")
_LONGEST_NAME = 64


@click.group("token", epilog="Example: tocsin token add grafana --scope read --expires 365d")
def command() -> None:
    """Tokens for the web pages, the API, feeds and metrics."""


@command.command("add", epilog="Example: tocsin token add grafana --scope read --expires 365d")
@click.argument("name", metavar="NAME")
@click.option("--scope", type=click.Choice(SCOPES), default="read", show_default=True, help="What the token permits.")
@click.option("--expires", metavar="WHEN", help='Expiry: "90d" from now, or a date; default: never.')
@output.json_option
@click.pass_context
def add(ctx: click.Context, name: str, scope: str, expires: str | None) -> None:
    """Create a token and show it, once: only a digest is stored.

    Once a token exists, every request needs one. Before that, the service is open to its own machine only.
    """
    from tocsin.model import Scope  # noqa: PLC0415 - as above
    from tocsin.server.access.credentials import digest_of, new_token  # noqa: PLC0415 - the help needs none

    check_name(name)
    at = now()
    until = parse_time(expires, now=at, option="--expires") if expires else None
    token = new_token()

    async def work(store: Store) -> TokenRow:
        row = await store.add_token(name, Scope(scope), digest_of(token), at, expires_at=until)
        await _note(store, "token.add", {"name": name, "scope": scope, "expires": json_time(until)})
        return row

    row = with_store(ctx, work, create=True)
    if output.is_json():
        output.print_json(new_token_of(row, at, token))
        return
    output.note(f"Token {name} (scope {scope}). It is shown only now; keep it like a password:")
    output.say(token, whole=True)


@command.command("list", epilog="Example: tocsin token list --json")
@output.json_option
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List all tokens, including expired and revoked ones."""
    at = now()
    rows = with_store(ctx, lambda store: store.tokens())
    if output.is_json():
        output.print_json(*(token_of(row, at) for row in rows))
    elif rows:
        cells = [
            (row.name, row.scope, stands(row, at), show_time(row.created_at), show_time(row.last_used_at) or "never")
            for row in rows
        ]
        output.table(("token", "scope", "status", "created", "last used"), cells, head="token")
    else:
        output.say("There is no token yet, so the service is open to its own machine only.")


@command.command("revoke", epilog="Example: tocsin token revoke grafana")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def revoke(ctx: click.Context, name: str) -> None:
    """Revoke a token at once, and end the browser sessions that logged in with it."""
    at = now()

    async def work(store: Store) -> TokenRow:
        row = await store.revoke_token(name, at)
        await _note(store, "token.revoke", {"name": name})
        return row

    row = with_store(ctx, work)
    output.emit(token_of(row, at), lambda: output.say(f"Token {name} is revoked.", style="green"))


def check_name(name: str) -> None:
    """Refuse a name that lists and logs could not show; raises UsageError."""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError(f"NAME: {name!r} is invalid; use 1 to {_LONGEST_NAME} printable characters, such as grafana")


def stands(row: TokenRow, at: Instant) -> str:
    """Say in a few words whether a token is in force."""
    if row.revoked_at is not None:
        return "revoked"
    if row.expires_at is None:
        return "in force, declared in the configuration" if row.is_declared else "in force"
    return "expired" if row.expires_at <= at else f"in force until {show_time(row.expires_at)}"


async def _note(store: Store, what: str, detail: dict[str, Any]) -> None:
    from tocsin.model import AuditEntry  # noqa: PLC0415 - the help needs none

    await store.write_audit(AuditEntry(now(), "command line", what, detail))
