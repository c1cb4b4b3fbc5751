"""Real servers behind channels: killed, held and started again at random, and asked in the end what they have."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.soak.inbox import InboxServer, MailInbox, WebhookInbox
from benchmarks.soak.receiver import GATHERED, SECRET, Delivered
from tests.far_ends.brokers import BROKERS, Broker, MqttBroker
from tests.far_ends.servers import Server

_INBOXES: dict[str, type[InboxServer]] = {"mail": MailInbox, "webhook": WebhookInbox}
_DIGEST = "tocsin.digest.v1"
_PAUSE_S, _DOWN_S, _HELD_S = (0.5, 4.0), (0.0, 3.0), (0.5, 5.0)
_HELD = 0.25
# One that takes ten seconds to start is killed less often than the others.
_SELDOM = {"amqp": 0.3}


class Servers:
    """A server of each type of channels that has one here. Two channels lead to each: for single alerts, for digests.

    killed  how often each was killed, or held
    """

    def __init__(self, folder: Path, chance: Random) -> None:
        self._chance = chance
        self._brokers: dict[str, Broker] = {name: kind(folder / name) for name, kind in BROKERS.items()}
        self._inboxes = {name: kind(folder / name) for name, kind in _INBOXES.items()}
        self._servers: dict[str, Server] = {
            **{name: broker.server for name, broker in self._brokers.items()},
            **self._inboxes,
        }
        self._drained: dict[str, list[dict[str, Any]]] = {}
        self.killed: Counter[str] = Counter()

    @property
    def missing(self) -> list[str]:
        """Name the programs that are not installed."""
        return [server.program for server in self._servers.values() if server.found() is None]

    @property
    def losable(self) -> dict[str, int]:
        """How many messages each may have lost after it had accepted them, by what its own documents say."""
        return {
            f"{name}{end}": broker.may_lose * self.killed[f"{name} server"]
            for name, broker in self._brokers.items()
            for end in ("", f"-{GATHERED}")
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start all; they end with this."""
        try:
            async with asyncio.TaskGroup() as group:
                for name, server in self._servers.items():
                    group.create_task(server.start(), name=name)
            for broker in self._brokers.values():
                await broker.prepare()
            yield
        finally:
            for server in self._servers.values():
                await server.kill()

    def sections(self, timeout: str) -> str:
        """Write the channels, and the routes to them."""
        channels: dict[str, dict[str, Any]] = {
            name: {"type": name, "timeout": timeout, **broker.section()} for name, broker in self._brokers.items()
        }
        mail, webhook = (self._inboxes[name].port for name in ("mail", "webhook"))
        channels["mail"] = {"type": "mail", "host": "127.0.0.1", "port": mail, "tls": "none", "timeout": timeout}
        channels["webhook"] = {"type": "webhook", "secret": SECRET, "timeout": timeout}
        gathered = {f"{name}-{GATHERED}": section for name, section in channels.items()}
        text = ""
        for name, section in (channels | gathered).items():
            own = {"sender": "soak@example.org", "to": [f"{name}@example.org"]} if section["type"] == "mail" else {}
            if section["type"] == "webhook":
                own = {"url": f"http://127.0.0.1:{webhook}/{name}"}
            lines = (f"{key} = {json.dumps(value)}" for key, value in (section | own).items())
            text += "\n".join([f"[channels.{name}]", *lines, ""])
        for route, names in ((f"servers-{GATHERED}", gathered), ("servers", channels)):
            digest = 'digest = "2s"\n' if names is gathered else ""
            text += f'[[routes]]\nname = "{route}"\nchannels = {json.dumps([*names])}\ncontinue = true\n{digest}'
        return text

    @asynccontextmanager
    async def troubled(self) -> AsyncIterator[None]:
        """Kill one after the other meanwhile, or hold it so that it answers nothing; all run afterwards."""
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._trouble(over), name="trouble")
            try:
                yield
            finally:
                over.set()

    async def received(self) -> list[Delivered]:
        """Ask each what it has, in the order in which it got it."""
        found = []
        for name, broker in self._brokers.items():
            for event in [*self._drained.pop(name, []), *await broker.received(0)]:
                channel = f"{name}-{GATHERED}" if event["type"] == _DIGEST else name
                found.append(Delivered(0, channel, event["id"], accepted=True, is_signed=True, event=event))
        for inbox in self._inboxes.values():
            for each in inbox.taken():
                channel = each["to"].partition("@")[0]
                found.append(Delivered(0, channel, each["id"], accepted=True, is_signed=True, event=each["event"]))
        return found

    async def _trouble(self, over: asyncio.Event) -> None:
        names = [*self._servers]
        weights = [_SELDOM.get(name, 1.0) for name in names]
        while not over.is_set():
            await asyncio.sleep(self._chance.uniform(*_PAUSE_S))
            [name] = self._chance.choices(names, weights)
            server = self._servers[name]
            if self._chance.random() < _HELD:
                self.killed[f"{name} server held"] += 1
                server.send(signal.SIGSTOP)
                await asyncio.sleep(self._chance.uniform(*_HELD_S))
                server.send(signal.SIGCONT)
            else:
                self.killed[f"{name} server"] += 1
                await server.kill()
                await asyncio.sleep(self._chance.uniform(*_DOWN_S))
                await server.start()
            await self._drain()

    async def _drain(self) -> None:
        """Empty the one that writes all that waits to its disk again with each message."""
        for name, broker in self._brokers.items():
            if isinstance(broker, MqttBroker):
                self._drained.setdefault(name, []).extend(await broker.received(0))
