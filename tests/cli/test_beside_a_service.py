from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator

import pytest

from tests.cli.calling import Answer, Installation
from tests.origin import Origin, Page
from tocsin.cli.watch.command import as_first
from tocsin.model import CheckReport


@pytest.fixture
async def origin() -> AsyncIterator[Origin]:
    async with Origin() as site:
        site.pages["/a"] = Page('<!doctype html><title>x</title><meta name="topper-major" content="2026-01-02">')
        yield site


@pytest.fixture
async def service(installation: Installation) -> AsyncIterator[subprocess.Popen[bytes]]:
    """A service on the installation's store, which has begun its work."""
    installation.configure('[http]\nlisten = "127.0.0.1:0"\n')
    process = installation.start("run")
    try:
        await until(process, b"engine.started")
        yield process
    finally:
        # Also one that did not begin is waited for, and its pipes are closed.
        process.terminate()
        await asyncio.to_thread(process.communicate)


async def until(process: subprocess.Popen[bytes], word: bytes) -> bytes:
    """Read the log up to a line with this word; the end of the log is an error, which shows it."""
    assert process.stderr is not None
    seen: list[bytes] = []
    while line := await asyncio.to_thread(process.stderr.readline):
        if word in line:
            return line
        seen.append(line)
    raise AssertionError(b"".join([b"no line has ", word, b":\n", *seen]).decode())


async def call(installation: Installation, *arguments: str, stdin: str | None = None) -> Answer:
    return await asyncio.to_thread(installation.call, *arguments, stdin=stdin)


@pytest.mark.usefixtures("service")
async def test_a_page_is_added_checked_and_shown_beside_a_service(installation: Installation, origin: Origin) -> None:
    # Whether the service finds the page before it is asked to, or then: it is checked once.
    answer = await call(installation, "watch", "add", origin.url("/a"), "--min-gap", "1h")

    (record,) = answer.records
    assert (record["check"]["outcome"], record["check"]["declares"]) == ("first", ["topper-major"])
    assert record["check"]["next_try"] is None  # nothing was put off


@pytest.mark.usefixtures("service")
async def test_a_page_that_is_added_is_told_as_checked_first_however_soon_it_may_be_checked_again(
    installation: Installation, origin: Origin
) -> None:
    # Whether the service finds the page before it is asked to, and so checks it twice, or then.
    answer = await call(installation, "watch", "add", origin.url("/a"))

    (record,) = answer.records
    assert (record["check"]["outcome"], record["check"]["declares"]) == ("first", ["topper-major"])
    assert record["check"]["not_modified"] is False


def test_a_check_that_came_second_is_told_as_the_first_whatever_it_was_answered() -> None:
    second = CheckReport("u", "unchanged", status=304, attempts=1, elapsed_ms=7, not_modified=True, saved_bytes=9)

    told = as_first(second, ("topper-major",))

    assert told == CheckReport("u", "first", rule="T40", basis="declared", declares=("topper-major",))


async def test_what_needs_the_store_alone_names_the_service_that_holds_it(
    installation: Installation, service: subprocess.Popen[bytes]
) -> None:
    table = installation.write("states.txt", "")

    migrate = await call(installation, "store", "migrate")
    take = await call(installation, "table", "import", table)

    assert (migrate.status, take.status) == (3, 3)
    assert f"process {service.pid}" in migrate.err
