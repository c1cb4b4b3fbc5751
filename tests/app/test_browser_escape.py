"""No way out: a page that tries them all, in a real browser, with canaries on addresses that the policy refuses."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.browsing import START, let, visit_of
from tests.nameserver import NameServer
from tests.origin import Page
from tests.ways_out import REFUSED, WAYS, ways_out
from tocsin.adapters.http.addresses import AddressPolicy, NameCache
from tocsin.adapters.http.egress import EgressBudget, EgressProxy, EgressRefusal
from tocsin.adapters.processes.aside import few_variables, start_in_cell
from tocsin.adapters.processes.cell import UNPRIVILEGED
from tocsin.app.browser import open_browser
from tocsin.errors import FetchError
from tocsin.events import Happening
from tocsin.model import FailureKind

SHELL: Final = shutil.which("chromium-headless-shell")
NEEDS_SHELL = pytest.mark.skipif(SHELL is None, reason="chromium-headless-shell is not installed")
LOCAL = ("127.0.0.1/32",)
# What keeps a browser from asking its makers' hosts at each start; no wall against a page.
QUIET = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-breakpad")
PROXIED = ("--proxy-server=http://127.0.0.1:9080", "--proxy-bypass-list=<-loopback>")
# Canaries of TLS, of a bare connection and of UDP are told no way.
TELLS: Final = {
    "fetch-tls": "tls",
    "websocket-tls": "tls",
    "preconnect": "other",
    "webrtc-stun": "stun",
    "webrtc-turn": "turn",
    "webtransport": "quic",
}
CONTROL: Final = {TELLS.get(way.name, way.name) for way in WAYS if way.control}

# Why a connection is refused.
KNOWN: Final = {
    "is a loopback address",
    "is a link-local address",
    "is this machine's own network",
    "is not allowed",
    "has no address",
    "no request to this host was announced",
}


@pytest.fixture
def profile() -> Iterator[Path]:
    """A folder for the browser, which is not root where the tests run as root."""
    folder = Path("/tmp") / f"tocsin-browser-{os.getpid()}"  # noqa: S108 - pytest's own is closed to other users
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(folder, UNPRIVILEGED, UNPRIVILEGED)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def command(profile: Path, url: str, *flags: str) -> list[str]:
    assert SHELL is not None
    return [SHELL, *QUIET, *flags, f"--user-data-dir={profile}", "--timeout=20000", "--dump-dom", url]


@NEEDS_SHELL
async def test_without_cell_and_proxy_a_page_reaches_the_canaries_by_nearly_every_way(profile: Path) -> None:
    """The control: without it, canaries that are never hit would prove nothing."""
    async with ways_out() as ways:
        ways.write(on_loopback=True)
        who = {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []} if os.geteuid() == 0 else {}
        browser = await asyncio.create_subprocess_exec(
            *command(profile, ways.url, "--no-proxy-server"),
            env={**few_variables(), "HOME": str(profile)},
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            **who,  # type: ignore[arg-type]  # its values are of several types
        )
        try:
            await ways.until(CONTROL)
        finally:
            # Debian's program is a script, which starts the browser as a child.
            os.killpg(browser.pid, signal.SIGKILL)
            await browser.wait()


@NEEDS_SHELL
async def test_in_the_cell_no_way_out_reaches_a_canary_and_each_refusal_has_its_reason(profile: Path) -> None:
    refusals: list[EgressRefusal] = []
    async with ways_out() as ways, NameServer() as names:
        names.names["rebinding.example"] = [REFUSED]
        ways.write(on_loopback=False)
        port = ways.origin.port
        budget = EgressBudget(500, 2**25, 30.0, frozenset((80, 443, port)))
        cache = NameCache(2, servers=[names.address])
        proxy = EgressProxy(cache, AddressPolicy(LOCAL), refusals.append)
        with ExitStack() as stack:
            program = command(profile, ways.url, *PROXIED)
            variables = {**few_variables(), "HOME": str(profile)}
            browser, (listener,) = await start_in_cell(program, variables, may_be_root=False)
            stack.enter_context(listener)
            async with asyncio.TaskGroup() as group:
                serving = group.create_task(proxy.serve(listener, budget))
                assert await browser.wait() == 0
                serving.cancel()
        await cache.close()
        assert ways.done.is_set()

    assert ways.reached == set()
    assert {refusal.host for refusal in refusals} >= {REFUSED, "169.254.169.254", "rebinding.example", "127.0.0.1"}
    assert {_kind(refusal.reason) for refusal in refusals} <= KNOWN


@NEEDS_SHELL
async def test_through_the_worker_no_way_out_reaches_a_canary_and_what_was_refused_is_told() -> None:
    happenings: list[Happening] = []
    async with ways_out() as ways:
        ways.write(on_loopback=False)
        async with open_browser(START, LOCAL, happenings.append) as browser:
            # Pictures and fonts are let out only for a picture: so more ways lead to the proxy.
            visit = visit_of(ways.url, private=False, wants_picture=True, ready="css: #over")
            page = await browser.visit(visit, let)
        assert ways.done.is_set()

    assert ways.reached == set()
    assert (page.status, b"Ways out" in page.body, b"root:" in page.body) == (200, True, False)
    assert {each.name for each in happenings} == {"browser.refused"}
    assert {str(each.values["host"]) for each in happenings} >= {REFUSED, "169.254.169.254", "rebinding.example"}
    assert {_kind(str(each.values["reason"])) for each in happenings} <= KNOWN


@NEEDS_SHELL
async def test_a_main_frame_that_leads_elsewhere_reaches_neither_a_canary_nor_a_file() -> None:
    """By a redirect, by a script, and by a refresh; each in the same browser, after the one before."""
    said: dict[str, str] = {}
    async with ways_out() as ways:
        there = f"http://{REFUSED}:{ways.origin.port}/main"
        for name, target in {"canary": there, "file": "file:///etc/passwd"}.items():
            ways.origin.pages[f"/redirect-{name}"] = Page(status=302, headers={"Location": target})
            ways.origin.pages[f"/refresh-{name}"] = Page(f"<meta http-equiv=refresh content='0; url={target}'>Own")
        for name, target in {"canary": there, "chrome": "chrome://version", "source": f"view-source:{there}"}.items():
            ways.origin.pages[f"/script-{name}"] = Page(f"<script>location = '{target}'</script>Own")
        async with open_browser(START, LOCAL, lambda _: None) as browser:
            for path in [
                path for path in ways.origin.pages if path.startswith(("/redirect-", "/refresh-", "/script-"))
            ]:
                try:
                    page = await browser.visit(visit_of(ways.origin.url(path), private=False), let)
                    said[path] = page.body.decode()
                except FetchError as exc:
                    said[path] = exc.kind

    assert ways.reached == set()
    assert "Chrom" not in "".join(said.values())
    assert "root:" not in "".join(said.values())
    assert {said[f"/{way}-canary"] for way in ("redirect", "script", "refresh")} == {FailureKind.BLOCKED_ADDRESS}


def _kind(reason: str) -> str:
    return next((words for words in KNOWN if words in reason), reason)
