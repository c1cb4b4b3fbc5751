"""The socket between a service and a browser elsewhere: who may connect, and the first words of both sides.

The service says its version and how many slots it wants; with none it only asks whether it would be served. The other
side answers with one byte, or with its own version where that is another one: what follows differs between versions.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import ExitStack
from typing import Final

from tocsin import __version__
from tocsin.errors import ProcessError

_SCHEME: Final = "unix:"
# How long a word of the other side is waited for.
FIRST_WORD_S: Final = 10.0
_YES, _NO = b"+", b"-"
_MOST_BYTES: Final = 1000
_MENDS: Final = {
    errno.ENOENT: "start `tocsin browser` there, or mount the volume with its socket",
    errno.ECONNREFUSED: "nothing listens there any more: start `tocsin browser` again",
    errno.EACCES: "run both as the same user or group, as the images do (10330)",
    errno.ENOTSOCK: "name the socket of `tocsin browser`",
}
_BUSY: Final = "a browser serves one service at a time: is another one connected, or does `tocsin browser` hang?"


async def connect(address: str, slots: int) -> socket.socket:
    """Connect to the browser at a socket, as in browser.socket; raises ProcessError, with the mend."""
    loop = asyncio.get_running_loop()
    with ExitStack() as unless_connected:
        ours = unless_connected.enter_context(socket.socket(socket.AF_UNIX))
        ours.setblocking(False)  # noqa: FBT003 - the name of the method says it
        try:
            async with asyncio.timeout(FIRST_WORD_S):
                await loop.sock_connect(ours, address.removeprefix(_SCHEME))
                await loop.sock_sendall(ours, _greeting(slots))
                said = await loop.sock_recv(ours, 1)
                version = await loop.sock_recv(ours, _MOST_BYTES) if said == _NO else b""
        except TimeoutError as exc:
            raise ProcessError(f"browser.socket {address}: no answer within {FIRST_WORD_S:g} s; {_BUSY}") from exc
        except OSError as exc:
            raise ProcessError(f"browser.socket {address}: {_describe(exc)}") from exc
        if said != _YES:
            raise ProcessError(f"browser.socket {address}: {_refusal(said, version)}")
        unless_connected.pop_all()
    return ours


def why_not_served(address: str, within_s: float) -> str | None:
    """Ask the browser at a socket whether it serves this version; returns what is wrong, with the mend.

    One that is busy with a service answers no other: that is no fault.
    """
    with socket.socket(socket.AF_UNIX) as ours:
        ours.settimeout(within_s)
        try:
            ours.connect(address.removeprefix(_SCHEME))
            ours.sendall(_greeting(0))
            said = ours.recv(1)
            version = ours.recv(_MOST_BYTES) if said == _NO else b""
        except TimeoutError:
            return None
        except OSError as exc:
            return _describe(exc)
    return None if said == _YES else _refusal(said, version)


def receive_greeting(service: socket.socket) -> int:
    """Read what a service says first, and answer; returns the slots that it wants. Raises OSError.

    service  its connection, with a time limit; what is no service of this version wants none
    """
    words = service.recv(_MOST_BYTES).decode("ascii", "replace").split()
    if len(words) != 3 or words[0] != "tocsin" or not words[2].isdecimal():  # noqa: PLR2004 - as `_greeting` has
        return 0
    if words[1] != __version__:
        service.sendall(_NO + __version__.encode())
        return 0
    service.sendall(_YES)
    return int(words[2])


def _greeting(slots: int) -> bytes:
    return f"tocsin {__version__} {slots}".encode()


def _describe(error: OSError) -> str:
    """Say why a socket was not reached, with the mend."""
    named = error.strerror or str(error)
    return f"{named}; {_MENDS.get(error.errno or 0, 'see docs/browser.md')}"


def _refusal(said: bytes, version: bytes) -> str:
    if said != _NO:
        return "what listens there is no browser of Tocsin; name the socket of `tocsin browser`"
    theirs = version.decode("ascii", "replace")
    return f"the browser is of version {theirs}, this service of {__version__}; use the same version of both"
