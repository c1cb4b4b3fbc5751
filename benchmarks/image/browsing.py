"""The browser's container, as closely shut as the compose file has it, and a page that is read through it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

from benchmarks.image.building import BROWSER_IMAGE, IMAGE, Workshop
from benchmarks.image.commands import call
from benchmarks.image.container import SHUT
from benchmarks.image.telling import Report, Unproved, hold

NAME: Final = "tocsin-browser-proof"
VOLUME: Final = "tocsin-browser-socket"
SOCKET: Final = "/run/tocsin-browser/render.sock"
# Both containers have the same user, whose processes this bounds together; a browser has some hundred threads.
ULIMITS: Final = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")
PATIENCE_S: Final = 60.0
STOP_S: Final = 10
LOOK_S: Final = 0.1
WRITTEN: Final = "Written by a script."
_PAGE: Final = (
    "<!doctype html><title>Empty</title><body><script>document.body.append('Written' + ' by a script.')</script>"
)


# In the service's container: the engine's end, and one page.
_VISIT: Final = """
import asyncio, sys
from tocsin.app.browser import open_browser
from tocsin.ports.browser import BrowserVisit
from tocsin.ports.browser_link import StartBrowser

async def admit(_):
    pass

async def main(url, socket):
    start = StartBrowser(2, "chromium-headless-shell", 9080)
    async with open_browser(start, ("127.0.0.1/32",), print, address=socket) as browser:
        print((await browser.visit(BrowserVisit(url), admit)).body.decode())

asyncio.run(main(*sys.argv[1:]))
"""


def prove_browser(workshop: Workshop, root: Path, report: Report) -> None:
    """Run the container, visit a page through it, and end it."""
    profile = root / "config" / "browser-seccomp.json"
    _prove_refusal(workshop, profile, report)
    began = time.monotonic()
    there = ("--volume", f"{VOLUME}:/run/tocsin-browser")
    call(workshop.podman("run", "--detach", "--name", NAME, *_shut(profile), *there, BROWSER_IMAGE))
    while not _is_there(workshop):
        if time.monotonic() - began > PATIENCE_S:
            raise Unproved(f"the browser's socket is not there within {PATIENCE_S:g} s; it says:\n{_log(workshop)}")
        time.sleep(LOOK_S)
    took = f"{time.monotonic() - began:.1f} s"
    report.proved("the browser's container is ready, without a network or a capability", took)
    with _site() as url:
        began = time.monotonic()
        used = ("--volume", f"{VOLUME}:/run/tocsin-browser:ro", *ULIMITS, "--entrypoint", "python3", IMAGE)
        said = call(workshop.podman("run", "--rm", *SHUT, *used, "-c", _VISIT, url, f"unix:{SOCKET}"), statuses=(0, 1))
        hold(WRITTEN in said, f"no page was visited: {said}\nThe browser says:\n{_log(workshop)}")
    report.proved("a page that a script makes is read through it", f"{time.monotonic() - began:.1f} s")
    call(workshop.podman("stop", "--time", str(STOP_S), NAME))
    # 143: by the signal itself, which it does not catch.
    status = int(call(workshop.podman("wait", NAME)))
    hold(status in {0, 143}, f"SIGTERM ended the browser's container with {status}:\n{_log(workshop)}")
    report.proved("SIGTERM ends the browser's container")


def _shut(profile: Path) -> tuple[str, ...]:
    return (
        *("--network=none", "--read-only", "--read-only-tmpfs=false", "--tmpfs", "/tmp:size=512m,mode=1777"),  # noqa: S108 - what a container is given
        *("--shm-size", "256m", "--cap-drop", "all", *ULIMITS),
        *("--security-opt", "no-new-privileges", "--security-opt", f"seccomp={profile}"),
    )


def _prove_refusal(workshop: Workshop, profile: Path, report: Report) -> None:
    """Without user namespaces it must not start: as under a profile that forbids them."""
    rules = json.loads(profile.read_text("utf-8"))
    for rule in rules["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name != "unshare"]
    narrow = workshop.folder / "narrow-seccomp.json"
    narrow.write_text(json.dumps(rules), "utf-8")
    said = call(
        ["/bin/sh", "-c", '"$@" 2>&1', "sh", *workshop.podman("run", "--rm", *_shut(narrow), BROWSER_IMAGE)],
        statuses=(1, 2, 3, 4),
    )
    hold("seccomp profile" in said, f"without namespaces it does not name the mend: {said}")
    report.proved("without user namespaces the browser does not start, and names the mend")


def _is_there(workshop: Workshop) -> bool:
    try:
        call(workshop.podman("exec", NAME, "test", "-S", SOCKET))
    except Unproved:
        return False
    return True


def _log(workshop: Workshop) -> str:
    return call(["/bin/sh", "-c", '"$@" 2>&1', "sh", *workshop.podman("logs", NAME)])[-3000:]


class _Site(BaseHTTPRequestHandler):
    """Serves the page."""

    def do_GET(self) -> None:
        """Answer with the page; there is nothing else."""
        is_page = self.path == "/"
        body = _PAGE.encode() if is_page else b""
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        serving = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        serving.join()
