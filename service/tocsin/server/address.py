"""`http.listen` as sockets and URLs; uses the standard library only."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from tocsin.errors import SettingsError

ANY = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - compared with, not listened on
LOOPBACK = "127.0.0.1"


def parse_listen(listen: str) -> tuple[str, int]:
    """Split a validated `http.listen` into address and port."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def local_address(listen: str) -> tuple[str, int]:
    """Return the address at which this machine reaches the service."""
    host, port = parse_listen(listen)
    return ANY.get(host, host), port


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach this address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(host: str, port: int) -> list[socket.socket]:
    """Bind the address at startup, without accepting connections yet.

    Raises SettingsError where the address is in use, or not of this machine.
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
                break  # Each socket would have its own port
    except OSError as exc:
        for made in sockets:
            made.close()
        raise SettingsError(f"http.listen: {host}:{port} cannot be bound ({_why(exc)}); {_mend(exc)}") from exc
    return sockets


def url_of(sockets: list[socket.socket], host: str) -> str:
    """Return the URL of the bound sockets, with their actual port."""
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
