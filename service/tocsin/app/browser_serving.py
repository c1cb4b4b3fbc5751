"""A browser for an engine in another container: a worker for each connection, over a Unix socket."""

from __future__ import annotations

import select
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from tocsin.adapters.processes.aside import why_no_cells
from tocsin.app.browser import why_no_browser, worker_command, worker_folder, worker_variables
from tocsin.app.browser_socket import FIRST_WORD_S, receive_greeting
from tocsin.errors import ProcessError, UsageError

_LOOK_MS: Final = 500
_END_S: Final = 3.0


def serve_engines(address: str, path: str, tell: Callable[[str], None]) -> None:
    """Serve one engine after the other, until this process is ended.

    address  of the socket, as in browser.socket
    path     of the browser's program
    tell     gets a line once engines can connect
    Raises ProcessError, and UsageError where the socket cannot be made; both with the mend.
    """
    if (why := why_no_browser(path) or why_no_cells()) is not None:
        raise ProcessError(why)
    with _listen(Path(address.removeprefix("unix:"))) as door:
        tell(f"a browser waits at {address}")
        while True:
            engine, _ = door.accept()
            with engine:
                _serve(engine)


def _listen(path: Path) -> socket.socket:
    door = socket.socket(socket.AF_UNIX)
    try:
        # One that was left by a process that was killed; any other file is of use to its owner.
        if path.is_socket() and not _is_served(path):
            path.unlink()
        door.bind(str(path))
        # The group is what the containers of service and browser share.
        path.chmod(0o660)
        door.listen()
    except OSError as exc:
        door.close()
        what = f"browser.socket {path}: {exc.strerror}"
        raise UsageError(f"{what}; name a file that is not there yet, in a folder that is writable") from exc
    return door


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as door:
        return door.connect_ex(str(path)) == 0


def _serve(engine: socket.socket) -> None:
    """Start a worker that speaks with an engine; it ends with the connection, also where it hangs."""
    engine.settimeout(FIRST_WORD_S)
    try:
        slots = receive_greeting(engine)
    except OSError:
        return
    if not slots:
        return
    engine.settimeout(None)
    with (
        worker_folder() as folder,
        subprocess.Popen(  # noqa: S603 - our own
            worker_command(engine.fileno(), slots),
            env=worker_variables(folder),
            pass_fds=(engine.fileno(),),
            start_new_session=True,
        ) as worker,
    ):
        hung_up = select.poll()
        hung_up.register(engine, select.POLLRDHUP)
        while worker.poll() is None and not hung_up.poll(_LOOK_MS):
            pass
        with suppress(subprocess.TimeoutExpired):
            worker.wait(_END_S)
        worker.terminate()
