"""`tocsin nodes`: the processes that work on one store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.formatting import count
from tocsin.cli.session import now, with_store
from tocsin.errors import UsageError
from tocsin.model.records.nodes import nodes_of

if TYPE_CHECKING:
    from tocsin.model.records.nodes import Node, Nodes
    from tocsin.ports import Store


@click.group("nodes", invoke_without_command=True, epilog="Example: tocsin nodes drain tocsin-2")
@output.json_option
@click.pass_context
def command(ctx: click.Context) -> int | None:
    """List the nodes: processes that work on this store, with what each does.

    Exit status 1 if a part of the hosts has no node, so that its pages are not checked.
    """
    return _list(ctx) if ctx.invoked_subcommand is None else None


@command.command("drain", epilog="Example: tocsin nodes drain tocsin-2")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def drain(ctx: click.Context, name: str) -> None:
    """Let a node give its work to the others; its pages in hand are finished.

    It lasts until the node ends, or: tocsin nodes undrain NAME
    """
    _set_draining(ctx, name, draining=True)
    output.emit({"node": name, "draining": True}, lambda: output.say(f"Node {name} gives its parts to the others."))


@command.command("undrain", epilog="Example: tocsin nodes undrain tocsin-2")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def undrain(ctx: click.Context, name: str) -> None:
    """Let a node take its share of the work again."""
    _set_draining(ctx, name, draining=False)
    output.emit({"node": name, "draining": False}, lambda: output.say(f"Node {name} takes its share again."))


def _set_draining(ctx: click.Context, name: str, *, draining: bool) -> None:
    if not with_store(ctx, lambda store: store.drain_node(name, draining=draining)):
        raise UsageError(f"node {name}: no such node; see: tocsin nodes")


def _list(ctx: click.Context) -> int:
    async def read(store: Store) -> Nodes:
        return nodes_of(await store.nodes(), await store.leases(), await store.parts_alone(), now())

    found = with_store(ctx, read)
    if output.is_json():
        for node in found.items:
            output.print_json(node)
    elif not found.items:
        output.say("No node works on this store; start one: tocsin run")
    else:
        columns = ("node", "state", "lease", "parts", "checks/s", "version", "duties")
        output.table(columns, [_row_of(node) for node in found.items], head="node")
    # Without a node nothing is taken, and nothing is wrong with that.
    is_wrong = any(node.state == "working" for node in found.items) and found.parts_alone > 0
    if is_wrong:
        output.note(f"{count(found.parts_alone, 'part')} without a node: the pages there are not checked")
    return output.NEEDS_USER if is_wrong else output.DONE


def _row_of(node: Node) -> tuple[object, ...]:
    lease = f"{node.lease_s:.1f} s"
    return (node.node, node.state, lease, node.parts, node.checks_per_s, node.version, ", ".join(node.duties))
