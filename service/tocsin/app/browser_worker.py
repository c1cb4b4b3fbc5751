"""The browser worker, as a process that moves into a cell.

python -m tocsin.app.browser_worker STREAM SLOTS PARENT     a descriptor, a number, the id of its warden
"""

from __future__ import annotations

import asyncio
import socket
import sys

import msgspec

from tocsin.adapters.browser.worker import BrowserWorker
from tocsin.adapters.processes import cell
from tocsin.adapters.processes.stream import MessageStream, belong_to, open_pipe
from tocsin.ports.browser_link import FromBrowser, ToBrowser


async def work(stream: socket.socket) -> None:
    """Do what the engine says, until it says no more."""
    pipe: MessageStream[FromBrowser, ToBrowser] = await open_pipe(stream, msgspec.msgpack.Decoder(list[ToBrowser]))
    await BrowserWorker(pipe).run()


def main() -> None:
    """Enter a cell, hand the listening sockets of its proxies to the engine, and work."""
    stream, slots, parent = map(int, sys.argv[1:])
    belong_to(parent)
    with socket.socket(fileno=stream) as ours:
        try:
            proxies = cell.enter(parent, slots, may_be_root=False)
        except (OSError, AttributeError) as exc:
            ours.send(cell.describe(exc).encode()[: cell.MOST_REASON_BYTES])
            sys.exit(1)
        socket.send_fds(ours, [b"."], [each.fileno() for each in proxies])
        for each in proxies:
            each.close()
        asyncio.run(work(ours))


if __name__ == "__main__":
    main()
