"""What the doctor looks at where the store is a PostgreSQL database: its server, and the nodes that work on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.cli.doctor.surroundings import Diagnosis
from tocsin.cli.formatting import count
from tocsin.engine.hosts.lease import UNWRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.adapters.stores.postgres.server import ServerFacts
    from tocsin.model import NodeRow

_MOST_AHEAD_S: Final = 5.0
# Commands that run beside the nodes.
_SPARE: Final = 3


def describe_server(facts: ServerFacts, nodes: int) -> Iterator[Diagnosis]:
    """Say what of a server is not as a store needs it.

    nodes  that are to work on it
    """
    yield Diagnosis(f"The store is on PostgreSQL {facts.version}.", is_wrong=False)
    if facts.is_standby:
        yield Diagnosis(
            "The server is a standby, which cannot be written.",
            "Name the primary in store.url, or several hosts with target_session_attrs=read-write.",
        )
    if facts.is_read_only:
        yield Diagnosis(
            "The server, the database or the user is set to be read-only.",
            "Set default_transaction_read_only to off for it.",
        )
    if not facts.may_create:
        yield Diagnosis(
            "The user of store.url may not make tables, as a new store and a newer version of Tocsin need.",
            "Make it the owner of the database: alter database NAME owner to USER",
        )
    for name in facts.unsafe:
        yield Diagnosis(
            f"The server runs with {name} = off: a crash of its machine damages the store.",
            f"Set {name} = on in postgresql.conf, and restart the server.",
        )
    if facts.forgets_sessions:
        yield Diagnosis(
            "A pooler of connections works in transaction mode: settings, locks and notifications get lost.",
            "Set pool_mode = session for this database, or name the server itself in store.url.",
        )
    needed = nodes * facts.taken + _SPARE
    if facts.connections < needed:
        yield Diagnosis(
            f"The server allows {count(facts.connections, 'connection')}; {count(nodes, 'node')} and a few commands "
            f"take {needed}, {facts.taken} each node.",
            "Raise max_connections, or the limit of the user or of the database.",
        )
    if abs(facts.clock_s) > _MOST_AHEAD_S:
        which = "behind" if facts.clock_s > 0 else "ahead of"
        yield Diagnosis(
            f"The clock of this machine is {abs(facts.clock_s):,.0f} seconds {which} that of the database.",
            "Set both by NTP. Leases follow the database's clock, but pages are checked by this machine's.",
        )


def describe_nodes(nodes: Sequence[NodeRow], alone: int, parts: tuple[int, int]) -> Iterator[Diagnosis]:
    """Say what is wrong with the nodes that work on a store.

    alone  parts that no node with a lease works on
    parts  that the store was made with, and that this configuration asks for
    """
    made, wanted = parts
    if made != wanted:
        yield Diagnosis(
            f"The store was made with {count(made, 'part')}, the configuration has {wanted}: the service does not "
            "start.",
            f"Set store.parts = {made}.",
        )
    alive = [node for node in nodes if node.left_s > 0]
    for node in nodes:
        # A node that ended as it should leaves no row.
        if node.left_s <= 0:
            yield Diagnosis(
                f"Node {node.node} is gone: its lease ended {-node.left_s:,.0f} seconds ago.",
                "The others have its work. Start it again; its row goes after a day.",
                is_wrong=False,
            )
        elif why := node.said.get(UNWRITTEN):
            yield Diagnosis(f"Node {node.node} cannot write what it finds: {why}.", "See also its log.")
    versions = sorted({str(node.said.get("version", "")) for node in alive} - {""})
    if len(versions) > 1:
        yield Diagnosis(
            f"The nodes have several versions: {', '.join(versions)}.",
            "Update the others soon; `tocsin nodes` shows which.",
        )
    configurations = {str(node.said.get("configuration", "")) for node in alive} - {""}
    if len(configurations) > 1:
        yield Diagnosis(
            "The nodes have different configurations. If they are two installations, they share one database.",
            "Give all nodes the same configuration, and each installation a database of its own; see: tocsin nodes",
        )
    if alive and alone:
        yield Diagnosis(
            f"{count(alone, 'part')} of {made} have no node: their pages are not checked.",
            "A part is taken within the time of a lease; if it lasts, see: tocsin nodes, and the log of the nodes.",
        )
