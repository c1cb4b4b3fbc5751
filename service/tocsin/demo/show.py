"""The demo: the real program as a child process on its own site, and the new rows of its store, in order."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.app.demo import list_demo_pages
from tocsin.demo.rows import DemoLine, alert_line, check_line, first_line, question_lines, verdict_lines
from tocsin.errors import TocsinError, UsageError
from tocsin.model import Instant, PageFilter, PageRow
from tocsin.ports import Store

CONFIGURATION = "tocsin.toml"
STORE = "tocsin.db"
LOG = "service.log"
JOURNAL = "alerts.jsonl"
LIMIT_S = 90.0
# Marks the line of the log that holds the address.
LISTENING = '"http.listening"'
_POLL_S = 0.1
_STOP_WITHIN_S = 10.0
_LAST_LINES = 5
_MANY = 1000
_LATEST_STATES = 10
_QUIET = frozenset({"unchanged", "skipped"})

SETTINGS = f"""\
# What `tocsin demo` runs with. Times are short, so that a minute shows what otherwise takes days.
[instance]
name = "demo"
contact = "the demonstration, on this machine only"
[store]
url = "sqlite:{STORE}"
[hosts]
delay = "0s"
[questions]
gather = "2s"
[channels.journal]
type = "file"
path = "{JOURNAL}"
[http]
listen = "127.0.0.1:0"
"""


class StoryStep(Struct, frozen=True):
    """A part of the story.

    title  is printed before the first line of the step
    paths  of the pages that it is about
    ends   rows that must come, as (row, path, outcome)
    """

    title: str
    paths: tuple[str, ...]
    ends: tuple[tuple[str, str, str], ...]


_ALL = ("/news", "/notes", "/plain", "/quiet", "/shop")
STORY = (
    StoryStep("Every page is checked for the first time", (), tuple(("check", path, "first") for path in _ALL)),
    StoryStep(
        "A page dates a major change: the concert that it announces is on another day",
        ("/news",),
        (("verdict", "/news", "major"), ("alert", "/news", "major")),
    ),
    StoryStep(
        "A page dates a minor change",
        ("/notes",),
        (("verdict", "/notes", "minor"), ("alert", "/notes", "minor")),
    ),
    StoryStep(
        "A page that declares nothing changes a sentence: minor, inferred from its text",
        ("/plain",),
        (("verdict", "/plain", "minor"), ("alert", "/plain", "minor")),
    ),
    StoryStep(
        "A page fails: it is tried three times, then you are asked what to do",
        ("/shop",),
        (("try", "/shop", "failed"), ("alert", "/shop", "unreachable"), ("question", "/shop", "asked")),
    ),
)
REST = "From here on the pages change every few minutes, until Ctrl-C"


class Audience(Protocol):
    """The reader of the demo: a person or a program."""

    def begin(self, *, folder: Path, pages: int, address: str) -> None:
        """Name the folder and the address of the web pages."""

    def head(self, title: str) -> None:
        """Begin a step of the story."""

    def tell(self, line: DemoLine, step: str) -> None:
        """Print one row."""


class ServiceEnded(TocsinError):
    """The service ended although it was not stopped."""


class StoryStuck(TocsinError):
    """A row of the story did not come in time."""


class DemoService:
    """`tocsin run` in a folder; ends with the block that it is entered for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Process | None = None

    async def __aenter__(self) -> Self:
        """Start it; what it writes goes to a log in the folder."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        with (self._folder / LOG).open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tocsin.cli", "--config", CONFIGURATION, "run"),
                cwd=self._folder,
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C on the terminal reaches the demo alone, which then ends the service.
                start_new_session=True,
            )
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_WITHIN_S):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def address(self) -> str:
        """Wait until its web pages are served; returns their address. Raises ServiceEnded."""
        while (found := self._logged_address()) is None:
            self.check()
            await asyncio.sleep(_POLL_S)
        return found

    async def ended(self) -> None:
        """Wait until it has ended, by itself or otherwise."""
        if self._process is not None:
            await self._process.wait()

    def check(self) -> None:
        """Raise ServiceEnded, with the end of its log, if it does not run any more."""
        if self._process is None or self._process.returncode is None:
            return
        lines = (self._folder / LOG).read_text("utf-8", errors="replace").splitlines()[-_LAST_LINES:]
        said = "\n".join(lines) or "nothing"
        raise ServiceEnded(
            f"the service ended by itself with status {self._process.returncode}; its log ends with:\n{said}"
        )

    def _logged_address(self) -> str | None:
        for line in (self._folder / LOG).read_text("utf-8", errors="replace").splitlines(keepends=True):
            # A line without its end is still being written.
            if LISTENING in line and line.endswith("\n"):
                url: str = json.loads(line)["url"]
                return url
        return None


class Narrator:
    """Turns what is new in a store into lines, each row once; it never writes.

    answer  the command line that answers a question, without its number and the answer
    """

    def __init__(self, store: Store, *, answer: str) -> None:
        self._store, self._answer = store, answer
        self._told: set[tuple[str, str]] = set()
        self._checked: dict[int, Instant | None] = {}
        self._settled = 0

    async def new_lines(self) -> list[DemoLine]:
        """Read the store once; returns the new rows, causes before effects."""
        pages = await self._store.pages(PageFilter(), limit=_MANY)
        checks = sorted(await self._checks(pages), key=lambda line: line.at)
        questions = [
            line
            for question in await self._store.questions(closed=True)
            for line in question_lines(question, answer=self._answer)
        ]
        tries = [line for line in questions if line.row == "try"]
        return list(self._not_told([*tries, *checks, *questions, *await self._alerts()]))

    async def is_settled(self) -> bool:
        """Say whether the channel has accepted every alert."""
        alerts = await self._store.after(0, limit=_MANY)
        return all(delivery[1] == "accepted" for alert in alerts for delivery in alert.deliveries)

    async def _checks(self, pages: Iterable[PageRow]) -> list[DemoLine]:
        lines: list[DemoLine] = []
        for page in pages:
            if self._checked.get(page.id) == page.last.checked_at:
                continue
            # The first check of a page and its verdicts stay in its history when later checks replace its report.
            history = await self._store.history(page.url, limit=_LATEST_STATES)
            if page.id not in self._checked and (first := first_line(page, history)) is not None:
                lines.append(first)
            self._checked[page.id] = page.last.checked_at
            lines += verdict_lines(page.url, history)
            if (line := check_line(page)) is not None:
                lines.append(line)
        return lines

    async def _alerts(self) -> list[DemoLine]:
        alerts = await self._store.after(self._settled, limit=_MANY)
        if alerts:
            self._settled = alerts[-1].position
        return [alert_line(alert) for alert in alerts]

    def _not_told(self, lines: Iterable[DemoLine]) -> Iterator[DemoLine]:
        for line in lines:
            # A page's own row is written anew by each check, and was compared by the time of that.
            if line.row == "check":
                yield line
            elif (line.row, line.row_id) not in self._told:
                self._told.add((line.row, line.row_id))
                yield line


async def play(
    audience: Audience, *, keep: Path | None, endless: bool, every_ms: int, limit_s: float = LIMIT_S
) -> None:
    """Play the story, and go on after it if `endless`; service, site and folder are cleared away in any case.

    keep      the folder that is used and stays; it must be new or empty
    every_ms  how often the service checks a page
    limit_s   how long to wait for the next row of the story; some take twenty seconds on any machine
    Raises StoryStuck, ServiceEnded, UsageError.
    """
    async with AsyncExitStack() as stack:
        folder = _folder(keep, stack)
        await asyncio.to_thread((folder / CONFIGURATION).write_text, SETTINGS, "utf-8")
        url, clock = f"sqlite:{folder / STORE}", SystemClock()
        store = await open_store(url, engine=True)
        try:
            await list_demo_pages(store, clock.now(), every=f"{every_ms}ms", min_gap="500ms")
        finally:
            await store.close()
        service = await stack.enter_async_context(DemoService(folder))
        address = await service.address()
        store = await open_store(url, engine=False, create=False)
        stack.push_async_callback(store.close)
        answer = f"{_program()} --config {shlex.quote(str(folder / CONFIGURATION))} attention answer"
        audience.begin(folder=folder, pages=len(_ALL), address=address)
        await _tell(audience, service, Narrator(store, answer=answer), endless=endless, limit_s=limit_s)


async def _tell(audience: Audience, service: DemoService, narrator: Narrator, *, endless: bool, limit_s: float) -> None:
    missing = {row for step in STORY for row in step.ends}
    left = list(STORY)
    latest: dict[str, str] = {}
    title = ""
    try:
        async with asyncio.timeout(limit_s) as limit:
            while missing or endless or not await narrator.is_settled():
                service.check()
                for line in await narrator.new_lines():
                    row = (line.row, line.path, line.outcome)
                    is_repeated = line.row == "check" and latest.get(line.path) == line.outcome
                    if line.row == "check":
                        latest[line.path] = line.outcome
                    # A page that stays unreachable is printed once, not every two seconds.
                    if is_repeated or line.outcome in _QUIET:
                        continue
                    if (step := _begins(left, line)) is not None:
                        left.remove(step)
                        title = step.title
                        audience.head(title)
                    audience.tell(line, title)
                    if row in missing:
                        missing.remove(row)
                        limit.reschedule(asyncio.get_running_loop().time() + limit_s)
                        if endless and not missing:
                            limit.reschedule(None)
                            title = REST
                            audience.head(title)
                await asyncio.sleep(_POLL_S)
    except TimeoutError as exc:
        rows = ", ".join(f"{row} {outcome!r} of {path}" for row, path, outcome in sorted(missing))
        rows = rows or "the delivery of every alert"
        raise StoryStuck(f"after {limit_s:g} s, in {title!r}, this never came: {rows}") from exc


def _begins(left: list[StoryStep], line: DemoLine) -> StoryStep | None:
    """Find the step that a line begins: the one about its page, or the first one for first checks."""
    if line.outcome == "first":
        return left[0] if left and not left[0].paths else None
    return next((step for step in left if line.path in step.paths), None)


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


def _program() -> str:
    """How this program is called, for commands that the user may copy."""
    name = Path(sys.argv[0]).name
    return "tocsin" if name == "tocsin" else f"{shlex.quote(sys.executable)} -m tocsin.cli"
