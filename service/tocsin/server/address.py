"""`http.listen` as sockets need it; needs no more than the standard library."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from tocsin.errors import SettingsError

ANY = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared with, not listened on
LOOPBACK = "127.0.0.1"


def parse_listen(listen: str) -> tuple[str, int]:
    """Read an address and a port; settings were checked before."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def local_address(listen: str) -> tuple[str, int]:
    """Give the address by which this machine itself reaches the service."""
    host, port = parse_listen(listen)
    return ANY.get(host, host), port


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches this address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(host: str, port: int) -> list[socket.socket]:
    """Take the address, before anything else is begun; nobody is let in yet.

    Raises SettingsError where it cannot be had: somebody else has it, or it is none of this machine.
    """
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in dict.fromkeys(found):
            made = socket.socket(family, kind, protocol)
            sockets.append(made)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.setblocking(False)  # noqa: FBT003 - its only argument
            made.bind(address)
            if port == 0:
                break  # each would have a port of its own
    except OSError as exc:
        for made in sockets:
            made.close()
        raise SettingsError(f"http.listen: {host}:{port} cannot be had ({_why(exc)}); {_mend(exc)}") from exc
    return sockets


def url_of(sockets: list[socket.socket], host: str) -> str:
    """Give the URL that leads to what is bound, with the port that was really given."""
    port = sockets[0].getsockname()[1]
    shown = ANY.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def _why(exc: OSError) -> str:
    return exc.strerror or str(exc)


def _mend(exc: OSError) -> str:
    import errno  # noqa: PLC0415 - only where something went wrong

    if exc.errno == errno.EADDRINUSE:
        return "another program, perhaps another Tocsin, listens there: stop it, or set another port"
    if exc.errno in {errno.EACCES, errno.EPERM}:
        return "ports below 1024 are for administrators: set a higher one"
    return "set an address of this machine, 127.0.0.1:8330 for instance, or leave it empty for no web pages"
