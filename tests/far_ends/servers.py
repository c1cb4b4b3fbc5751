"""Real message brokers on free loopback ports: started, killed and started again with what they have on disk."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest

from benchmarks.ports import free_ports
from tests.far_ends.base import CERTIFICATE, PASSWORD, USER

_STARTS_S = 60.0
_LOOKS_S = 0.05


class Server(ABC):
    """One server process and its folder.

    port, tls_port  the same after it was started again
    password        of its user; written into its configuration by `commands`
    """

    program: ClassVar[str]
    scheme: ClassVar[str]
    tls_scheme: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self.tls_port, self.other_port = free_ports(3)
        self.password = PASSWORD
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        return f"{self.tls_scheme}://127.0.0.1:{self.tls_port}"

    async def start(self) -> None:
        """Start it, and wait until its ports are open."""
        if self.found() is None:
            pytest.skip(f"{self.program} is not installed")
        self.folder.mkdir(parents=True, exist_ok=True)
        for command in self.commands():
            self._processes.append(self._begin(command))
        async with asyncio.timeout(_STARTS_S):
            while not await self.is_ready():
                assert all(process.poll() is None for process in self._processes), self.log()
                await asyncio.sleep(_LOOKS_S)

    async def kill(self) -> None:
        """End it and all its children with SIGKILL."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()
        # A child that is no child of ours takes a moment to die.
        async with asyncio.timeout(_STARTS_S):
            while await self.is_ready():  # noqa: ASYNC110 - another process closes the ports
                await asyncio.sleep(_LOOKS_S)

    def send(self, number: signal.Signals) -> None:
        """Send a signal: after SIGSTOP it accepts connections and answers nothing, until SIGCONT."""
        for process in self._processes:
            os.killpg(process.pid, number)

    def _begin(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "server.log").open("ab") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environ(), cwd=self.folder, start_new_session=True
            )

    @property
    def ports(self) -> tuple[int, ...]:
        """Those that are open when it is ready."""
        return self.port, self.tls_port

    def found(self) -> str | None:
        return shutil.which(self.program, path=f"/usr/lib/rabbitmq/bin:{os.environ['PATH']}:/usr/sbin")

    def log(self) -> str:
        return (self.folder / "server.log").read_text(errors="replace")[-3000:]

    def environ(self) -> dict[str, str]:
        return dict(os.environ)

    async def is_ready(self) -> bool:
        for port in self.ports:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                return False
            writer.close()
        return True

    @abstractmethod
    def commands(self) -> list[list[str]]: ...


class NatsServer(Server):
    program, scheme, tls_scheme = "nats-server", "nats", "tls"

    def commands(self) -> list[list[str]]:
        files = []
        for name, port, tls in (("plain", self.port, ""), ("tls", self.tls_port, self._tls())):
            file = self.folder / f"{name}.conf"
            file.write_text(
                f'listen: "127.0.0.1:{port}"\nmax_payload: 300000\nserver_name: {name}\n'
                f'jetstream: {{ store_dir: "{self.folder}/{name}" }}\n{tls}'
                f'authorization: {{ user: {USER}, password: "{self.password}" }}\n'
            )
            files.append([self.found() or "", "-c", str(file)])
        return files

    def _tls(self) -> str:
        return f'tls: {{ cert_file: "{CERTIFICATE}", key_file: "{CERTIFICATE}" }}\n'


class RedisServer(Server):
    program, scheme, tls_scheme = "redis-server", "redis", "rediss"

    def commands(self) -> list[list[str]]:
        file = self.folder / "redis.conf"
        file.write_text(
            f"bind 127.0.0.1\nport {self.port}\ntls-port {self.tls_port}\ntls-cert-file {CERTIFICATE}\n"
            f"tls-key-file {CERTIFICATE}\ntls-auth-clients no\ndir {self.folder}\nappendonly yes\nappendfsync always\n"
            f'requirepass {PASSWORD}\nuser {USER} on >{PASSWORD} ~* &* +@all\nsave ""\n'
        )
        return [[self.found() or "", str(file)]]


class MqttServer(Server):
    program, scheme, tls_scheme = "mosquitto", "mqtt", "mqtts"

    def commands(self) -> list[list[str]]:
        users = self.folder / "users"
        subprocess.run(["/usr/bin/mosquitto_passwd", "-b", "-c", str(users), USER, self.password], check=True)
        rights = self.folder / "rights"
        rights.write_text(f"user {USER}\ntopic readwrite tocsin/#\n")
        file = self.folder / "mosquitto.conf"
        file.write_text(
            f"per_listener_settings false\nuser root\nallow_anonymous false\npassword_file {users}\nacl_file {rights}\n"
            f"persistence true\npersistence_location {self.folder}/\nautosave_on_changes true\nautosave_interval 1\n"
            f"max_queued_messages 0\nmax_packet_size 300000\nmax_inflight_messages 0\n"
            f"listener {self.port} 127.0.0.1\nlistener {self.tls_port} 127.0.0.1\ncertfile {CERTIFICATE}\n"
            f"keyfile {CERTIFICATE}\n"
        )
        return [[self.found() or "", "-c", str(file)]]


class AmqpServer(Server):
    program, scheme, tls_scheme = "rabbitmq-server", "amqp", "amqps"

    def commands(self) -> list[list[str]]:
        definitions = self.folder / "definitions.json"
        definitions.write_text(
            f'{{"users": [{{"name": "{USER}", "password": "{PASSWORD}", "tags": "administrator"}}],'
            '"vhosts": [{"name": "/"}], "permissions": [{"user": "' + USER + '", "vhost": "/", "configure": ".*",'
            '"write": ".*", "read": ".*"}]}'
        )
        (self.folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\nlisteners.ssl.1 = 127.0.0.1:{self.tls_port}\n"
            f"ssl_options.certfile = {CERTIFICATE}\nssl_options.keyfile = {CERTIFICATE}\n"
            f"ssl_options.verify = verify_none\nload_definitions = {definitions}\n"
        )
        (self.folder / "plugins").write_text("[].\n")
        return [["epmd", "-address", "127.0.0.1", "-port", str(self.other_port)], [self.found() or ""]]

    def environ(self) -> dict[str, str]:
        folder = str(self.folder)
        return {
            **os.environ,
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "ERL_EPMD_PORT": str(self.other_port),
            "RABBITMQ_NODENAME": f"t{self.port}@localhost",
            "RABBITMQ_MNESIA_BASE": folder,
            "RABBITMQ_LOG_BASE": folder,
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_DIST_PORT": str(free_ports(1)[0]),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}",
        }
