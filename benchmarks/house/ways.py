"""The files that a reader enters who follows one way through the program, from runs that are traced.

A file counts when one of its functions is called; what an import alone carries out does not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.ports import free_ports

_ROOT = Path(__file__).resolve().parents[2]
_DEADLINE_S = 60
# Each of the service's own loops has its turn in this time.
_IDLE_S = 3
_DATES = ("2026-01-02", "2026-01-02 2026-03-04")


def follow(folder: Path) -> dict[str, set[str]]:
    """Follow three ways: a check up to its alert in a file, `watch list`, and one request to the API.

    folder  where the store, the configuration and the traces are written
    Returns the files entered on each way, relative to the sources. The check is counted twice: as the whole command,
    and without what `watch list` enters too or what only starts a program. What is left is the way of one page.
    """
    with _site() as (url, page):
        config = _configure(folder)
        _trace(folder, config, "check", url)
        page.dates = _DATES[1]
        checked = _trace(folder, config, "check", url)
        listed = _trace(folder, config, "watch", "list", "--json")
        asked = _trace_a_request(folder, config)
    return {
        "a check up to its alert": checked,
        "a check up to its alert, without the start": {name for name in checked - listed if not _is_start(name)},
        "watch list": listed,
        "GET /api/v1/pages": asked,
    }


def _is_start(name: str) -> bool:
    """Tell whether a file only starts programs: it parses a command, reads settings, or puts parts together."""
    return name.startswith(("cli/", "app/", "configuration/")) or name == "settings.py"


class _Page:
    dates = _DATES[0]


@contextmanager
def _site() -> Iterator[tuple[str, _Page]]:
    page = _Page()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == "/"
            body = f'<title>a page</title><meta name="topper-major" content="{page.dates}">'.encode() if known else b""
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep quiet: the figures are all that is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", page
    finally:
        server.shutdown()
        server.server_close()
        serving.join()


def _configure(folder: Path) -> Path:
    config = folder / "tocsin.toml"
    config.write_text(
        f"""
[store]
url = "sqlite:{folder}/tocsin.db"
[pages]
min_gap = "0s"
[fetch]
fetchers = 0
[network]
allow = ["127.0.0.0/8"]
[hosts]
delay = "0s"
[channels.file]
type = "file"
path = "{folder}/alerts.jsonl"
[http]
listen = "127.0.0.1:{free_ports(1)[0]}"
""",
        "utf-8",
    )
    return config


def _command(folder: Path, config: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.house.traced", str(folder / "trace"), "--config", str(config), *arguments]


def _trace(folder: Path, config: Path, *arguments: str) -> set[str]:
    command = _command(folder, config, *arguments)
    subprocess.run(command, cwd=_ROOT, check=True, timeout=_DEADLINE_S, stdin=subprocess.DEVNULL, capture_output=True)  # noqa: S603 - our own command
    return _entered(folder)


def _trace_a_request(folder: Path, config: Path) -> set[str]:
    """Follow a request to a running service in its own task; what the idle service enters by itself is taken off."""
    address = next(line.split('"')[1] for line in config.read_text("utf-8").splitlines() if line.startswith("listen"))
    with subprocess.Popen(  # noqa: S603 - our own command
        _command(folder, config, "run"),
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as service:
        try:
            _await_ready(f"http://{address}/readyz")
            # The first request imports and compiles; a reader follows a later one.
            _get(f"http://{address}/api/v1/pages")
            _say(service, "begin")
            time.sleep(_IDLE_S)
            _say(service, "write")
            idle = _entered(folder)
            _say(service, "begin")
            _get(f"http://{address}/api/v1/pages")
            _say(service, "write")
            return _entered(folder, "request") - idle
        finally:
            service.terminate()
            service.communicate(timeout=_DEADLINE_S)


def _say(service: subprocess.Popen[bytes], word: str) -> None:
    assert service.stdin is not None
    assert service.stdout is not None
    service.stdin.write(word.encode() + b"\n")
    service.stdin.flush()
    while service.stdout.readline().strip() != b"done":
        assert service.poll() is None, "the traced service ended"


def _await_ready(url: str) -> None:
    until = time.monotonic() + _DEADLINE_S
    while True:
        try:
            return _get(url)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _get(url: str) -> None:
    with urllib.request.urlopen(url, timeout=_DEADLINE_S) as answer:  # noqa: S310 - an address of loopback
        answer.read()


def _entered(folder: Path, part: str = "all") -> set[str]:
    found: dict[str, list[str]] = json.loads((folder / "trace").read_text("utf-8"))
    return set(found[part])
