"""A stop that something holds up ends all the same."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

HELD = """
import asyncio, os, signal, threading
from tocsin.adapters.telemetry import LogTelemetry
from tocsin.app.ending import StopSignal
from tocsin.app.executing import execute
from tocsin.settings import LogSettings

async def run():
    ending = StopSignal(LogTelemetry(LogSettings(format="json")), 0.1)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.stop)
    os.kill(os.getpid(), signal.SIGTERM)
    await ending.stopping.wait()
    {held}

async def held(event):
    task = asyncio.create_task(asyncio.to_thread(event.wait), name="held")
    await task

execute(run())
"""


def ended(held: str) -> tuple[int, dict[str, object]]:
    """Run a program that is told to stop, and then does this; returns its status and the last line of its log."""
    program = textwrap.dedent(HELD).replace("{held}", held)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)
    return done.returncode, json.loads(done.stderr.splitlines()[-1])


def test_a_stop_that_a_task_holds_up_ends_and_the_log_names_the_task() -> None:
    status, said = ended("await held(threading.Event())")

    assert status == 1
    assert said["event"] == "service.held"
    assert "held" in said["tasks"]  # type: ignore[operator]  # a list of names


def test_a_stop_that_a_thread_holds_up_after_the_loop_has_ended_ends() -> None:
    status, said = ended('threading.Thread(target=threading.Event().wait, name="endless").start()')

    assert status == 1
    assert "endless" in said["threads"]  # type: ignore[operator]  # a list of names
