"""The processes of the browser: how they start and end, and what is left of a page whose process is killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop

from tests.browsing import CHROMIUM, descendants, end_of, let, start_of, visit_of
from tests.origin import Origin, Page
from tocsin.adapters.processes.starting import environment
from tocsin.app.browser import _BrowserProcesses, _unknown, open_browser
from tocsin.app.browser_egress import PageTraffic
from tocsin.errors import BrowserLost, FetchFailed, ProcessError
from tocsin.model import FailureKind

NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="chromium-headless-shell is not installed")
ALLOWED = ("127.0.0.1/32",)
GOOD = Page("<p>good</p>")


class HangingSite:
    """A site with a page that waits for a script, and one that does not; `asked` is set once it waits."""

    def __init__(self, origin: Origin) -> None:
        self.asked, self.answers = asyncio.Event(), asyncio.Event()
        origin.pages["/good"] = GOOD
        origin.pages["/hangs"] = Page("<script src=/s.js></script>")
        origin.pages["/s.js"] = Page("", wait=self._never)
        self.hangs, self.good = origin.url("/hangs"), origin.url("/good")

    async def _never(self) -> None:
        self.asked.set()
        await self.answers.wait()


def kill(what: str) -> None:
    for pid in descendants(what):
        os.kill(pid, signal.SIGKILL)


@NEEDS_CHROMIUM
async def test_a_page_whose_process_is_killed_has_crashed_and_the_next_one_is_received() -> None:
    async with Origin() as origin, open_browser(start_of(slots=1), ALLOWED, lambda _: None) as browser:
        for what in ("--tocsin-slot", "--type=renderer", "run-driver", "browser_worker", "warden", "browser_egress"):
            site = HangingSite(origin)
            async with asyncio.TaskGroup() as group:
                visit = group.create_task(_kind(browser.visit(visit_of(site.hangs), let)))
                await site.asked.wait()
                before = descendants()
                kill(what)
                assert await visit == FailureKind.CRASHED, what
            after = await browser.visit(visit_of(site.good), let)
            site.answers.set()

            assert b"<p>good</p>" in after.body
            if what in {"--tocsin-slot", "run-driver", "browser_worker", "warden", "browser_egress"}:
                assert not {pid for pid in before if Path(f"/proc/{pid}").exists()} & set(descendants("--tocsin-slot"))


async def _kind(visit: Any) -> str:
    try:
        await visit
    except FetchFailed as exc:
        return exc.kind
    return ""


# What ends, by which signal, and which of the pages 1 and 2 in hand may have ended it.
ENDS = [
    ("browser_worker", signal.SIGABRT, [1, 2]),
    ("browser_egress", signal.SIGABRT, [1, 2]),
    ("browser_worker", signal.SIGKILL, []),
    ("browser_egress", signal.SIGKILL, []),
]


@NEEDS_CHROMIUM
@pytest.mark.parametrize(("what", "by", "suspects"), ENDS)
async def test_where_worker_or_egress_end_by_themselves_all_pages_in_hand_are_suspects_and_where_they_are_killed_none(
    what: str, by: signal.Signals, suspects: list[int]
) -> None:
    async with Origin() as origin, open_browser(start_of(slots=2), ALLOWED, lambda _: None) as browser:
        site = HangingSite(origin)
        async with asyncio.TaskGroup() as group:
            visits = []
            for page_id in (1, 2):
                visits.append(group.create_task(_lost(browser.visit(visit_of(site.hangs, page_id=page_id), let))))
                await site.asked.wait()
                site.asked.clear()
            for pid in descendants(what):
                os.kill(pid, by)
        site.answers.set()
        one, other = [visit.result() for visit in visits]

    assert one == suspects
    assert other is one


async def _lost(visit: Any) -> Any:
    with pytest.raises(BrowserLost) as caught:
        await visit
    return caught.value.suspects


@NEEDS_CHROMIUM
async def test_a_visit_that_is_cancelled_frees_its_slot() -> None:
    async with Origin() as origin, open_browser(start_of(slots=1), ALLOWED, lambda _: None) as browser:
        site = HangingSite(origin)
        async with asyncio.TaskGroup() as group:
            hanging = group.create_task(browser.visit(visit_of(site.hangs), let))
            await site.asked.wait()
            hanging.cancel()
            page = await browser.visit(visit_of(site.good), let)
        site.answers.set()

    assert b"<p>good</p>" in page.body


@NEEDS_CHROMIUM
def test_a_page_in_hand_when_the_browser_is_closed_has_crashed() -> None:
    """On the loop of a service, where a stream that was closed cannot be written to."""

    async def close_amid_a_page() -> str:
        async with Origin() as origin, open_browser(start_of(slots=1), ALLOWED, lambda _: None) as browser:
            site = HangingSite(origin)
            async with asyncio.TaskGroup() as group:
                visit = group.create_task(_kind(browser.visit(visit_of(site.hangs), let)))
                await site.asked.wait()
                await browser.close()
            site.answers.set()
            return visit.result()

    assert uvloop.run(close_amid_a_page()) == FailureKind.CRASHED


@NEEDS_CHROMIUM
@pytest.mark.parametrize("limits", [{"recycle_pages": 2}, {"recycle_s": 0.0}])
async def test_a_slot_gets_a_new_browser_after_its_share_of_pages_or_time(limits: dict[str, Any]) -> None:
    used = []
    async with Origin() as origin, open_browser(start_of(slots=1, **limits), ALLOWED, lambda _: None) as browser:
        site = HangingSite(origin)

        async def admit(_url: str) -> None:
            used.append(descendants("--tocsin-slot"))

        origin.pages["/leads"] = Page(status=302, headers={"Location": "/good"})
        for _ in range(4):
            await browser.visit(visit_of(origin.url("/leads")), admit)
        assert site.good

    each = 2 if "recycle_pages" in limits else 1
    assert [used.index(found) for found in used] == [number // each * each for number in range(4)]


@NEEDS_CHROMIUM
async def test_a_worker_that_cannot_start_a_browser_is_replaced() -> None:
    """As where what cleans temporary files has removed its folder."""
    async with (
        Origin() as origin,
        open_browser(start_of(slots=1, recycle_pages=1), ALLOWED, lambda _: None) as browser,
    ):
        site = HangingSite(origin)
        await browser.visit(visit_of(site.good), let)
        worker = descendants("browser_worker")[-1]
        shutil.rmtree(temporary_folder_of(worker))

        with pytest.raises(ProcessError, match="no browser starts"):
            await browser.visit(visit_of(site.good), let)
        page = await browser.visit(visit_of(site.good), let)

    assert b"<p>good</p>" in page.body


def temporary_folder_of(pid: int) -> str:
    """Read a process's folder for temporary files out of its environment."""
    variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next(each.removeprefix(b"TMPDIR=").decode() for each in variables if each.startswith(b"TMPDIR="))


@NEEDS_CHROMIUM
async def test_processes_start_with_the_first_page_and_end_after_a_rest_and_at_the_close() -> None:
    async with Origin() as origin:
        site = HangingSite(origin)
        async with open_browser(start_of(slots=1), ALLOWED, lambda _: None, idle_s=0.0) as browser:
            before = descendants()
            await browser.visit(visit_of(site.good), let)
            rested = [pid for pid in descendants() if pid not in before]
            for pid in rested:
                await asyncio.to_thread(end_of, pid)
            await browser.visit(visit_of(site.good), let)
            started = [pid for pid in descendants() if pid not in before]

        for pid in started:
            await asyncio.to_thread(end_of, pid)


@NEEDS_CHROMIUM
@pytest.mark.parametrize("what", ["engine", "worker"])
def test_nothing_is_left_of_a_browser_whose_engine_or_worker_is_killed_amid_a_page(what: str) -> None:
    code = """
import asyncio, sys
from tests.browsing import descendants, let, start_of, visit_of
from tests.origin import Origin, Page
from tocsin.app.browser import _BrowserProcesses, open_browser
from tocsin.app.browser_egress import PageTraffic

async def main():
    never = asyncio.Event()
    async with Origin() as origin, open_browser(start_of(slots=1), ("127.0.0.1/32",), lambda _: None) as browser:
        async def tell():
            print(*descendants("browser_worker"), *descendants(), flush=True)
            await never.wait()
        origin.pages["/"] = Page("<script src=/s.js></script><script>for (;;);</script>")
        origin.pages["/s.js"] = Page("", wait=tell)
        await browser.visit(visit_of(origin.url("/")), let)

asyncio.run(main())
"""
    root = Path(__file__).parents[2]
    variables = environment() | {"PYTHONPATH": f"{root}{os.pathsep}{environment()['PYTHONPATH']}"}
    with subprocess.Popen([sys.executable, "-c", code], env=variables, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        below = [int(pid) for pid in engine.stdout.readline().split()]
        engine.kill() if what == "engine" else os.kill(below[0], signal.SIGKILL)
        for pid in below:
            end_of(pid)
        engine.kill()

    assert len(below) > 5


async def test_a_missing_browser_is_named_with_the_mend() -> None:
    async with open_browser(start_of(path="no-such-browser"), (), lambda _: None) as browser:
        with pytest.raises(ProcessError, match=r"no-such-browser is not installed; .*browser\.path"):
            await browser.visit(visit_of("http://127.0.0.1:1/"), let)


async def test_a_file_that_is_no_program_is_named_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "chromium").write_text("#!/bin/sh\n")
    async with open_browser(start_of(path=f"{tmp_path}/chromium"), (), lambda _: None) as browser:
        with pytest.raises(ProcessError, match=r"chromium cannot be executed; .*browser\.path, or: chmod \+x /"):
            await browser.visit(visit_of("http://127.0.0.1:1/"), let)


async def test_a_browser_that_does_not_start_is_named_with_the_reason(tmp_path: Path) -> None:
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    async with open_browser(start_of(path=str(program)), (), lambda _: None) as browser:
        with pytest.raises(ProcessError, match="no browser starts"):
            await browser.visit(visit_of("http://127.0.0.1:1/"), let)


@NEEDS_CHROMIUM
async def test_a_worker_elsewhere_serves_one_engine_after_the_other_over_its_socket(tmp_path: Path) -> None:
    door = tmp_path / "render.sock"
    program = (sys.executable, "-m", "tocsin.cli", "browser")
    variables = environment() | {"TOCSIN_BROWSER__SOCKET": f"unix:{door}"}
    pipe = asyncio.subprocess.PIPE
    serving = await asyncio.create_subprocess_exec(*program, env=variables, cwd=tmp_path, stdout=pipe)
    assert serving.stdout is not None
    said = await serving.stdout.readline()
    bodies = []
    async with Origin() as origin:
        site = HangingSite(origin)
        for _ in range(2):
            async with open_browser(start_of(slots=2), ALLOWED, lambda _: None, address=f"unix:{door}") as browser:
                bodies.append((await browser.visit(visit_of(site.good), let)).body)
                running = descendants("browser_worker")
            # The worker ends with its connection.
            for pid in running:
                await asyncio.to_thread(end_of, pid)
    serving.terminate()
    await serving.wait()

    assert all(b"<p>good</p>" in body for body in bodies)
    assert len(bodies) == 2
    assert said.decode() == f"a browser waits at unix:{door}\n"


async def test_a_socket_without_a_worker_is_named_with_the_mend(tmp_path: Path) -> None:
    async with open_browser(start_of(), (), lambda _: None, address=f"unix:{tmp_path}/none.sock") as browser:
        with pytest.raises(ProcessError, match=r"none\.sock: No such file.*; start `tocsin browser`"):
            await browser.visit(visit_of("http://127.0.0.1:1/"), let)


class DyingProcesses:
    """An egress process during whose answer the worker ends, and the stream to that worker."""

    def __init__(self) -> None:
        self.processes = _BrowserProcesses(self, self, lambda: None, _unknown, lambda _: None)  # type: ignore[arg-type]  # what it uses of them

    @asynccontextmanager
    async def page(self, *_: object) -> AsyncIterator[Any]:
        self.processes.end("the browser's worker ended")
        yield SimpleNamespace(traffic=PageTraffic())

    async def send(self, _: object) -> None:
        """Lose it, as a closed stream does."""

    def kill(self) -> None:
        """Nothing is left to be ended."""


async def test_a_page_that_is_sent_while_the_worker_ends_has_crashed() -> None:
    dying = DyingProcesses()

    with pytest.raises(FetchFailed, match="the browser's worker ended") as failure:
        await dying.processes.visit(0, visit_of("http://app.example/"), let)

    assert failure.value.kind == FailureKind.CRASHED
    await dying.processes.rest()
