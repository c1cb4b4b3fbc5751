"""The service served over HTTP, as a process of its own: access, streams, its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.journey.running import CONFIGURATION, PATIENCE_S, Called, Home, Service, free_port, until
from tests.origin import Asked, Origin, Page
from tests.server.streams.reader import Reader, reading

Start = Callable[[], Awaitable[Service]]
Address = tuple[str, int]


EVERYWHERE = CONFIGURATION.replace('listen = "127.0.0.1:0"', 'listen = "0.0.0.0:0"')


async def address(home: Home) -> str:
    return str((await home.hears("http.listening"))["url"])


async def ready(url: str) -> dict[str, Any]:
    async def probe() -> dict[str, Any] | None:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as asked:
            answer = await asked.get(f"{url}readyz")
        return answer.json() if answer.status_code == 200 else None

    return await until(probe, what="a service that is ready")


async def first_token(home: Home) -> str:
    async def probe() -> str | None:
        # What is being written at this moment has no end yet.
        lines = home.log.read_text("utf-8").splitlines(keepends=True)
        token = next((line for line in lines if line.startswith("token: ") and line.endswith("\n")), None)
        return token and token.removeprefix("token: ").strip()

    return await until(probe, what="the first token")


async def test_the_service_answers_over_http_and_SIGTERM_ends_streams_and_slow_requests_with_0(
    home: Home, site: Origin, start: Start
) -> None:
    never = asyncio.Event()
    site.pages["/slow"] = Page(wait=never.wait)
    await home.watch(site.url("/slow"))
    service = await start()
    url = await address(home)
    await ready(url)

    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked, asked.stream("GET", "/events") as events:
        _, slow = await asyncio.open_connection("127.0.0.1", httpx.URL(url).port)
        # A request whose body never comes.
        slow.write(b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n")
        await slow.drain()

        assert events.status_code == 200
        assert await service.stop() == 0
        slow.close()
    never.set()


async def test_a_crash_in_a_page_leaves_checks_and_other_requests_alone(home: Home, site: Origin, start: Start) -> None:
    site.pages["/a"] = Page("<h1>A</h1>")
    await home.watch(site.url("/a"))
    service = await start()
    url = await address(home)
    await ready(url)
    before = site.asked("/a")

    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked:
        # What no route can make sense of.
        await asked.get("/api/v1/pages/999999999999999999999999999")
        await asked.get("/%00%ff?cursor=%00", headers={"Accept": "text/html"})

        async def is_asked() -> bool:
            return len(site.asked("/a")) > len(before)

        await until(is_asked, what="another check")
        assert (await asked.get("/healthz")).status_code == 200
    assert await service.stop() == 0


async def test_a_port_in_use_ends_the_start_with_2_and_the_mend(home: Home, start: Start) -> None:
    service = await start()
    port = httpx.URL(await address(home)).port
    (home.folder / "other").mkdir()
    other = Home(home.folder / "other")
    other.configure(CONFIGURATION.replace("127.0.0.1:0", f"127.0.0.1:{port}"))

    called = await other.call("run")

    assert called.status == 2
    assert f"127.0.0.1:{port}" in called.err
    assert "another Tocsin" in called.err
    assert not (other.folder / "tocsin.db").exists()
    assert await service.stop() == 0


async def test_without_a_token_nobody_from_elsewhere_is_let_in(home: Home, start: Start) -> None:
    home.configure(EVERYWHERE)
    service = await start()
    url = await address(home)
    told = await home.hears("http.open")
    await ready(url)

    assert url.startswith("http://127.0.0.1:")
    assert told["instead_of"] == "0.0.0.0:0"
    assert "tocsin token add" in told["mend"]
    assert await service.stop() == 0


async def test_declared_tokens_are_taken_at_the_start_and_on_SIGHUP_and_none_is_printed(
    home: Home, start: Start
) -> None:
    one, two = "6f0c2f0d5a6e4b7f8e4c1d0b9a3f7e52", "9b1d7c3e2f4a5068b7c6d5e4f3a2910c"
    home.configure(f'{EVERYWHERE}first_token = true\ntokens_file = "tokens"\n')
    (home.folder / "tokens").write_text(f"{one}\n")
    service = await start()
    url = await address(home)
    await ready(url)

    async def answers() -> list[int]:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked:
            bearers = [{"Authorization": f"Bearer {token}"} for token in (one, two)]
            return [(await asked.get("/api/v1/audit", headers=headers)).status_code for headers in ({}, *bearers)]

    before = await answers()
    (home.folder / "tokens").write_text(f"me admin {two}\nops read tooshort\n")
    service.tell(signal.SIGHUP)
    refused = await home.hears("access.unread")
    kept = await answers()
    (home.folder / "tokens").write_text(f"me admin {two}\n")
    service.tell(signal.SIGHUP)

    async def is_revoked() -> list[int] | None:
        found = await answers()
        return found if found[1] == 401 else None

    after = await until(is_revoked, what="another token")

    assert (before, kept, after) == ([401, 200, 401], [401, 200, 401], [401, 401, 200])
    assert "line 2: the token has 8 characters" in refused["error"]
    assert await service.stop() == 0
    assert "token: " not in home.log.read_text("utf-8")
    assert all(secret not in home.log.read_text("utf-8") for secret in (one, two, "tooshort"))
    assert all(one.encode() not in path.read_bytes() for path in home.folder.glob("tocsin.db*"))


async def test_the_first_start_makes_a_token_shows_it_once_and_keeps_only_its_digest(home: Home, start: Start) -> None:
    home.configure(f"{EVERYWHERE}first_token = true\n")
    service = await start()
    token = await first_token(home)
    url = await address(home)
    await ready(url)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked:
        without = await asked.get("/api/openapi.json")
        allowed = await asked.get("/api/openapi.json", headers={"Authorization": f"Bearer {token}"})
    assert await service.stop() == 0

    again = await start()
    await until_started_twice(home)
    assert await again.stop() == 0

    assert (without.status_code, allowed.status_code) == (401, 200)
    assert home.log.read_text("utf-8").count(token) == 1
    assert home.log.read_text("utf-8").count("token: ") == 1
    assert all(token.encode() not in path.read_bytes() for path in home.folder.glob("tocsin.db*"))


async def until_started_twice(home: Home) -> None:
    async def probe() -> bool:
        return [line["event"] for line in home.said()].count("engine.started") == 2

    await until(probe, what="a second start")


async def test_a_token_made_beside_the_running_service_closes_it(home: Home, start: Start) -> None:
    service = await start()
    url = await address(home)
    await ready(url)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked:
        before = await asked.get("/api/openapi.json")
        made = await home.call("token", "add", "ops", "--scope", "admin", "--json")
        token = json.loads(made.out)["token"]
        closed = await asked.get("/api/openapi.json")
        let_in = await asked.get("/api/openapi.json", headers={"Authorization": f"Bearer {token}"})
        await home.call("token", "revoke", "ops")
        revoked = await asked.get("/api/openapi.json", headers={"Authorization": f"Bearer {token}"})

    statuses = [answer.status_code for answer in (before, closed, let_in, revoked)]
    assert statuses == [200, 401, 200, 401]
    assert await service.stop() == 0


async def test_the_health_check_says_whether_the_service_does_its_work(home: Home, start: Start) -> None:
    found = await home.call("healthcheck")
    assert found.status == 2  # port 0 is known to nobody

    port = free_port()
    home.configure(CONFIGURATION.replace("127.0.0.1:0", f"127.0.0.1:{port}"))
    down = await home.call("healthcheck")
    service = await start()
    await ready(await address(home))

    async def is_up() -> Called | None:
        # It waits for an answer for seconds, as probes do, and is called again, as they are.
        asked = await home.call("healthcheck")
        return asked if asked.status == 0 else None

    up = await until(is_up, what="a healthy service")

    assert down.status == 1
    assert "tocsin run" in down.records()[0]["said"]
    assert up.records()[0]["ready"] is True
    assert await service.stop() == 0


async def test_without_http_listen_there_is_no_http_at_all(home: Home, start: Start) -> None:
    home.configure(CONFIGURATION.replace("127.0.0.1:0", ""))
    service = await start()
    await home.hears("engine.started")

    assert "http.listening" not in {line["event"] for line in home.said()}
    assert await service.stop() == 0


async def test_clients_without_a_token_do_not_shut_out_the_administrator(home: Home, start: Start) -> None:
    made = await home.call("token", "add", "boss", "--scope", "admin", "--json")
    token = str(made.records()[0]["token"])
    await start()
    url = await address(home)
    await ready(url)
    login = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\ntoken="
    unread = b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n" * 200

    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as asked:
        held = []
        for number in range(300):
            # A client that takes nothing: its socket has a small buffer, and is never read.
            _, writer = await asyncio.open_connection("127.0.0.1", asked.base_url.port, limit=1)
            writer.write(unread if number % 2 else login)
            held.append(writer)
        known = [await asked.get("/api/v1/service", headers={"Authorization": f"Bearer {token}"}) for _ in range(5)]
        logins = [await asked.post("/login", data={"token": token}) for _ in range(5)]
        for writer in held:
            writer.transport.abort()

    assert [answer.status_code for answer in known] == [200] * 5
    assert [answer.status_code for answer in logins] == [303] * 5


# The web pages are loaded as soon as a writer opens the pipe.
LOADED_LATE = """
import sys

class Late:
    def find_spec(self, name, path=None, target=None):
        if name == "tocsin.server.app":
            open({pipe!r}).close()

sys.meta_path.insert(0, Late())
"""


async def test_pages_are_checked_while_the_web_pages_are_loaded(
    home: Home, site: Origin, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/a"] = Page("<title>a</title>")
    await home.watch(site.url("/a"))
    late = home.folder / "late"
    late.mkdir()
    pipe = late / "pipe"
    os.mkfifo(pipe)
    (late / "sitecustomize.py").write_text(LOADED_LATE.format(pipe=str(pipe)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(late)))))

    async def received() -> list[Asked] | None:
        return site.asked("/a") or None

    await start()
    await home.hears("engine.started")
    await until(received, what="a request for the page")
    assert "http.ready" not in [line["event"] for line in home.said()]

    await asyncio.to_thread(pipe.write_text, "")
    await ready(await address(home))


async def answering(address: Address) -> None:
    """Wait until /events is served."""

    async def probe() -> bool:
        try:
            async with reading(address, "?live=only") as reader:
                return reader.status == 200
        except (ConnectionError, EOFError):
            return False

    await until(probe, what="a service that answers")


async def heard_until(reader: Reader, date: str) -> list[str]:
    """Read alerts up to the one that tells of this date; returns the numbers of all."""
    numbers = []
    while True:
        event = await reader.event()
        numbers.append(event.id)
        if date in event.data:
            return numbers


async def test_no_alert_is_missed_over_reconnects_and_a_kill(home: Home, site: Origin, start: Start) -> None:
    address = ("127.0.0.1", free_port())
    home.configure(CONFIGURATION.replace("127.0.0.1:0", f"{address[0]}:{address[1]}"))
    dates: list[str] = []

    def change() -> str:
        dates.append(f"2026-01-{len(dates) + 1:02}")
        site.pages["/a"] = Page(f'<meta name=topper-major content="{" ".join(dates)}">')
        return dates[-1]

    change()
    await home.watch(site.url("/a"))
    service = await start()
    await answering(address)
    async with reading(address) as reader:
        await home.outcome(site.url("/a"), "first", "unchanged")
        heard = await heard_until(reader, change())
        last_id = reader.last_id
    # Nobody reads, and then nobody serves.
    await home.alert("changed", outcome="major", new_dates={"major": [change()], "minor": []})
    await service.end(signal.SIGKILL)
    service = await start()
    await answering(address)
    async with reading(address, last_id=last_id) as reader:
        heard += await heard_until(reader, change())

    async with home.store() as store:
        assert heard == [str(alert.position) for alert in reversed(await store.alerts(limit=100))]
    assert len(heard) == 3
    assert await service.stop() == 0
