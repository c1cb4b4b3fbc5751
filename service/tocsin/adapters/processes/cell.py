"""A cell: a process in user and network namespaces of its own, whose only way out is an egress proxy.

python -m tocsin.adapters.processes.cell CONTROL PARENT PROGRAM [ARGUMENT ...]

It enters the cell, hands the listening socket of 127.0.0.1:9080 to its parent over CONTROL, and becomes PROGRAM. The
parent serves the proxy on that socket, so nothing needs to run in the cell beside the program. Without arguments it
only says whether it could, by its exit status and on standard output.
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
_BACKLOG = 128

# Numbers of Linux that Python 3.11 has no names for.
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_SET_SIGNAL_AT_PARENTS_DEATH, _SET_NO_NEW_PRIVILEGES = 1, 38
_SET_INTERFACE_FLAGS = 0x8914
_INTERFACE_UP = 0x1
_INTERFACE_REQUEST = struct.Struct("16sh22x")


def enter(parent: int) -> socket.socket:
    """Move this process into a cell, for ever; returns the socket on which its proxy is to be served.

    parent  the process with which this one ends
    Raises OSError where the system does not allow it, and AttributeError where it has no namespaces.
    """
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_USER | _NEW_NET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    # Without the first line an unprivileged process may not write the third.
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes 3 ms to import
            file.write(line)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, _INTERFACE_REQUEST.pack(b"lo", _INTERFACE_UP))
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)
    # A dump of memory would hold the secrets that the program was given.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return socket.create_server(("127.0.0.1", PROXY_PORT), backlog=_BACKLOG)


def _said(error: OSError | AttributeError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def main() -> None:
    """Enter a cell, and become the program."""
    if len(sys.argv) == 1:
        try:
            enter(os.getppid()).close()
        except (OSError, AttributeError) as exc:
            sys.stdout.write(_said(exc))
            sys.exit(1)
        return
    control, parent, *program = sys.argv[1:]
    with socket.socket(fileno=int(control)) as pipe:
        try:
            listener = enter(int(parent))
        except (OSError, AttributeError) as exc:
            pipe.send(_said(exc).encode()[:MOST_REASON_BYTES])
            sys.exit(1)
        with listener:
            socket.send_fds(pipe, [b"."], [listener.fileno()])
    os.execv(program[0], program)  # noqa: S606 - our own parent names the program


if __name__ == "__main__":
    main()
