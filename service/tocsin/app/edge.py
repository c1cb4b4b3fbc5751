"""The HTTP edge beside the engine: access is decided first; web pages and API are loaded while the engine starts."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.app.executing import leave_loaded_alone
from tocsin.configuration.tokens import parse_tokens
from tocsin.errors import StoreError, UsageError, shortage_of
from tocsin.events import Happening
from tocsin.model import AuditEntry, Scope
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.server.address import LOOPBACK, bind, is_loopback, parse_listen, url_of
from tocsin.settings import why_unread

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tocsin.model import Instant
    from tocsin.ports import Service, Store, Telemetry
    from tocsin.settings import HttpSettings

T = TypeVar("T")

FIRST = "first"
_LOAD_AGAIN_S = 0.5


class Edge:
    """The HTTP edge, bound to its address on creation; raises SettingsError if that is not available."""

    def __init__(self, settings: HttpSettings, stopping: asyncio.Event, telemetry: Telemetry) -> None:
        self._settings, self._stopping, self._telemetry = settings, stopping, telemetry
        self._host, port = parse_listen(settings.listen)
        self._sockets = bind(self._host, port)
        self._is_settled, self._has_ended = asyncio.Event(), asyncio.Event()
        self._given: asyncio.Future[tuple[Service, Store, Telemetry]] = asyncio.get_running_loop().create_future()
        if is_loopback(self._host) or settings.first_token or settings.tokens:
            self._is_settled.set()
            for each in self._sockets:
                # Clients that connect while the server is loaded wait for it.
                each.listen()

    async def run(self) -> None:
        """Serve until the service stops: at first only the state "starting", after `open` everything."""
        try:
            # Loading it takes half a second, in which the engine can begin.
            serving = await self._load(lambda: import_module("tocsin.server.serving"))
            await self._first_of(self._is_settled)
            if self._stopping.is_set():
                return
            await self._serve(serving)
        finally:
            for each in self._sockets:
                each.close()
            self._has_ended.set()

    async def settle(self, store: Store, now: Instant) -> None:
        """Decide who has access: without a token only this machine. Raises SettingsError, StoreError."""
        await self.declare(self._settings, store, now)
        # A tokens file that cannot be read does not open the service: requests without a token are still rejected.
        has_tokens = bool(self._settings.tokens) or await store.has_tokens()
        if not has_tokens and self._settings.first_token:
            await self._make_first_token(store, now)
            has_tokens = True
        if self._has_ended.is_set():
            return  # stopped before it had begun
        if not has_tokens:
            self._keep_to_this_machine()
        for each in self._sockets:
            # Before the event is logged: a client that connects at once waits for the server.
            each.listen()
        url = url_of(self._sockets, self._host)
        self._telemetry.emit(Happening("http.listening", "info", {"url": url, "guarded": has_tokens}))
        self._is_settled.set()

    async def declare(self, http: HttpSettings, store: Store, now: Instant) -> None:
        """Take over the tokens that the configuration declares; where they cannot be read, all stays as it is."""
        if why := why_unread(http.tokens):
            self._telemetry.emit(Happening("access.unread", "error", {"error": why}))
            return
        tokens = [(each.name, each.scope, digest_of(each.token)) for each in parse_tokens(http.tokens)]
        found = await store.declare_tokens(tokens, now)
        changes = {"added": found.added, "changed": found.changed, "revoked": found.revoked}
        told = {what: list(names) for what, names in changes.items() if names}
        if told:
            self._telemetry.emit(Happening("access.declared", "info", dict(told)))
            await store.write_audit(AuditEntry(now, "configuration", "token.declare", dict(told)))
        for name, why in found.refused:
            # Not as `token`: the log hides the values of keys that may hold a secret.
            self._telemetry.emit(Happening("access.not_declared", "error", {"name": name, "error": why}))

    def open(self, service: Service, store: Store, telemetry: Telemetry) -> None:
        """Serve everything from now on, unless it was stopped meanwhile."""
        # A stop cancels who waits for it, and so the future.
        if not self._given.done():
            self._given.set_result((service, store, telemetry))

    async def ended(self) -> None:
        """Wait until nothing is served any more."""
        await self._has_ended.wait()

    async def _serve(self, serving: ModuleType) -> None:
        front = serving.Front()
        async with asyncio.TaskGroup() as group:
            opening = group.create_task(self._open(front), name="http-open")
            await serving.serve(self._sockets, front, self._stopping, self._telemetry)
            opening.cancel()

    async def _open(self, front: object) -> None:
        # Not while the engine is put together: the second that this takes would hold it up. And as one step, on a
        # thread: each step in the loop may have to wait for a busy engine, and this would be some forty.
        service, store, telemetry = await self._given
        application, app = await self._load(_load_all)
        parts = application.Parts(store, service, SystemClock(), SystemChance(), telemetry, self._stopping)
        application.equip(app, parts)
        leave_loaded_alone()
        async with application.at_work(app):
            front.open(app)  # type: ignore[attr-defined]  # what serves is loaded late
            self._telemetry.emit(Happening("http.ready"))
            await self._stopping.wait()
            # Work that goes on after an answer ends with the requests in progress.
            await asyncio.Event().wait()

    async def _load(self, load: Callable[[], T]) -> T:
        """Load in a thread what lies in files; while clients hold all the files there are, it is tried again.

        Otherwise clients that connect often enough during a start would end the service.
        """
        is_told = False
        while True:
            try:
                return await asyncio.to_thread(load)
            except (OSError, ImportError, MemoryError) as exc:
                shortage = shortage_of(exc)
                if shortage is None:
                    raise
                if not is_told:
                    self._telemetry.emit(Happening("http.short", "error", {"error": str(shortage)}))
                    is_told = True
            await asyncio.sleep(_LOAD_AGAIN_S)

    async def _first_of(self, event: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(each.wait(), name="http-wait") for each in (event, self._stopping)]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()

    async def _make_first_token(self, store: Store, now: Instant) -> None:
        token = new_token()
        try:
            await store.add_token(FIRST, Scope.ADMIN, digest_of(token), now)
        except UsageError:
            # A user has just made one, and knows it.
            return
        mend = "it is shown this once; `tocsin token add NAME --scope admin` makes another, `token revoke` ends one"
        self._telemetry.emit(Happening("access.first_made", "warning", {"name": FIRST, "mend": mend}))
        try:
            print(f"token: {token}", flush=True)  # noqa: T201 - the one place where it is ever shown
        except OSError as exc:
            raise StoreError(f"the first token could not be shown ({exc}); make one with `tocsin token add`") from exc

    def _keep_to_this_machine(self) -> None:
        values: dict[str, object] = {
            "who": "every user of this machine, as administrator",
            "mend": "`tocsin token add NAME --scope admin` creates a token; from then on every request needs one",
        }
        if not is_loopback(self._host):
            port = self._sockets[0].getsockname()[1]
            for each in self._sockets:
                each.close()
            self._sockets = bind(LOOPBACK, port)
            values["instead_of"] = self._settings.listen
            values["mend"] = (
                "create a token with `tocsin token add NAME --scope admin`, then start again to listen there"
            )
            self._host = LOOPBACK
        self._telemetry.emit(Happening("http.open", "warning", values))


def _load_all() -> tuple[ModuleType, Any]:
    """Load and make all that serving needs and that knows nothing of the engine, in one go: it is on a thread."""
    application = import_module("tocsin.server.app")
    app = application.build_app()
    application.prepare(app)
    return application, app
