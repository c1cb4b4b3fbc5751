"""Behind a reverse proxy, below a path of its host: every link, form, redirect and cookie stays below that path."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from tests.contract.desk import alert
from tests.journey.running import PATIENCE_S, free_port, until
from tests.server.rig import Rig
from tests.server.web.visiting import tree
from tocsin.configuration.limits import OWN_PATHS, check_public_url
from tocsin.events import CHANGED
from tocsin.model import NewPage, Scope
from tocsin.server.access.guard import is_public
from tocsin.server.serving import Front, serve
from tocsin.spec.html.urls import watch_url

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
SHOWN = Path(__file__).parents[2] / "docs" / "operating.md"
BROWSER = {"Accept": "text/html"}


class Site(NamedTuple):
    """A service behind a proxy.

    base   below which browsers see it, with a slash at its end
    token  of an administrator
    """

    base: str
    token: str


@asynccontextmanager
async def behind_nginx(rig: Rig, folder: Path, location: str) -> AsyncIterator[Site]:
    """Serve on loopback, with nginx before it."""
    if NGINX is None:
        pytest.skip("no nginx is installed: apt-get install nginx-light")
    bound, port = socket.create_server(("127.0.0.1", 0)), free_port()
    location = location.replace("127.0.0.1:8330", f"127.0.0.1:{bound.getsockname()[1]}")
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}server {{\nlisten 127.0.0.1:{port};\n{location}\n}}\n}}\n"
    )
    token, base = await rig.token(Scope.ADMIN), f"http://127.0.0.1:{port}/tocsin/"
    rig.service.configure(public_url=base, trusted_proxies=("127.0.0.1/32",))
    front, stopping = Front(), rig.app.state.parts.stopping
    front.open(rig.app)
    nginx = await asyncio.create_subprocess_exec(NGINX, "-p", folder, "-c", folder / "nginx.conf")
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve([bound], front, stopping, rig.telemetry))
            await until(lambda: answers(f"{base}healthz"), what="an answer through nginx")
            yield Site(base, token)
            stopping.set()
            await serving
    finally:
        nginx.kill()
        await nginx.wait()


async def answers(url: str) -> bool:
    async with httpx.AsyncClient(timeout=PATIENCE_S) as asked:
        try:
            return (await asked.get(url)).status_code == 200
        except httpx.TransportError:
            return False


def own_addresses(text: str, url: str, names: str = "//@href | //@src | //@action | //@formaction") -> list[str]:
    """List the addresses of the same host that a page names, whole."""
    found = tree(text).xpath(names)
    whole = [urljoin(url, each) for each in found if not each.startswith("#")]
    return [each for each in whole if urlsplit(each).netloc == urlsplit(url).netloc]


async def crawled(browser: httpx.AsyncClient, base: str) -> dict[str, int]:
    """Follow every link of every page; returns what each address answered."""
    waiting, found = [base], dict[str, int]()
    while waiting:
        url = waiting.pop()
        assert url.startswith(base), url
        answer = await browser.get(url, headers=BROWSER, follow_redirects=True)
        found[url] = answer.status_code
        if answer.headers.get("content-type", "").startswith("text/html"):
            addresses = own_addresses(answer.text, str(answer.url))
            assert [each for each in addresses if not each.startswith(base)] == [], url
            linked = set(own_addresses(answer.text, str(answer.url), "//@href | //@src"))
            # Those would receive the page.
            waiting += [each for each in linked - set(found) - set(waiting) if "/extract/" not in each]
    return found


async def fill(rig: Rig) -> None:
    """Let there be a page and an alert of it, so that lists have links."""
    found = watch_url("https://a.example/")
    page = NewPage(url=found.url, given=found.given, host=found.host, shard=found.shard)
    await rig.store.add_pages([page], rig.clock.now())
    draft = alert("a", 1, CHANGED, rig.clock.now())
    draft.event.update(id="a", type=CHANGED, data={"page": {"id": "1", "group": "main"}, "outcome": "major"})
    await rig.store.write_alert(draft)


def location_shown() -> str:
    blocks = re.findall(r"```nginx\n(.*?)```", SHOWN.read_text("utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if "location /tocsin/" in block]
    return str(found)


@pytest.mark.parametrize("keeps", [False, True])
async def test_all_of_it_works_below_a_path_behind_a_real_nginx(rig: Rig, tmp_path: Path, *, keeps: bool) -> None:
    location = location_shown()
    assert "8330/;" in location
    location = location.replace("8330/;", "8330;") if keeps else location
    await fill(rig)
    async with behind_nginx(rig, tmp_path, location) as site, httpx.AsyncClient(timeout=PATIENCE_S) as browser:
        first = await browser.get(site.base, headers=BROWSER)
        form = await browser.get(urljoin(site.base, first.headers["location"]))
        logged_in = await browser.post(
            urljoin(site.base, tree(form.text).xpath("//form/@action")[0]),
            data={"token": site.token, "next": "/changes"},
        )
        found = await crawled(browser, site.base)
        described = (await browser.get(f"{site.base}api/openapi.json")).json()
        feed = await browser.get(f"{site.base}feed.atom")
        async with browser.stream("GET", f"{site.base}events?from=start") as events:
            lines = [line async for line in up_to(events, "data:")]

    assert first.headers["location"].startswith("/tocsin/login")
    assert logged_in.headers["location"] == "/tocsin/changes"
    assert "; Path=/tocsin;" in logged_in.headers["set-cookie"]
    assert len(found) > 20
    assert {url: status for url, status in found.items() if status != 200} == {}
    assert described["servers"] == [{"url": "/tocsin"}]
    assert f"{site.base}feed.atom" in feed.text
    assert lines[-1].startswith("data:")


async def up_to(answer: httpx.Response, start: str) -> AsyncIterator[str]:
    async for line in answer.aiter_lines():
        yield line
        if line.startswith(start):
            return


@pytest.mark.parametrize("path", ["/tocsin/changes", "/changes"])
async def test_a_trusted_proxy_names_the_path_by_a_header(rig: Rig, path: str) -> None:
    rig.service.configure(trusted_proxies=("127.0.0.1/32",))
    headers = BROWSER | {"X-Forwarded-Prefix": "/tocsin/", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
    token = await rig.token(Scope.READ)
    async with rig.asking() as browser:
        asked = await browser.get(path, headers=headers)
        logged_in = await browser.post("/login", data={"token": token}, headers=headers)
        cookie = logged_in.headers["set-cookie"].partition(";")[0]
        shown = await browser.get(path, headers=headers | {"Cookie": cookie})
        bare = await browser.get("/changes", headers=BROWSER | {"Authorization": f"Bearer {token}"})

    assert asked.headers["location"] == "/tocsin/login?next=%2Fchanges"
    # Browsers take `__Host-` with the path / only.
    assert cookie.startswith("__Secure-tocsin=")
    assert shown.status_code == 200
    assert all(urlsplit(each).path.startswith("/tocsin/") for each in own_addresses(shown.text, "http://x/"))
    assert not any(urlsplit(each).path.startswith("/tocsin/") for each in own_addresses(bare.text, "http://x/"))


@pytest.mark.parametrize(
    "prefix",
    [
        "//evil.example",
        "/a/../b",
        "/..",
        '/a"b',
        "/a\r\nX: y",
        "/a b",
        "a",
        "/a//b",
        "/pages",
        "/" + "x" * 300,
        "/é",
        "/a,/b",
    ],
)
async def test_a_path_that_cannot_be_one_is_refused(rig: Rig, prefix: str) -> None:
    rig.service.configure(trusted_proxies=("127.0.0.1/32",))
    async with rig.asking() as asked:
        answer = await asked.get("/healthz", headers=[(b"X-Forwarded-Prefix", prefix.encode())])

    assert (answer.status_code, answer.json()["type"]) == (400, "urn:tocsin:problem:bad-prefix")
    assert check_public_url(f"https://example.org{prefix}") is not None or not prefix.startswith("/")


async def test_a_path_is_believed_from_a_trusted_proxy_only(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking(token) as asked:
        answer = await asked.get("/changes", headers=BROWSER | {"X-Forwarded-Prefix": "/evil"})

    assert "/evil" not in answer.text


def test_no_path_of_the_service_can_be_taken_for_a_prefix(rig: Rig) -> None:
    first = {str(getattr(route, "path", "/")).split("/")[1].partition("{")[0] for route in all_routes(rig)}

    assert first - {""} == OWN_PATHS
    assert is_public("/static/x")


def all_routes(rig: Rig) -> list[object]:
    return list(iter_route_contexts(rig.app.routes))
