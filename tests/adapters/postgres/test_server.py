"""What is found out about the server of a store, and what a server says that lets nobody in, in words with the mend."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote

import psycopg
import pytest
from msgspec import structs

from tests.cli.calling import Installation
from tests.postgres import PostgresServer, postgres, programs
from tocsin.adapters.stores import open_store, server_facts
from tocsin.adapters.stores.postgres.connection import CONNECTIONS, PostgresPlace
from tocsin.adapters.stores.postgres.server import ServerFacts, examine_server
from tocsin.cli.doctor.database import describe_nodes, describe_server
from tocsin.errors import StoreError
from tocsin.model import NodeRow

SOUND: Final = ServerFacts(
    version="15.1",
    unsafe=(),
    is_standby=False,
    is_read_only=False,
    connections=100,
    taken=CONNECTIONS,
    clock_s=0.0,
    parts=64,
    forgets_sessions=False,
    may_create=True,
)


@pytest.fixture
def empty() -> Iterator[str]:
    """A database without a store."""
    postgres().command("create database plain")
    yield postgres().url("plain")
    postgres().command("drop database plain with (force)")


def free_port() -> int:
    """A port of loopback that no program has."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


# ---- What is found ----


def test_a_server_is_looked_at_as_it_is(empty: str) -> None:
    facts = server_facts(empty)

    # That of the tests does not care for its disk.
    assert facts.unsafe == ("fsync", "full_page_writes")
    assert (facts.parts, facts.clock_s, facts.is_standby, facts.is_read_only) == (0, 0.0, False, False)
    assert not facts.forgets_sessions
    assert facts.may_create
    assert facts.connections == 57
    assert facts.version.partition(".")[0].isdigit()


async def test_the_parts_of_a_store_are_counted(empty: str) -> None:
    async with await open_store(empty, engine=False, parts=16):
        assert server_facts(empty).parts == 16


@pytest.mark.parametrize("ahead_s", [-60.0, 60.0])
def test_the_distance_of_two_clocks_is_told_with_its_sign(empty: str, ahead_s: float) -> None:
    facts = examine_server(PostgresPlace(empty, timedelta(seconds=1)), lambda: time.time() - ahead_s)

    assert facts.clock_s == pytest.approx(ahead_s, abs=20)


def test_a_limit_of_the_database_counts_as_the_server_s(empty: str) -> None:
    postgres().command("alter database plain connection limit 7")

    assert server_facts(empty).connections == 7


def test_a_database_that_is_read_only_is_found(empty: str) -> None:
    postgres().command("alter database plain set default_transaction_read_only = on")

    assert server_facts(empty).is_read_only


@pytest.fixture
def pooler(empty: str) -> Iterator[Callable[[str], str]]:
    """What starts a pooler before the database, in a mode, and gives the URL through it."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
    if program is None:
        pytest.skip("PgBouncer is not installed: NOTHING IS TRIED BEHIND A POOLER")
    assert program is not None
    assert empty.startswith(postgres().url("plain"))
    started: list[subprocess.Popen[bytes]] = []
    server = postgres()

    def start(mode: str) -> str:
        # PgBouncer refuses root as PostgreSQL does; the server's folder is one that its user can write.
        file, port = server.folder / "pgbouncer.ini", free_port()
        file.write_text(
            f"[databases]\nplain = host={server.folder} user=tocsin\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\n"
        )
        started.append(subprocess.Popen([program, str(file)], **server.as_user(), stderr=subprocess.DEVNULL))
        url = f"postgresql://tocsin@127.0.0.1:{port}/plain"
        while True:
            try:
                psycopg.connect(url).close()
            except psycopg.OperationalError:
                assert started[-1].poll() is None
            else:
                return url

    yield start
    for each in started:
        each.terminate()
        each.wait()


def test_a_pooler_that_gives_each_transaction_another_session_is_found(pooler: Callable[[str], str]) -> None:
    assert server_facts(pooler("transaction")).forgets_sessions
    assert not server_facts(pooler("session")).forgets_sessions


def test_a_server_that_follows_another_one_is_found() -> None:
    server = PostgresServer(programs())
    server.follow()

    assert server_facts(server.url("postgres")).is_standby
    server.stop()


# ---- What it says to us ----


CERTIFICATE: Final = Path(__file__).parents[1] / "loopback.pem"
"""Its own authority, made for 127.0.0.1 and localhost; with its key."""


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[int, Path]]:
    """The port of a server that wants a password, and the authority of its certificate."""
    port = free_port()
    server = PostgresServer(programs(), "listen_addresses=127.0.0.1", port=port)
    folder = server.folder / "data"
    for name in ("server.key", "server.crt"):
        shutil.copy(CERTIFICATE, folder / name)
        server.own(folder / name)
    (folder / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
    server.command("alter system set ssl = on")
    server.restart()
    server.command("create role kim login password 's3cret'")
    yield port, CERTIFICATE
    server.stop()


@pytest.mark.parametrize(
    ("password", "host", "options", "said"),
    [
        ("wrong", "127.0.0.1", "", "the user or the password is wrong, or the server does not let this user in"),
        ("", "127.0.0.1", "", "the user or the password is wrong, or the server does not let this user in"),
        ("s3cret", "127.0.0.1", "&sslmode=verify-ca&sslrootcert=/none", "the server's certificate was refused; name"),
        ("s3cret", "db.example", "&sslmode=verify-full&sslrootcert={authority}", "the server's certificate was refus"),
    ],
)
async def test_what_keeps_a_client_out_is_named_with_the_mend(
    guarded: tuple[int, Path], password: str, host: str, options: str, said: str
) -> None:
    port, authority = guarded
    given = options.format(authority=quote(str(authority)))

    with pytest.raises(StoreError, match=said) as caught:
        await open_store(
            f"postgresql://kim@{host}:{port}/postgres?hostaddr=127.0.0.1{given}", password=password, engine=False
        )

    assert "s3cret" not in str(caught.value)


def test_the_right_password_and_certificate_let_in(guarded: tuple[int, Path]) -> None:
    port, authority = guarded
    url = f"postgresql://kim@127.0.0.1:{port}/postgres?sslmode=verify-full&sslrootcert={quote(str(authority))}"

    assert server_facts(url, password="s3cret").parts == 0


async def test_a_server_without_tls_is_named_where_it_is_demanded() -> None:
    port = free_port()
    server = PostgresServer(programs(), "listen_addresses=127.0.0.1", port=port)
    with pytest.raises(StoreError, match="the server offers no TLS; turn on ssl there"):
        await open_store(f"postgresql://tocsin@127.0.0.1:{port}/postgres?sslmode=require", engine=False)
    server.stop()


# Errors that the server itself makes only with a broken disk or an exhausted machine, raised there by its own means.
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("53100", "the disk of the server is full; free some space there, nothing that was committed is lost"),
        ("53200", "the server is short of memory or connections"),
        ("58030", "the server cannot read or write its files"),
        ("XX001", "the database is damaged"),
        ("57P03", "the server is stopping or starting; wait for it"),
        ("26000", "a pooler of connections must work in session mode"),
    ],
)
async def test_what_ails_a_server_is_told_in_our_words(empty: str, code: str, said: str) -> None:
    async with await open_store(empty, engine=False) as store:
        with psycopg.connect(empty, autocommit=True) as db:
            failing = f"begin raise exception using errcode = '{code}', message = 'it failed'; end"
            db.execute(f"create function fail() returns trigger language plpgsql as $$ {failing} $$".encode())
            db.execute("create trigger fails before insert on silences execute function fail()")

        with pytest.raises(StoreError, match=said):
            await store.add_silence({}, from_at=0, until_at=None, reason="", who="")


# ---- What the doctor says of it ----


def test_the_doctor_looks_at_the_server_of_a_store(tmp_path: Path, empty: str) -> None:
    installation = Installation(tmp_path)
    installation.configure("")
    installation.call("--store", empty, "watch", "add", "--no-check", "https://example.org/a")

    answer = installation.call("--store", empty, "doctor", "--no-settings")

    found = [record["finding"] for record in answer.records]
    assert answer.status == 1
    assert any(finding.startswith("The store is on PostgreSQL ") for finding in found)
    assert any(finding.startswith("The server runs with fsync = off") for finding in found)
    assert not any("cannot be used" in finding for finding in found)


def test_the_doctor_tells_a_user_without_rights_from_one_whose_store_is_not_made_yet(
    tmp_path: Path, empty: str
) -> None:
    postgres().command("create role guest login")
    installation = Installation(tmp_path)
    installation.configure("")
    try:
        found = {
            user: [
                record["finding"]
                for record in installation.call(
                    "--store", empty.replace("//tocsin@", f"//{user}@"), "doctor", "--no-settings"
                ).records
            ]
            for user in ("tocsin", "guest")
        }
    finally:
        postgres().command("drop role guest")

    said = {"no store yet": "There is no store yet", "no rights": "The user of store.url may not make tables"}
    told = {
        user: [what for what, start in said.items() if any(each.startswith(start) for each in all_)]
        for user, all_ in found.items()
    }
    assert told == {"tocsin": ["no store yet"], "guest": ["no rights"]}


def node(name: str, left_s: float = 5.0, **said: str) -> NodeRow:
    """A node as its store lists it."""
    return NodeRow(name, 0, left_s, draining=False, parts=8, said=dict(said))


def told(facts: ServerFacts = SOUND, nodes: int = 3) -> list[str]:
    """What is wrong with a server for so many nodes."""
    findings = list(describe_server(facts, nodes))
    assert all(finding.mend for finding in findings if finding.is_wrong)
    return [finding.what for finding in findings if finding.is_wrong]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"unsafe": ("fsync",)}, "The server runs with fsync = off: a crash of its machine damages the store."),
        ({"is_standby": True}, "The server is a standby, which cannot be written."),
        ({"is_read_only": True}, "The server, the database or the user is set to be read-only."),
        ({"connections": 20}, "The server allows 20 connections; 3 nodes and a few commands take 21, 6 each node."),
        ({"connections": 21}, None),
        ({"clock_s": 5.4}, "The clock of this machine is 5 seconds behind that of the database."),
        ({"clock_s": -3600.0}, "The clock of this machine is 3,600 seconds ahead of that of the database."),
        ({"clock_s": 4.9}, None),
        ({"may_create": False}, "The user of store.url may not make tables, as a new store and a newer version of"),
        ({"forgets_sessions": True}, "A pooler of connections works in transaction mode: settings, locks and noti"),
    ],
)
def test_the_doctor_says_what_of_a_server_is_wrong(changes: dict[str, object], said: str | None) -> None:
    found = told(structs.replace(SOUND, **changes))

    assert [what[: len(said or "")] for what in found] == ([said] if said else [])


@pytest.mark.parametrize(
    ("nodes", "alone", "parts", "said"),
    [
        ([], 64, (64, 64), []),
        ([node("a"), node("b")], 0, (64, 64), []),
        ([], 64, (64, 32), ["The store was made with 64 parts, the configuration has 32: the service does not start."]),
        ([node("a"), node("b", -70.0)], 0, (64, 64), ["Node b is gone: its lease ended 70 seconds ago."]),
        ([node("a"), node("b")], 2, (64, 64), ["2 parts of 64 have no node: their pages are not checked."]),
        ([node("a", version="1"), node("b", version="2")], 0, (64, 64), ["The nodes have several versions: 1, 2."]),
        ([node("a", version="1"), node("b", -9.0, version="2")], 0, (64, 64), ["Node b is gone: its lease ended 9 "]),
        ([node("a", unwritten="full"), node("b")], 0, (64, 64), ["Node a cannot write what it finds: full."]),
        (
            [node("a", configuration="x"), node("b", configuration="y")],
            0,
            (64, 64),
            ["The nodes have different configurations. If they are two installations, they share one database."],
        ),
    ],
)
def test_the_doctor_says_what_is_wrong_with_nodes(
    nodes: list[NodeRow], alone: int, parts: tuple[int, int], said: list[str]
) -> None:
    found = list(describe_nodes(nodes, alone, parts))

    assert [finding.what[: len(text)] for finding, text in zip(found, said, strict=True)] == said
    assert all(finding.mend for finding in found)
