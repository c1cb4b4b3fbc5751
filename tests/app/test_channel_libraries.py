"""A service imports the library of a channel only where such a channel is configured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LIBRARIES = {"aiohttp", "aiomqtt", "aiormq", "aiosmtplib", "apprise", "jinja2", "nats", "pamqp", "paho", "redis"}
# A service without its web pages, until it would begin to check pages.
SERVICE = """
import asyncio, sys
from pathlib import Path
from tocsin.app.channels import OpenChannels
from tocsin.configuration import load
import tocsin.app.service

async def open_all():
    async with OpenChannels(load(environ={}, cwd=Path(sys.argv[1])).settings):
        print(*sorted({name.partition(".")[0] for name in sys.modules}))

asyncio.run(open_all())
"""
SECTIONS = {
    "nothing": "",
    "file": 'type = "file"\npath = "alerts.jsonl"',
    "nats": 'type = "nats"\nurl = "nats://127.0.0.1:1"',
    "redis": 'type = "redis"\nurl = "redis://127.0.0.1:1"',
    "mqtt": 'type = "mqtt"\nurl = "mqtt://127.0.0.1:1"',
    "mail": 'type = "mail"\nhost = "127.0.0.1"\nsender = "t@example.org"\nto = ["d@example.org"]',
    "amqp": 'type = "amqp"\nurl = "amqp://127.0.0.1:1"',
}


@pytest.mark.parametrize("name", SECTIONS)
def test_no_library_of_another_channel_is_imported(tmp_path: Path, name: str) -> None:
    section = f"[channels.{name}]\n{SECTIONS[name]}\n" if SECTIONS[name] else ""
    (tmp_path / "tocsin.toml").write_text(section)

    told = subprocess.run(
        [sys.executable, "-c", SERVICE, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )

    # A channel connects, and imports its library, when it is first given an alert.
    assert set(told.stdout.split()) & (LIBRARIES - {"aiohttp"}) == set()
