"""What a page's steps type, and the session that they get, reach its site and nothing else."""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable
from typing import Final

import httpx
import pytest

from tests.journey.running import CONFIGURATION, PATIENCE_S, Home, Service
from tests.journey.test_secrets import ready
from tests.origin import Asked, Origin, Page

Start = Callable[[], Awaitable[Service]]

SECRETS: Final = {
    "USER": "hunter-of-the-user",
    "PASSWORD": "hunter of+the/password",
    "SESSION": "hunter-of-the-session",
}
# As a form writes them into an address.
SPELLINGS: Final = {
    **SECRETS,
    "PASSWORD as sent": "hunter+of%2Bthe%2Fpassword",
    "PASSWORD in a path": "hunter%20of%2Bthe",
}
FORM: Final = """<!doctype html><title>Log in</title><form method={method} action={action}>
<input id=user name=user><input id=password name=password type=password><button id=go>Log in</button></form>"""
STEPS: Final = ("fill #user USER", "fill #password PASSWORD", "click #go", "wait #news")
SETTINGS: Final = """\
[browser]
deadlines = { ready = "60s", total = "90s" }
[log]
level = "debug"
format = "json"
"""


PATHS: Final = ("/account", "/by-address", "/never")


def news(date: str) -> str:
    return f'<!doctype html><title>News</title><meta name=topper-major content="{date}"><p id=news>News for members'


def put(site: Origin, date: str) -> None:
    """Serve a login by POST, one by GET, which has what was typed in its address, and one that never comes."""

    def account(asked: Asked) -> str:
        is_in = f"session={SECRETS['SESSION']}" in asked.headers.get("cookie", "")
        return news(date) if is_in else FORM.format(method="post", action="/login")

    cookie = {"Set-Cookie": f"session={SECRETS['SESSION']}; Path=/; HttpOnly", "Location": "/account"}
    site.pages["/account"] = Page(account)
    site.pages["/login"] = Page(status=303, headers=cookie)
    site.pages["/by-address"] = Page(
        lambda asked: news(date) if "?" in asked.path else FORM.format(method="get", action="/by-address")
    )
    site.pages["/never"] = Page(FORM.format(method="get", action="/never"))


@pytest.mark.skipif(shutil.which("chromium-headless-shell") is None, reason="chromium-headless-shell is not installed")
async def test_no_secret_of_steps_is_told(home: Home, site: Origin, start: Start) -> None:
    put(site, "2026-01-01")
    pages = 'fetch = "browser"\ntries = 0\nsteps = ' + str(list(STEPS))
    # Seldom enough that the browser is not busy all the time.
    configuration = CONFIGURATION.replace('every = "1300ms"', 'every = "5s"')
    home.configure(configuration.replace("[pages]", f"[pages]\n{pages}") + SETTINGS)
    for path in PATHS:
        typed = [word for name in ("USER", "PASSWORD") for word in ("--secret", f"{name}={SECRETS[name]}")]
        added = await home.call("watch", "add", site.url(path), "--no-check")
        stored = await home.call("watch", "set", site.url(path), *typed)
        assert (added.status, stored.status) == (0, 0), added.err + stored.err
    called = await home.call("token", "add", "admin", "--scope", "admin", "--json")
    token = re.search(r"tcs_[\w-]+", called.out)
    assert token is not None
    service = await start()
    url = await ready(home)
    for path in ("/account", "/by-address"):
        await home.outcome(site.url(path), "first", "unchanged")
    put(site, "2026-01-01 2026-02-02")
    for path in ("/account", "/by-address"):
        await home.alert("changed", site.url(path))
    await home.alert("unreachable", site.url("/never"))

    told: dict[str, str] = {}
    bearer = {"Authorization": f"Bearer {token[0]}"}
    async with httpx.AsyncClient(base_url=url, headers=bearer, timeout=PATIENCE_S) as asked:
        described = (await asked.get("/api/openapi.json")).json()
        gets = [path for path, operations in described["paths"].items() if "get" in operations]
        paths = (*gets, "/", "/changes", "/questions", "/activity", "/pages/{id}", "/metrics")
        for path in {re.sub(r"\{\w+\}", str(number), path) for path in paths for number in range(1, len(PATHS) + 1)}:
            answer = await asked.get(path, headers={"Accept": "*/*" if "/api/" in path else "text/html"})
            told[path] = answer.text + str(answer.headers)
        tried = await asked.post("/api/v1/pages/1/try", json={"settings": {}})
        told["try"] = tried.text
        assert tried.status_code == 200, tried.text
    for words in (
        ("watch", "export", "--format", "csv"),
        ("alerts", "list", "--json"),
        ("attention", "show", "1", "--json"),
        ("check", site.url("/by-address"), "--json"),
    ):
        called = await home.call(*words)
        told[" ".join(words)] = called.out + called.err
    assert await service.stop() == 0
    told["alerts"] = (home.folder / "alerts.jsonl").read_text("utf-8")
    told["log"] = home.log.read_text("utf-8")

    leaks = {(name, where) for name, secret in SPELLINGS.items() for where, text in told.items() if secret in text}
    assert leaks == set()
    # They were typed.
    assert any("hunter+of%2Bthe%2Fpassword" in each.path for each in site.log)
