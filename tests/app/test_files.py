"""Files are limited: as many requests are made as can be, and what pages need is loaded before they need it."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.origin import Origin, Page
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.app.assembly import files_are_few
from tocsin.app.fetching import most_in_flight
from tocsin.model import NewPage
from tocsin.settings import FetchSettings
from tocsin.spec.html.urls import watch_url

FEW = 64
CONFIGURATION = """\
[instance]
contact = "tests"
[store]
url = "sqlite:tocsin.db"
[pages]
tries = 0
[fetch]
fetchers = 0
[hosts]
delay = "0s"
concurrency = 100
[network]
allow = ["127.0.0.0/8"]
"""
LABELS = ("shift_jis", "euc-kr", "big5", "gb18030", "iso-8859-15", "windows-1251", "macintosh", "ibm866", "koi8-u")
WATCHED_BY_AN_AUDITOR = """
import sys
from tocsin.app.fetching import load_ahead
load_ahead("Europe/Vienna")
opened = []
sys.addaudithook(lambda name, args: opened.append(args[0]) if name == "open" else None)
from tocsin.engine.judging.cadence import _zone
_zone("Europe/Vienna")
from tocsin.spec.html.decoding import decode, encoding_for
from tocsin.spec.infrastructure.urls import encode
import webencodings
for label in sorted(webencodings.LABELS):
    decode(bytes(range(256)), encoding_for(label) or "utf-8")
    encode("\\u4e00\\u00e4", label, lambda letter: "?")
"\\u4e00.example".encode("idna")
print(opened)
"""


@pytest.mark.parametrize(
    ("wanted", "files", "most"),
    [(1000, 1_048_576, 1000), (1000, 1024, 616), (1000, 64, 8), (5, 64, 5), (1000, 20, 1), (1000, -1, 1000)],
)
def test_as_many_requests_are_made_as_files_may_be_opened(wanted: int, files: int, most: int) -> None:
    assert most_in_flight(wanted, resource.RLIM_INFINITY if files < 0 else files) == most


def test_enough_files_are_no_finding() -> None:
    assert files_are_few(FetchSettings(in_flight=1), 1) is None


async def test_what_pages_need_is_loaded_ahead() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WATCHED_BY_AN_AUDITOR, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()

    assert out.decode().strip() == "[]"


async def test_T60_a_check_that_may_open_few_files_receives_every_page_and_blames_none(tmp_path: Path) -> None:
    async with Origin() as origin:
        urls = []
        for number in range(60):
            path = f"/{number}"
            content_type = f"text/html; charset={LABELS[number % len(LABELS)]}"
            origin.pages[path] = Page(b"<title>\xb0\xa1</title><p>\xb0\xa1", headers={"Content-Type": content_type})
            urls.append(origin.url(path))
        (tmp_path / "tocsin.toml").write_text(CONFIGURATION, "utf-8")
        async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store:
            found = [watch_url(url) for url in urls]
            new = [NewPage(url=page.url, given=page.given, host=page.host, shard=page.shard) for page in found]
            await store.add_pages(new, SystemClock().now())

        command = f"ulimit -n {FEW} && exec '{sys.executable}' -m tocsin.cli check --json"
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", command), cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await process.communicate()

    outcomes = Counter(json.loads(line)["outcome"] for line in out.splitlines())
    assert outcomes == {"first": 60}, err.decode()
    assert process.returncode == 0


_LOW = 128
_LIMITS = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))"
_WORK = """
from tocsin.app.executing import execute

async def limits():
    return resource.getrlimit(resource.RLIMIT_NOFILE)

print(execute(limits()))
"""


def _limits_at_work(soft: int, hard: int) -> str:
    program = _LIMITS.format(soft=soft, hard=hard) + _WORK
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_as_many_files_are_opened_as_the_machine_allows() -> None:
    assert _limits_at_work(_LOW, 2 * _LOW) == str((2 * _LOW, 2 * _LOW))


def test_a_limit_that_stands_is_kept() -> None:
    assert _limits_at_work(_LOW, _LOW) == str((_LOW, _LOW))
