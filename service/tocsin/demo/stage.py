"""The demo as a whole: folder, site, service and narrator put together, and the story played."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from base64 import b64encode
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.demo.ledger import find_fault, is_settled
from tocsin.demo.narrator import Narrator
from tocsin.demo.restless import Restless
from tocsin.demo.service import CONFIGURATION, JOURNAL, RENDER_LIMIT, STORE, Service, configuration
from tocsin.demo.site import DemoSite
from tocsin.demo.story import STORY, Expected, Step, missing_after
from tocsin.errors import TocsinError, UsageError
from tocsin.model import NewPage
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.demo.rows import Line
    from tocsin.ports import Store

LIMIT_S = 90.0
_POLL_S = 0.1
_QUIET = frozenset({"unchanged", "skipped"})
_LAST_HEADING = "What is left behind"
_REST_HEADING = "From here on pages change at random, until Ctrl-C"


class Audience(Protocol):
    """Who is told."""

    def begin(self, *, folder: Path, hosts: Sequence[str], pages: int, address: str) -> None:
        """Say where it all is; `address` is that of the service's web pages."""

    def head(self, title: str) -> None:
        """A part of the story begins."""

    def tell(self, line: Line, step: str) -> None:
        """Something happened."""


class StoryStuck(TocsinError):
    """A row that the story waits for did not come in time."""


class Stage(Struct, frozen=True):
    """What the story is played with."""

    site: DemoSite
    service: Service
    narrator: Narrator
    audience: Audience
    journal: Path


async def play(
    audience: Audience, *, keep: Path | None, endless: bool, every_ms: int, limit_s: float = LIMIT_S
) -> None:
    """Play the story, and go on after it if `endless`; whatever happens, service, site and folder are cleared away.

    keep      the folder that is used and stays; it must be new or empty
    every_ms  how often the service checks a page: the pace of the story
    limit_s   how long a part of the story may take: some of them take ten seconds, however fast the machine is
    Raises StoryStuck, ServiceEnded, UsageError.
    """
    async with AsyncExitStack() as stack:
        folder = _folder(keep, stack)
        secret = f"whsec_{b64encode(token_bytes(24)).decode()}"
        site = await stack.enter_async_context(DemoSite(secret=secret))
        text = configuration(hook_url=site.hook_url, secret=secret, every_ms=every_ms)
        await asyncio.to_thread((folder / CONFIGURATION).write_text, text, "utf-8")
        await _watch_pages(folder, site)
        service = await stack.enter_async_context(Service(folder))
        address = await service.address()
        store = await open_store(_store_url(folder), engine=False, create=False)
        stack.push_async_callback(store.close)
        answer = f"{_program()} --config {shlex.quote(str(folder / CONFIGURATION))} attention answer"
        narrator = Narrator(store, SystemClock(), limit=RENDER_LIMIT, answer=answer)
        stage = Stage(site, service, narrator, audience, folder / JOURNAL)
        audience.begin(folder=folder, hosts=site.hosts, pages=len(site.pages), address=address)
        await _play_story(stage, limit_s)
        if endless:
            await _go_on(stage)


async def _play_story(stage: Stage, limit_s: float) -> None:
    missing: list[Expected] = []
    title = ""
    try:
        async with asyncio.timeout(limit_s) as limit:
            for step in STORY:
                limit.reschedule(asyncio.get_running_loop().time() + limit_s)
                title = step.title or title
                if step.title:
                    stage.audience.head(title)
                missing[:] = step.expects
                await _play_step(stage, step, title, missing)
            missing.clear()
            limit.reschedule(asyncio.get_running_loop().time() + limit_s)
            title = _LAST_HEADING
            await _close_books(stage)
    except TimeoutError as exc:
        what = ", ".join(map(str, missing)) or "every channel's acceptance of every alert"
        raise StoryStuck(f"after {limit_s:g} s, in {title!r}, this never came: {what}") from exc


async def _play_step(stage: Stage, step: Step, title: str, missing: list[Expected]) -> None:
    if step.act is not None:
        step.act(stage.site)
    while missing:
        for line in await _new_lines(stage):
            left = missing_after(missing, line)
            if line.outcome not in _QUIET or len(left) < len(missing):
                stage.audience.tell(line, title)
            missing[:] = left
        if missing:
            await asyncio.sleep(_POLL_S)


async def _close_books(stage: Stage) -> None:
    """Tell which records stayed, and compare what the channels accepted with what they were given."""
    stage.audience.head(_LAST_HEADING)
    while not is_settled(alerts := await stage.narrator.all_alerts()):
        await _new_lines(stage)
        await asyncio.sleep(_POLL_S)
    for line in await stage.narrator.pruned():
        stage.audience.tell(line, _LAST_HEADING)
    text = await asyncio.to_thread(stage.journal.read_text, "utf-8")
    given: dict[str, list[dict[str, Any]]] = {
        "journal": [json.loads(line) for line in text.splitlines()],
        "hook": stage.site.received,
    }
    for channel, received in given.items():
        if (fault := find_fault(alerts, received)) is not None:
            raise StoryStuck(f"channel {channel}: {fault}")
    proofs = {
        "journal": "its file holds each of them, in order for every page",
        "hook": "its receiver verified each signature, and has them in order for every page",
    }
    for line in await stage.narrator.accepted_by(proofs):
        stage.audience.tell(line, _LAST_HEADING)


async def _go_on(stage: Stage) -> None:
    stage.audience.head(_REST_HEADING)
    restless = Restless(stage.site, SystemChance())
    while True:
        restless.act(datetime.now(UTC))
        for line in await _new_lines(stage):
            if line.outcome not in _QUIET:
                stage.audience.tell(line, _REST_HEADING)
        await asyncio.sleep(_POLL_S)


async def _new_lines(stage: Stage) -> list[Line]:
    stage.service.check()
    return await stage.narrator.new_lines()


async def _watch_pages(folder: Path, site: DemoSite) -> None:
    """Make the store, put the site's pages on its list, and ask for their first check."""
    now = SystemClock().now()
    store: Store = await open_store(_store_url(folder), engine=True)
    try:
        found = [watch_url(site.url(path)) for path in site.pages]
        new = [NewPage(url=page.url, given=page.given, host=page.host, shard=page.shard) for page in found]
        added = await store.add_pages(new, now)
        await store.request_check([page_id for page_id in added if page_id is not None], now)
    finally:
        await store.close()


def _folder(keep: Path | None, stack: AsyncExitStack) -> Path:
    if keep is None:
        return Path(stack.enter_context(TemporaryDirectory(prefix="tocsin-demo-")))
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise UsageError(f"--keep: {keep}: {exc.strerror}; name a folder that can be made") from exc
    if any(keep.iterdir()):
        raise UsageError(f"--keep: {keep} is not empty; name a new folder, so that nothing of yours is touched")
    return keep.resolve()


def _store_url(folder: Path) -> str:
    return f"sqlite:{folder / STORE}"


def _program() -> str:
    """How this program is called, for commands that the user may copy."""
    name = Path(sys.argv[0]).name
    return "tocsin" if name == "tocsin" else f"{shlex.quote(sys.executable)} -m tocsin.cli"
