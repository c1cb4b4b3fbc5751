"""A cell: a process in user and network namespaces of its own, whose only way out is an egress proxy.

python -m tocsin.adapters.processes.cell CONTROL PARENT COUNT USER PROGRAM [ARGUMENT ...]

It enters the cell, hands the listening sockets of 127.0.0.1:9080 and the next COUNT - 1 ports to its parent over
CONTROL, and becomes PROGRAM. The parent serves a proxy on each, so nothing needs to run in the cell beside the program.
USER is "any", or "no-root": root then becomes user 65534. Without arguments it only says whether it could, by its exit
status and on standard output.
"""

# It imports the standard library alone, and little of it: every start of a program in a cell waits for it.
from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys

PROXY_PORT = 9080
MOST_REASON_BYTES = 1000
# As which root runs what must never be root. The number is of a user who owns no file.
UNPRIVILEGED = 65534
_BACKLOG = 128

# Numbers of Linux that Python 3.11 has no names for.
_NEW_MOUNTS, _NEW_USER, _NEW_NET = 0x20000, 0x10000000, 0x40000000
_MOUNT_BIND, _MOUNT_RECURSIVE, _MOUNT_PRIVATE = 0x1000, 0x4000, 0x40000
_SET_SIGNAL_AT_PARENTS_DEATH, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 1, 4, 38
_SET_INTERFACE_FLAGS = 0x8914
_INTERFACE_UP = 0x1
_INTERFACE_REQUEST = struct.Struct("16sh22x")


def enter(parent: int | None, count: int = 1, *, may_be_root: bool = True) -> list[socket.socket]:
    """Move this process into a cell, for ever; returns the sockets on which its proxies are to be served.

    parent       the process with which this one ends; None: with none
    count        proxies
    may_be_root  False: root becomes user 65534, since a browser refuses to build its own sandbox as root
    Raises OSError where the system does not allow it, and AttributeError where it has no namespaces.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if not may_be_root and os.geteuid() == 0:
        _drop_root(libc)
    user, group = os.geteuid(), os.getegid()
    _demand(libc.unshare(_NEW_USER | _NEW_NET))
    # Without the first line an unprivileged process may not write the third.
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes 3 ms to import
            file.write(line)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, _INTERFACE_REQUEST.pack(b"lo", _INTERFACE_UP))
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if parent is not None:
        libc.prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(0)
    # A dump of memory would hold the secrets that the program was given.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return [socket.create_server(("127.0.0.1", PROXY_PORT + each), backlog=_BACKLOG) for each in range(count)]


def _drop_root(libc: ctypes.CDLL) -> None:
    _show_to_all(libc, {sys.prefix, sys.base_prefix, *filter(os.path.isdir, sys.path)})
    os.setgroups([])
    os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
    # After a change of user /proc/self belongs to root, and its maps could not be written.
    libc.prctl(_SET_DUMPABLE, 1)


def _show_to_all(libc: ctypes.CDLL, folders: set[str]) -> None:
    """Show this process these folders where they lie below one that is closed to others: a Python in root's home."""
    closed: dict[str, str] = {}
    for folder in sorted(folders):
        above = _closed_above(folder)
        if above and not any(folder.startswith(f"{shown}/") for shown in closed):
            closed[folder] = above
    if not closed:
        return
    _demand(libc.unshare(_NEW_MOUNTS))
    _demand(libc.mount(b"none", b"/", None, _MOUNT_RECURSIVE | _MOUNT_PRIVATE, None))
    opened = {folder: os.open(folder, os.O_PATH) for folder in closed}
    # An empty folder instead of the closed one, with nothing but these in it.
    for above in set(closed.values()):
        _demand(libc.mount(b"none", above.encode(), b"tmpfs", 0, b"mode=755"))
    for folder, descriptor in opened.items():
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - as above
        _demand(libc.mount(f"/proc/self/fd/{descriptor}".encode(), folder.encode(), None, _MOUNT_BIND, None))
        os.close(descriptor)


def _closed_above(folder: str) -> str:
    """Give the first folder on the way to this one that others may not enter; empty: there is none."""
    path = ""
    for name in folder.split("/")[1:]:
        path += f"/{name}"
        if not os.stat(path).st_mode & 0o001:  # noqa: PTH116 - as above
            return path
    return ""


def _demand(status: int) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def describe(error: OSError | AttributeError) -> str:
    """Say why no cell was entered."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def main() -> None:
    """Enter a cell, and become the program."""
    if len(sys.argv) == 1:
        try:
            enter(os.getppid())
        except (OSError, AttributeError) as exc:
            sys.stdout.write(describe(exc))
            sys.exit(1)
        return
    control, parent, count, user, *program = sys.argv[1:]
    with socket.socket(fileno=int(control)) as pipe:
        try:
            listeners = enter(int(parent), int(count), may_be_root=user == "any")
        except (OSError, AttributeError) as exc:
            pipe.send(describe(exc).encode()[:MOST_REASON_BYTES])
            sys.exit(1)
        # They are closed at the exec.
        socket.send_fds(pipe, [b"."], [each.fileno() for each in listeners])
    os.execv(program[0], program)  # noqa: S606 - our own parent names the program


if __name__ == "__main__":
    main()
