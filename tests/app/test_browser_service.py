"""Pages that scripts make, watched with a real browser: each change has one verdict and one alert, whatever dies."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.app.crew import Crew
from tests.browsing import CHROMIUM, descendants
from tests.origin import Origin, Page
from tocsin.settings import BrowserDeadlines, BrowserSettings, FetchSettings, HostSettings, PageSettings

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium-headless-shell is not installed")

SHELL = """<!doctype html><title>App</title><div id=root></div><script>
fetch("/data" + location.pathname).then(answer => answer.text()).then(text => {
  const date = document.createElement("meta");
  date.name = "topper-major"; date.content = text;
  document.head.append(date);
  document.getElementById("root").textContent = "Since " + text + " the harbour has been open.";
})
</script>"""
PAGES = PageSettings(min_gap=timedelta(0), tries=4, fetch="browser")
# Machines of tests are slow and busy.
BROWSER = BrowserSettings(deadlines=BrowserDeadlines(ready=timedelta(seconds=60), total=timedelta(seconds=90)))
HOSTS = HostSettings(concurrency=4, delay=timedelta(0))


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        yield origin


async def test_T70_kills_of_browser_worker_and_egress_leave_one_verdict_and_one_alert_for_each_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Origin
) -> None:
    names = [f"/{number}" for number in range(4)]
    for name in names:
        site.pages[name], site.pages[f"/data{name}"] = Page(SHELL), Page("2026-01-01", content_type="text/plain")
    sections = {"pages": PAGES, "browser": BROWSER, "hosts": HOSTS, "fetch": FetchSettings(fetchers=1)}
    async with Crew.at(tmp_path, monkeypatch, *map(site.url, names), **sections) as crew:
        crew.is_browser_real = True
        first = await crew.check()
        for name in names:
            site.pages[f"/data{name}"] = Page("2026-01-01 2026-02-02", content_type="text/plain")
        victims = ["--tocsin-slot", "browser_worker", "browser_egress"]

        def kill() -> None:
            if victims:
                for pid in descendants(victims.pop()):
                    os.kill(pid, signal.SIGKILL)

        crew.on_report = kill
        second = await crew.check()
        alerts = await crew.store.alerts(limit=100)

    assert victims == []
    assert {report.outcome for report in first.values()} == {"first"}
    assert {report.outcome for report in second.values()} == {"major"}
    told = Counter(alert.event["data"]["page"]["url"] for alert in alerts)
    assert told == dict.fromkeys(map(site.url, names), 1)
    assert {alert.event["data"]["rendering"]["kind"] for alert in alerts} == {"browser"}
    assert not descendants("--tocsin-slot")


async def test_without_the_browser_s_program_pages_are_held_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Origin
) -> None:
    site.pages["/"] = Page(SHELL)
    sections = {"pages": PAGES, "browser": BrowserSettings(path="no-such-browser")}
    async with Crew.at(tmp_path, monkeypatch, site.url("/"), **sections) as crew:
        crew.is_browser_real = True
        report = (await crew.check())[""]

    assert report.outcome == "deferred"
    assert report.error is not None
    assert "no-such-browser is not installed; install it" in report.error[1]
