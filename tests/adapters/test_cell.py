"""The cell: a process in it reaches nothing but what its egress proxy lets it reach."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.test_egress import LOCAL, OK
from tests.aside import ECHO, write_echo
from tests.origin import RawOrigin
from tocsin.adapters.http.addresses import AddressPolicy, NameCache
from tocsin.adapters.http.egress import EgressBudget, EgressProxy
from tocsin.adapters.processes.aside import start_aside, start_in_cell, why_no_cells
from tocsin.adapters.processes.cell import UNPRIVILEGED as UNPRIVILEGED_ID
from tocsin.adapters.processes.starting import environment
from tocsin.errors import ProcessError

# What a program tries: each way to each canary, then the same through its proxy. It writes what it got, by way.
WAYS = r"""
import json, os, socket, sys, urllib.error, urllib.request

tcp, tcp6, udp, abstract, allowed, out, patience_s = sys.argv[1:]
got = {}

def attempt(name, work):
    try:
        got[name] = str(work())
    except Exception as exc:
        got[name] = f"{type(exc).__name__}: {exc}"

def connect(family, kind, address):
    def work():
        with socket.socket(family, kind) as way:
            way.settimeout(float(patience_s))
            way.connect(address)
            way.send(b"canary")
            return "sent"
    return work

def ask(url, *handlers):
    def work():
        with urllib.request.build_opener(*handlers).open(url, timeout=float(patience_s)) as answer:
            return answer.read().decode()
    return work

for host in ("127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost"):
    attempt(f"tcp {host}", connect(socket.AF_INET, socket.SOCK_STREAM, (host, int(tcp))))
    attempt(f"udp {host}", connect(socket.AF_INET, socket.SOCK_DGRAM, (host, int(udp))))
attempt("tcp ::1", connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", int(tcp6))))
attempt("tcp mapped", connect(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", int(tcp))))
attempt("unix", connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract))
for host in ("127.0.0.2", "2130706434", "127.2", "[::ffff:127.0.0.2]", "0.0.0.0", "[::1]"):
    attempt(f"proxy {host}", ask(f"http://{host}:{tcp if host != '[::1]' else tcp6}/"))
    attempt(f"tunnel {host}", ask(f"https://{host}:{tcp if host != '[::1]' else tcp6}/"))
attempt("direct", ask(f"http://127.0.0.1:{tcp}/", urllib.request.ProxyHandler({})))
attempt("redirect", ask(f"http://127.0.0.1:{allowed}/moved"))
attempt("allowed", ask(f"http://127.0.0.1:{allowed}/"))
for name in ("ns/net", "environ", "root/etc/passwd"):
    attempt(f"parent {name}", lambda: open(f"/proc/{os.getppid()}/{name}", "rb").read(1))
with open(out, "w") as file:
    json.dump(got, file)
"""


class Canaries:
    """Sockets outside of the cell that nothing in it may reach."""

    def __init__(self, stack: ExitStack) -> None:
        self.tcp = stack.enter_context(socket.create_server(("0.0.0.0", 0), backlog=50))
        self.tcp6 = stack.enter_context(socket.create_server(("::1", 0), family=socket.AF_INET6))
        self.udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("0.0.0.0", 0))
        self.unix = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        self.name = f"tocsin-canary-{os.getpid()}"
        self.unix.bind(f"\0{self.name}")
        self.unix.listen()

    def hits(self) -> dict[str, int]:
        """Give how often each was reached."""
        found = {}
        for kind, each in {"tcp": self.tcp, "tcp6": self.tcp6, "udp": self.udp, "unix": self.unix}.items():
            each.settimeout(0)
            found[kind] = 0
            while True:
                try:
                    each.recv(100) if kind == "udp" else each.accept()[0].close()
                except BlockingIOError:
                    break
                found[kind] += 1
        return found

    def program(self, allowed: int, out: Path, patience_s: float) -> list[str]:
        ports = [str(each.getsockname()[1]) for each in (self.tcp, self.tcp6, self.udp)]
        return [sys.executable, "-c", WAYS, *ports, self.name, str(allowed), str(out), str(patience_s)]


async def test_a_program_without_a_cell_reaches_every_canary(tmp_path: Path) -> None:
    """The control: without it, canaries that are never hit would prove nothing."""
    with ExitStack() as stack:
        canaries = Canaries(stack)
        async with RawOrigin(OK) as origin:
            # A canary never answers; that it was reached is known at once.
            program = canaries.program(origin.port, tmp_path / "out", 0.05)
            process = await asyncio.create_subprocess_exec(*program, env=environment())
            assert await process.wait() == 0
        hits = canaries.hits()

    assert all(hits.values()), hits


async def test_a_program_in_a_cell_reaches_only_what_the_policy_allows(tmp_path: Path) -> None:
    with ExitStack() as stack:
        canaries = Canaries(stack)
        moved = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:{canaries.tcp.getsockname()[1]}/\r\n"
        answers = moved.encode() + b"Content-Length: 0\r\n\r\n", OK
        async with RawOrigin(*answers) as origin:
            await _serve(canaries.program(origin.port, tmp_path / "out", 20), stack)
        hits = canaries.hits()

    got: dict[str, str] = json.loads((tmp_path / "out").read_text())
    assert not any(hits.values()), (hits, got)
    assert got["allowed"] == "hello"
    assert "403" in got["redirect"]
    assert {way for way, said in got.items() if said in {"sent", "hello"}} <= {
        "allowed",
        # UDP to an address of the cell itself goes nowhere, which its sender is not told at once.
        *(f"udp {host}" for host in ("127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost")),
    }
    assert all("PermissionError" in said for way, said in got.items() if way.startswith("parent"))


async def _serve(program: list[str], stack: ExitStack) -> None:
    names = NameCache(2, servers=["127.0.0.1:1"])
    budget = EgressBudget(connections=100, wire_bytes=2**20, connection_s=20)
    process, (listener,) = await start_in_cell(program, environment())
    stack.enter_context(listener)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(EgressProxy(names, AddressPolicy(LOCAL)).serve(listener, budget))
        assert await process.wait() == 0
        serving.cancel()
    await names.close()


# The rights of a user without any, also for a test that root runs; such a process must say that it may be looked at,
# or its own /proc belongs to root.
UNPRIVILEGED = """
import ctypes, os
prctl = ctypes.CDLL(None).prctl
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
prctl(38, 1, 0, 0, 0)
prctl(4, 1)
"""
ENTER = """
import os, resource
from tocsin.adapters.processes import cell
user = os.getuid()
PREPARE
listeners = cell.enter(os.getppid(), COUNT)
print(os.getuid(), os.getgid(), *(each.getsockname() for each in listeners), resource.getrlimit(resource.RLIMIT_CORE))
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_an_unprivileged_user_enters_a_cell_also_where_no_new_privileges_are_allowed() -> None:
    user = os.getuid() or 65534
    group = os.getgid() or 65534

    said = run(ENTER.replace("PREPARE", UNPRIVILEGED).replace("COUNT", "1"))

    assert said == f"{user} {group} ('127.0.0.1', 9080) (0, 0)"


def test_a_cell_gives_a_listener_for_each_proxy_and_root_becomes_an_ordinary_user_where_it_must() -> None:
    user = os.getuid() or UNPRIVILEGED_ID

    said = run(ENTER.replace("PREPARE", "").replace("COUNT", "3, may_be_root=False"))

    assert said.split(" ")[0] == str(user)
    assert said.endswith("('127.0.0.1', 9080) ('127.0.0.1', 9081) ('127.0.0.1', 9082) (0, 0)")


async def test_a_program_in_a_cell_gets_a_proxy_for_each_listener() -> None:
    code = (
        "import os, sys, urllib.request\n"
        "ask = lambda port: urllib.request.build_opener(urllib.request.ProxyHandler("
        "{'http': f'http://127.0.0.1:{port}'})).open(sys.argv[1]).read().decode()\n"
        "os.write(int(sys.argv[2]), (ask(9080) + ask(9081) + str(os.getuid())).encode())\n"
    )
    names = NameCache(2, servers=["127.0.0.1:1"])
    budgets = [EgressBudget(connections=9, wire_bytes=2**20, connection_s=20) for _ in range(2)]
    read, write = os.pipe()
    async with RawOrigin(OK) as origin:
        program = [sys.executable, "-c", code, origin.url(), str(write)]
        process, listeners = await start_in_cell(program, environment(), (write,), count=2, may_be_root=False)
        os.close(write)
        proxy = EgressProxy(names, AddressPolicy(LOCAL))
        async with asyncio.TaskGroup() as group:
            serving = [group.create_task(proxy.serve(*each)) for each in zip(listeners, budgets, strict=True)]
            assert await process.wait() == 0
            for task in serving:
                task.cancel()
    await names.close()
    for listener in listeners:
        listener.close()
    said = os.read(read, 100).decode()
    os.close(read)
    assert said == f"hellohello{os.getuid() or UNPRIVILEGED_ID}"
    assert [budget.connections for budget in budgets] == [8, 8]


def test_a_machine_without_namespaces_is_told_the_mend() -> None:
    # In the namespace of a first cell no further one is allowed, as on a machine that forbids them.
    said = run(
        "import os\n"
        "from tocsin.adapters.processes import cell\n"
        "from tocsin.adapters.processes.aside import why_no_cells\n"
        "cell.enter(os.getppid())\n"
        "open('/proc/sys/user/max_user_namespaces', 'w').write('0')\n"
        "print(why_no_cells())\n"
    )

    assert said.startswith("this machine allows no cell")
    assert said.endswith("set the sysctl user.max_user_namespaces = 15000 on the host")


def test_this_machine_allows_cells() -> None:
    assert why_no_cells() is None


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module that answers jobs."""
    monkeypatch.setenv("TOCSIN_SECRET", "hush")
    return write_echo(tmp_path, monkeypatch)


@pytest.mark.parametrize("in_cell", [False, True])
async def test_a_process_aside_answers_one_job_after_the_other(*, echo: str, in_cell: bool) -> None:
    aside = await start_aside(echo, in_cell=in_cell)
    answers = [await aside.ask(job) for job in (b"abc", b"", b"x" * 500_000)]
    variables = await aside.ask(b"variables")
    await aside.end()

    assert answers == [b"cba", b"", b"x" * 500_000]
    assert (b"TOCSIN_SECRET" in variables) is not in_cell
    # Without it, clients of HTTP look for passwords in the home folder.
    assert (b"'NETRC'" in variables) is in_cell
    assert not aside.is_alive


async def test_a_process_that_dies_amid_a_job_is_an_error_that_says_so(echo: str) -> None:
    aside = await start_aside(echo, in_cell=True)
    with pytest.raises(ProcessError, match="ended amid a job"):
        await aside.ask(b"die")
    await aside.end()

    assert not aside.is_alive


async def test_a_job_that_hangs_is_killed_with_its_process(echo: str) -> None:
    aside = await start_aside(echo, in_cell=True)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await aside.ask(b"hang")
    await aside.end()

    assert not Path(f"/proc/{aside.pid}").exists()


def test_a_process_in_a_cell_ends_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "echoing.py").write_text(ECHO)
    code = (
        "import asyncio\n"
        "from tocsin.adapters.processes.aside import start_aside\n"
        "async def main():\n"
        "    aside = await start_aside('echoing', in_cell=True)\n"
        "    print(aside.pid, flush=True)\n"
        "    await aside.ask(b'hang')\n"
        "asyncio.run(main())\n"
    )
    variables: dict[str, Any] = environment() | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{environment()['PYTHONPATH']}"}
    with subprocess.Popen([sys.executable, "-c", code], env=variables, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        watched = os.pidfd_open(pid)
        parent.send_signal(signal.SIGKILL)

    # A descriptor of a process becomes readable when it ends; the test's deadline bounds the wait.
    select.select([watched], [], [])
    os.close(watched)
