"""One container of ours, run as closely shut as the compose file has it, and what can be asked of it."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from benchmarks.image.building import IMAGE, Workshop
from benchmarks.image.commands import call
from benchmarks.image.telling import Unproved
from benchmarks.ports import free_ports

SHUT = (
    *("--read-only", "--read-only-tmpfs=false", "--tmpfs", "/tmp:size=64m"),  # noqa: S108 - what a container is given
    *("--cap-drop", "all", "--security-opt", "no-new-privileges", "--network=host"),
    *("--ulimit", "nofile=256:256", "--ulimit", "nproc=64:64"),
)
BOUNDED = ("--memory", "512m", "--memory-swap", "512m", "--pids-limit", "64")
VOLUME = "tocsin-state"
TOKEN = re.compile(r"^token: (\S+)$", re.MULTILINE)
LOOK_S = 0.1


class Container:
    """Our image, running or not.

    name  of the container
    port  that it listens on, on loopback; the machine's network is the container's
    """

    def __init__(self, workshop: Workshop, name: str, *bounds: str) -> None:
        self._workshop, self.name, self._bounds = workshop, name, bounds
        (self.port,) = free_ports(1)
        self.token = ""

    def run(self) -> float:
        """Make and start it; returns when that was asked for, on the monotonic clock."""
        asked = time.monotonic()
        listen = ("--env", f"TOCSIN_HTTP__LISTEN=0.0.0.0:{self.port}")
        call(
            self._workshop.podman(
                "run",
                "--detach",
                "--name",
                self.name,
                *SHUT,
                *self._bounds,
                *listen,
                "--volume",
                f"{VOLUME}:/var/lib/tocsin",
                IMAGE,
            )
        )
        return asked

    def start(self) -> float:
        """Start it again; returns when that was asked for."""
        asked = time.monotonic()
        call(self._workshop.podman("start", self.name))
        return asked

    def signal(self, name: str) -> None:
        """Send its first process a signal."""
        call(self._workshop.podman("kill", "--signal", name, self.name))

    def kill(self) -> None:
        """End it as a failing machine would."""
        self.signal("KILL")
        call(self._workshop.podman("wait", self.name))

    def stop(self, limit_s: int) -> tuple[int, float]:
        """Tell it to end; returns its status, and how long that took."""
        asked = time.monotonic()
        call(self._workshop.podman("stop", "--time", str(limit_s), self.name))
        status = call(self._workshop.podman("wait", self.name))
        return int(status), time.monotonic() - asked

    def inside(self, *words: str, statuses: tuple[int, ...] = (0,)) -> str:
        """Run something in it, as its own user; returns what it printed."""
        return call(self._workshop.podman("exec", self.name, *words), statuses=statuses)

    def health(self) -> str:
        """Have its HEALTHCHECK run; returns its state of health."""
        call(self._workshop.podman("healthcheck", "run", self.name), statuses=(0, 1))
        return call(self._workshop.podman("inspect", "--format", "{{.State.Health.Status}}", self.name)).strip()

    def log(self) -> str:
        """Give all that it has written, on both of its streams."""
        return call(["/bin/sh", "-c", '"$@" 2>&1', "sh", *self._workshop.podman("logs", self.name)])

    def memory_mb(self) -> float | None:
        """How much memory all of its processes take, as the kernel bounds it; None where nothing bounds it."""
        with suppress(Unproved):
            return int(self.inside("cat", "/sys/fs/cgroup/memory/memory.usage_in_bytes")) / 1_000_000
        with suppress(Unproved):
            return int(self.inside("cat", "/sys/fs/cgroup/memory.current")) / 1_000_000
        return None

    # Over HTTP --------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, *, body: str | None = None, token: str | None = None) -> tuple[int, bytes]:
        """Make a request; returns status and body. A service that does not answer yet is status 0."""
        headers = {"Accept": "application/json", "Host": f"127.0.0.1:{self.port}"}
        given = self.token if token is None else token
        if given:
            headers["Authorization"] = f"Bearer {given}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            return 0, b""
        finally:
            connection.close()

    def read(self, path: str) -> Any:
        """Ask the interface for something; returns what its JSON says."""
        status, body = self.ask("GET", path)
        if status != 200:
            raise Unproved(f"GET {path} was answered {status}: {body[:400]!r}")
        return json.loads(body)

    def until(self, is_so: Callable[[], object], what: str, limit_s: float, since: float) -> float:
        """Wait until it is so; returns the seconds since then. Raises Unproved, with the end of its log."""
        while not is_so():
            if time.monotonic() - since > limit_s:
                raise Unproved(f"{what}: not within {limit_s:g} s; its log ends with:\n{self.log()[-2000:]}")
            time.sleep(LOOK_S)
        return time.monotonic() - since

    def is_ready(self) -> bool:
        """Say whether it calls itself ready."""
        return self.ask("GET", "/readyz", token="")[0] == 200
