"""Serves HTTP in the event loop of the service: answers from the start, and stops in order."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from tocsin.events import Happening
from tocsin.ports import Telemetry
from tocsin.server.connections import ClientConnection

GRACE_S = 4  # Grace time of requests in progress at a stop; less than the engine's, which runs at the same time.
TICK_S = 1.0
_STARTING = b'{"status":"not ready","store":"is being opened","engine":"is starting"}'
# A constant, since `problems` is not loaded yet.
_STARTING_PROBLEM = (
    b'{"type":"urn:tocsin:problem:starting","title":"The service is starting","status":503,'
    b'"detail":"the store is being opened",'
    b'"mend":"ask again as late as Retry-After says; /readyz says what is missing"}'
)
_STARTING_PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Tocsin is starting</title>
<meta name="viewport" content="width=device-width"><h1>Tocsin is starting</h1>
<p>The store is being opened; this page asks again by itself."""


class Front:
    """The ASGI entry: the application, or 503 "starting" before it is ready."""

    def __init__(self) -> None:
        self._app: ASGIApp = _starting

    def open(self, app: ASGIApp) -> None:
        """Pass requests to the application from now on."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._app(scope, receive, send)


class Server(uvicorn.Server):
    """uvicorn without signal handlers and terminal output, stopped by an event."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app,
            http=ClientConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=GRACE_S,
        )
        super().__init__(config)
        self._stopped = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the service."""
        yield

    async def main_loop(self) -> None:
        """Update the Date header, and disconnect stuck clients, until told to stop."""
        while not self._stopped.is_set():
            await self.on_tick(0)
            self._sweep()
            try:
                async with asyncio.timeout(TICK_S):
                    await self._stopped.wait()
            except TimeoutError:
                continue

    def _sweep(self) -> None:
        now_s = asyncio.get_running_loop().time()
        for each in list(self.server_state.connections):
            if isinstance(each, ClientConnection):
                each.sweep(now_s)

    def stop(self) -> None:
        """Stop accepting; `serve` returns when the requests in progress have ended or were given up."""
        self.should_exit = True
        self._stopped.set()


async def serve(sockets: Sequence[socket.socket], front: Front, stopping: asyncio.Event, telemetry: Telemetry) -> None:
    """Serve on bound sockets until `stopping` is set, then let requests under way end, within the grace time."""
    server = Server(front)
    with _told_to(telemetry):
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(list(sockets)), name="http-connections")
            await stopping.wait()
            server.stop()
            await serving
        late = list(server.server_state.tasks)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1)


async def _starting(scope: Scope, receive: Receive, send: Send) -> None:
    del receive
    # The path may still have the prefix of a proxy.
    is_alive = scope["path"].endswith("/healthz")
    is_person = any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
    is_program = "/api/" in scope["path"]
    body, kind = _STARTING, b"application/json"
    if is_alive:
        body = b'{"status":"alive"}'
    elif is_program:
        body, kind = _STARTING_PROBLEM, b"application/problem+json"
    elif is_person:
        body, kind = _STARTING_PAGE, b"text/html; charset=utf-8"
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
        (b"retry-after", b"1"),
        *([(b"refresh", b"2")] if body is _STARTING_PAGE else ()),
    ]
    await send({"type": "http.response.start", "status": 200 if is_alive else 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _ToTelemetry(logging.Handler):
    """Passes the log lines of uvicorn to the service's own log."""

    def __init__(self, telemetry: Telemetry) -> None:
        super().__init__(logging.WARNING)
        self._telemetry = telemetry

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a line on, with its error."""
        values = {"said": record.getMessage()}
        exc = record.exc_info[1] if record.exc_info else None
        if exc is not None:
            values["error"] = f"{type(exc).__name__}: {exc}"
            values["where"] = _where(exc)
        level: Literal["error", "debug"] = "error" if record.levelno >= logging.ERROR else "debug"
        self._telemetry.emit(Happening("http.failed" if exc else "http.noted", level, values))


def _where(exc: BaseException) -> str:
    trace, steps = exc.__traceback__, []
    while trace is not None:
        code = trace.tb_frame.f_code
        steps.append(f"{code.co_filename.rpartition('/tocsin/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " < ".join(reversed(steps[-6:]))


@contextmanager
def _told_to(telemetry: Telemetry) -> Iterator[None]:
    logger, handler = logging.getLogger("uvicorn.error"), _ToTelemetry(telemetry)
    was, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = was
