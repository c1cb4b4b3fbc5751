"""No secret reaches logs, pages, events, feeds or metrics.

Counterparts: CVE-2023-22481 (FreshRSS, API passwords written to logs), miniflux 2.3.3 (tokens in logs).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import httpx

from tests.journey.running import CONFIGURATION, PATIENCE_S, Home, Service, until
from tests.origin import Origin, Page
from tests.server.streams.reader import reading

Start = Callable[[], Awaitable[Service]]

SIGNING = "whsec_c2lnbmluZy1zZWNyZXQtb2YtdGhlLXdlYmhvb2s="
SECRETS = {
    "url": "hunter-of-the-url",
    "auth": "hunter-of-auth",
    "header": "hunter-of-the-header",
    "cookie": "hunter-of-the-cookie",
    "proxy": "hunter-of-the-proxy",
    "header of all": "hunter-of-all-pages",
    "channel url": "hunter-of-the-receiver",
    "channel query": "hunter-of-the-query",
    "channel header": "hunter-of-its-header",
    "channel key": SIGNING,
    "wrong token": "tcs_hunter-of-the-wrong-token",
    "token in url": "tcs_hunter-of-the-url",
}
SETTINGS = f"""\
[channels.hook]
type = "webhook"
url = "http://hook:{SECRETS["channel url"]}@127.0.0.1:9/hook?key={SECRETS["channel query"]}"
secret = "{SIGNING}"
headers = {{ X-Receiver = "{SECRETS["channel header"]}" }}
[log]
level = "debug"
format = "json"
"""
FOR_ALL = f"headers = {{ X-All = '{SECRETS['header of all']}' }}"
PAGES = ("/", "/changes", "/questions", "/activity", "/settings", "/pages/1", "/pages/2", "/pages/3", "/no-such-page")
ANSWERS = ("/metrics", "/feed.atom", "/pages/1/feed.atom", "/healthz", "/readyz", "/api/openapi.json")


async def watched(home: Home, site: Origin) -> None:
    """Watch pages with every kind of secret; one cannot be received."""
    site.pages["/a"] = Page('<meta name=topper-major content="2026-01-01">')
    host = site.url("/a").removeprefix("http://").removesuffix("/a")
    of = SECRETS
    for arguments in (
        [f"http://me:{of['url']}@{host}/a"],
        [f"http://{host}/b", "--auth", f"me:{of['auth']}", "--header", f"X-Key: {of['header']}"],
        [f"http://{host}/c", "--cookie", f"sid={of['cookie']}", "--proxy", f"http://me:{of['proxy']}@127.0.0.1:9"],
    ):
        called = await home.call("watch", "add", "--no-check", *arguments)
        assert called.status == 0, called.err


async def ready(home: Home) -> str:
    """Wait until everything is served; returns the address."""
    url = str((await home.hears("http.listening"))["url"])

    async def is_ready() -> bool:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked:
            return (await asked.get("/readyz")).status_code == 200

    await until(is_ready, what="a service that is ready")
    return url


async def test_no_secret_is_told_to_anybody(home: Home, site: Origin, start: Start) -> None:
    home.configure(CONFIGURATION.replace("[pages]", f"[pages]\n{FOR_ALL}") + SETTINGS)
    await watched(home, site)
    called = await home.call("token", "add", "admin", "--scope", "admin", "--json")
    token = re.search(r"tcs_[\w-]+", called.out)
    assert token is not None
    secrets = SECRETS | {"token": token[0]}
    service = await start()
    url = await ready(home)
    await home.alert("unreachable")
    await home.outcome(site.url("/a"), "first", "unchanged")
    site.pages["/a"] = Page('<meta name=topper-major content="2026-01-01 2026-02-02">')
    await home.alert("changed")
    await home.hears("channel.failed")

    told: dict[str, str] = {}
    bearer = {"Authorization": f"Bearer {token[0]}"}
    async with httpx.AsyncClient(base_url=url, headers=bearer, timeout=PATIENCE_S) as asked:
        await asked.get("/", headers={"Authorization": f"Bearer {SECRETS['wrong token']}"})
        await asked.get("/", auth=("anybody", SECRETS["wrong token"]))
        refused = await asked.get("/feed.atom", params={"token": SECRETS["token in url"]})
        assert refused.status_code == 400
        described = (await asked.get("/api/openapi.json")).json()
        gets = [path for path, operations in described["paths"].items() if "get" in operations and "{" not in path]
        for path in (*PAGES, *ANSWERS, *gets):
            answer = await asked.get(path, headers={"Accept": "text/html" if path in PAGES else "*/*"})
            # Whoever asks about readiness is told so where the store took its time.
            assert answer.status_code < 500 or path == "/readyz", path
            told[path] = answer.text + str(answer.headers)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as browser:
        login = await browser.post("/login", data={"token": token[0]}, headers={"Origin": url.rstrip("/")})
        session = login.cookies.get("tocsin")
        assert session, login.text
        secrets["session"] = session
        told["after the login"] = (await browser.get("/settings", headers={"Accept": "text/html"})).text
        # Every path of a page's own, too.
        for page_id in (1, 2, 3):
            answer = await browser.get(f"/api/v1/pages/{page_id}")
            assert answer.status_code == 200
            told[f"page {page_id}"] = answer.text
    address = (httpx.URL(url).host, httpx.URL(url).port or 0)
    async with reading(address, "?from=start", token=token[0]) as reader:
        told["events"] = " ".join(event.data for event in await reader.events(2))
    assert await service.stop() == 0
    told["alerts"] = (home.folder / "alerts.jsonl").read_text("utf-8")
    told["log"] = home.log.read_text("utf-8")

    leaks = {(what, where) for what, secret in secrets.items() for where, text in told.items() if secret in text}
    assert leaks == set()
    about_pages = [line for line in home.said() if line["event"].startswith("page.")]
    assert {"page.major", "page.rendered", "page.unreachable"} <= {line["event"] for line in about_pages}
    assert {line.get("page_id") for line in about_pages} <= {1, 2, 3}


async def test_every_line_about_a_request_bears_its_id(home: Home, start: Start) -> None:
    home.configure(f'{CONFIGURATION}[log]\nlevel = "debug"\n')
    service = await start()
    url = await ready(home)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked:
        read = await asked.get("/changes?words=private", headers={"Accept": "text/html"})
        written = await asked.post(
            "/api/v1/pages", json={"url": "https://example.org/"}, headers={"Origin": url.rstrip("/")}
        )
    assert await service.stop() == 0

    lines = {line["request_id"]: line for line in home.said() if line["event"] == "http.answered"}
    assert (lines[read.headers["x-request-id"]]["path"], lines[read.headers["x-request-id"]]["level"]) == (
        "/changes",
        "debug",
    )
    assert lines[written.headers["x-request-id"]]["level"] == "info"
    assert "private" not in home.log.read_text("utf-8")
