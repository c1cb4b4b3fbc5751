"""What people do to a service that runs: lists applied, backups taken, and a restoring that is killed."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing

from tests.journey.running import Home, Service
from tests.origin import Origin, Page

Start = Callable[[], Awaitable[Service]]

KILLED = """
import os, signal, sys
event, of, *sys.argv[1:] = sys.argv[1:]
def hear(told, arguments):
    if told == event and str(arguments[0]).endswith(of):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hear)
from tocsin.cli.__main__ import run
run()
"""
"""The program, which is killed just before it does this to a file of this name."""


async def test_a_list_that_is_applied_beside_the_service_is_checked_by_it(
    home: Home, site: Origin, start: Start
) -> None:
    site.pages["/a"] = Page("<meta name=topper-major content=2026-01-01><title>A</title>")
    await home.watch(site.url("/old"))
    service = await start()
    await home.hears("engine.started")
    (home.folder / "pages.yaml").write_text(f"prune: true\npages:\n- url: {site.url('/a')}\n  group: news\n")

    applied = await home.call("apply", "--yes", "pages.yaml")
    outcome = await home.outcome(site.url("/a"), "first", "unchanged")
    again = await home.call("apply", "--yes", "pages.yaml")

    assert (applied.status, applied.records()[-1]["pages"]) == (0, {"added": 1, "changed": 0, "removed": 1})
    assert outcome in {"first", "unchanged"}
    assert again.records()[-1]["pages"] == {"added": 0, "changed": 0, "removed": 0}
    assert await service.stop() == 0


async def test_a_backup_taken_under_load_is_restored_to_an_identical_export(
    home: Home, site: Origin, start: Start
) -> None:
    pages = [f"/{number}" for number in range(40)]
    for path in pages:
        site.pages[path] = Page(f"<meta name=topper-major content=2026-01-01><title>{path}</title>")
    await home.watch(*(site.url(path) for path in pages))
    service = await start()
    await home.outcome(site.url(pages[-1]), "first", "unchanged")

    backup = await home.call("store", "backup", "--verify", "copy.db")
    beside = await home.call("store", "restore", "--replace", "--yes", "copy.db")
    await service.stop()
    in_copy = await home.call("--store", "sqlite:copy.db", "table", "export")
    restored = await home.call("store", "restore", "--replace", "--yes", "copy.db")
    after = await home.call("table", "export")

    assert (backup.status, backup.records()[0]["pages"]) == (0, len(pages))
    assert (beside.status, restored.status) == (3, 0)
    assert in_copy.out == after.out
    assert len(after.out.splitlines()) > len(pages)


async def test_a_restoring_that_is_killed_leaves_one_whole_store(home: Home) -> None:
    (home.folder / "new.txt").write_text("".join(f"https://new.example/{number}\n" for number in range(3000)))
    (home.folder / "old.txt").write_text("https://old.example/\n")
    await home.call("watch", "import", "new.txt")
    await home.call("store", "backup", "copy.db")
    await home.call("watch", "clear", "--yes")
    await home.call("watch", "import", "old.txt")
    found = []
    # Before the copy is made, before the store that was there has its second name, before the copy has the first one,
    # and before all that is known to be on the disk.
    for event, of in (
        ("sqlite3.connect", ".part"),
        ("os.link", "tocsin.db"),
        ("os.rename", ".part"),
        ("open", str(home.folder.resolve())),
    ):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", KILLED, event, of, "store", "restore", "--replace", "--yes", "copy.db",
            cwd=home.folder, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert await process.wait() == -signal.SIGKILL, event
        with closing(sqlite3.connect(home.folder / "tocsin.db")) as db:
            found.append(db.execute("select count(*) from pages").fetchone()[0])
            assert db.execute("pragma integrity_check").fetchone() == ("ok",)

    assert found == [1, 1, 1, 3000]
