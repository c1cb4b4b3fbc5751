"""Every route, and who may use it: scopes, local access, limits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.requests import Request

from tests.server.rig import BASE, ELSEWHERE, Rig
from tocsin.model import Scope
from tocsin.server import parts
from tocsin.server.access import limits
from tocsin.server.access.credentials import new_token
from tocsin.server.access.guard import MOST_WRONG, TRIES_IN_ALL, Throttle, is_public
from tocsin.server.app import Application
from tocsin.server.parts import SAFE, Given, Reading, Writing, wanted_of
from tocsin.settings import unread

OPEN_TO_ALL = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/login/kept"),
    ("GET", "/static/{digest}/{name}"),
}
# Unsafe methods for all who may read: they change what their own browser keeps, or show what would be sent.
CHANGE_NOTHING_OF_OTHERS = {
    ("POST", "/logout"),
    ("POST", "/look"),
    ("POST", "/api/v1/channels/preview"),
    ("POST", "/api/v1/channels/{name}/preview"),
    ("POST", "/api/v1/routes/preview"),
}


class Entry(NamedTuple):
    """A route with one of its methods."""

    method: str
    path: str
    wanted: Scope | None

    @property
    def filled(self) -> str:
        """The path with something in each of its places."""
        return re.sub(r"\{[^}]*\}", "1", self.path)


def entries(app: Application) -> Iterator[Entry]:
    for route in iter_route_contexts(app.routes):
        dependant = getattr(route, "dependant", None)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield Entry(method, str(route.path), None if dependant is None else wanted_of(dependant))


async def ask(client: httpx.AsyncClient, entry: Entry) -> int:
    answer = await client.request(entry.method, entry.filled)
    return answer.status_code


def test_only_health_login_and_static_files_say_that_anybody_may_use_them(rig: Rig) -> None:
    found = {(entry.method, entry.path) for entry in entries(rig.app) if entry.wanted is None}

    # The description is no route of FastAPI's own kind; the guard asks for a token there.
    assert found == OPEN_TO_ALL | {("GET", "/api/openapi.json")}


async def test_anonymous_callers_get_health_and_login_only(rig: Rig) -> None:
    """Of CVE-2026-35490 and CVE-2024-23329 the counterpart: a guard that some routes stand outside of."""
    await rig.token(Scope.ADMIN)
    async with rig.asking() as anonymous:
        got = {entry: await ask(anonymous, entry) for entry in entries(rig.app)}

    let_in = {(entry.method, entry.path) for entry, status in got.items() if status not in {401, 303}}
    # /login without a token is a failed login.
    # A form without a session leads to the login.
    assert let_in == OPEN_TO_ALL - {("POST", "/login"), ("POST", "/login/kept")}


async def test_an_address_that_is_not_there_tells_an_anonymous_caller_nothing(rig: Rig) -> None:
    await rig.token(Scope.ADMIN)
    async with rig.asking() as anonymous:
        answer = await anonymous.get("/api/v1/no-such-thing")

    assert answer.status_code == 401


async def test_a_token_to_read_changes_nothing(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking(token) as reader:
        got = {entry: await ask(reader, entry) for entry in entries(rig.app) if entry.method not in SAFE}

    let_in = {(entry.method, entry.path) for entry, status in got.items() if status != 403}
    assert let_in <= CHANGE_NOTHING_OF_OTHERS | {("POST", "/login"), ("POST", "/login/kept")}


async def test_a_token_to_write_does_nothing_that_is_for_administrators(rig: Rig) -> None:
    token = await rig.token(Scope.WRITE)
    async with rig.asking(token) as writer:
        got = {entry: await ask(writer, entry) for entry in entries(rig.app) if entry.wanted is Scope.ADMIN}

    assert set(got.values()) <= {403}


async def test_a_route_that_forgot_to_say_who_may_use_it_lets_nobody_in(rig: Rig) -> None:
    @rig.app.get("/api/v1/forgotten")
    async def forgotten(_parts: Given) -> str:
        return "secret"

    async with rig.asking() as administrator:
        answer = await administrator.get("/api/v1/forgotten")

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:tocsin:problem:undeclared")


def test_every_route_is_of_the_kind_that_is_checked(rig: Rig) -> None:
    kinds = {type(route.original_route) for route in iter_route_contexts(rig.app.routes)}
    others = {kind.__name__ for kind in kinds if not issubclass(kind, APIRoute)}

    assert others == {"Route"}  # the description


def test_no_static_path_leads_out_of_the_static_files() -> None:
    """What only looks public: CVE-2026-25527 left the folder, GHSA-vwgh-2hvh-4xm5 matched a part of a path."""
    assert not is_public("/api/v1/pages/static/x")
    assert not is_public("/pages/login")
    assert not is_public("/loginx")
    assert not is_public("/static/../api/v1/pages")
    assert not is_public("/static")
    assert not is_public("/staticky/x")
    assert not is_public("/login/../api/v1/pages")


async def test_dots_in_a_static_path_read_no_file(rig: Rig) -> None:
    """CVE-2026-25527."""
    await rig.token(Scope.ADMIN)
    async with rig.asking() as anonymous:
        for path in ("/static/..%2f..%2fpages%2frendering.py", "/static/x/..%2f..%2frendering.py", "/static/x/%2e%2e"):
            answer = await anonymous.get(f"{BASE}{path}")
            assert answer.status_code in {401, 404}, path
            assert "import" not in answer.text


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, -(2**63) - 1, 10**30])
async def test_no_number_in_a_request_is_too_large_to_be_refused(rig: Rig, number: int) -> None:
    token, broken, asked_for = await rig.token(Scope.ADMIN), [], 0
    async with rig.asking(token) as asked:
        for entry in entries(rig.app):
            if entry.path == "/events":  # it would be followed
                continue
            path = re.sub(r"\{[^}]*\}", str(number), entry.path)
            query, form = names_in(rig.app, entry)
            data = dict.fromkeys(form, str(number)) if entry.method == "POST" and form else None
            for params in [{}, *({name: str(number)} for name in query)]:
                answer = await asked.request(entry.method, path, params=params, data=data)
                asked_for += 1
                if answer.status_code >= 500:
                    broken.append((entry.method, path, params, answer.status_code))

    assert asked_for > 100
    assert not broken, str(broken)


def names_in(app: Application, entry: Entry) -> tuple[list[str], list[str]]:
    """Name what a route reads of the query and of a form."""
    for route in iter_route_contexts(app.routes):
        dependant = getattr(route, "dependant", None)
        if dependant is not None and str(route.path) == entry.path and entry.method in (route.methods or ()):
            each = list(with_inner(dependant))
            body = [] if entry.path.startswith("/api/") else [field.alias for one in each for field in one.body_params]
            return [field.alias for one in each for field in one.query_params], body
    return [], []


def with_inner(dependant: Dependant) -> Iterator[Dependant]:
    yield dependant
    for inner in dependant.dependencies:
        yield from with_inner(inner)


ASKED = "/api/openapi.json"


async def test_whoever_is_on_this_machine_is_administrator(rig: Rig) -> None:
    async with rig.asking(client=("::1", 1), base="http://[::1]:8330") as asked:
        answer = await asked.get(ASKED)
        page = await asked.get("/changes", headers={"Accept": "text/html"})

    assert (answer.status_code, page.status_code) == (200, 200)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1", ""])
async def test_a_name_that_is_not_of_this_machine_is_refused(local: httpx.AsyncClient, host: str) -> None:
    """DNS rebinding: a site whose name leads here is not us."""
    answer = await local.get(ASKED, headers={"Host": host})

    assert answer.status_code == 421
    assert "http.public_url" in answer.json()["mend"]


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8330", "127.0.0.1:8330", "127.8.9.1", "[::1]:8330", "x.localhost"]
)
async def test_a_name_of_this_machine_is_answered_to(local: httpx.AsyncClient, host: str) -> None:
    answer = await local.get(ASKED, headers={"Host": host})

    assert answer.status_code == 200


async def test_the_name_of_the_public_address_is_answered_to(rig: Rig, local: httpx.AsyncClient) -> None:
    rig.service.configure(public_url="https://tocsin.example/below/")

    answer = await local.get(ASKED, headers={"Host": "tocsin.example"})

    assert answer.status_code == 200


async def test_nobody_from_elsewhere_is_let_in_without_a_token(rig: Rig) -> None:
    async with rig.asking(client=ELSEWHERE) as asked:
        answer = await asked.get(ASKED)

    assert answer.status_code == 401


async def test_whoever_comes_through_a_proxy_is_not_of_this_machine(rig: Rig) -> None:
    rig.service.configure(trusted_proxies=("127.0.0.1",))
    async with rig.asking() as proxy:
        answers = [
            await proxy.get(ASKED, headers={"X-Forwarded-For": said})
            for said in ("192.0.2.7", "127.0.0.1", "nonsense", "192.0.2.7, 127.0.0.1")
        ]

    assert [answer.status_code for answer in answers] == [401] * 4


async def test_a_page_of_another_site_can_make_a_browser_do_nothing_here(rig: Rig) -> None:
    async with rig.asking() as browser:
        posted = await browser.post("/look", data={"look": "dark"}, headers={"Origin": "http://evil.example"})
        fetched = await browser.get(ASKED, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"})

    assert (posted.status_code, fetched.status_code) == (403, 403)


async def test_a_form_without_its_token_is_refused_here_too(local: httpx.AsyncClient) -> None:
    answer = await local.post("/look", data={"look": "dark"})

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:tocsin:problem:csrf")


async def test_a_form_that_was_shown_is_taken(rig: Rig) -> None:
    caller = []

    @rig.app.get("/shown")
    async def shown(who: parts.Reading) -> str:
        caller.append(who)
        return ""

    async with rig.asking() as browser:
        await browser.get("/shown")
        answer = await browser.post("/look", data={"look": "dark", "csrf": caller[0].csrf})

    assert answer.status_code == 303


async def test_the_first_token_closes_it_at_once(rig: Rig, local: httpx.AsyncClient) -> None:
    before = await local.get(ASKED)
    await rig.token(Scope.READ)
    after = await local.get(ASKED)

    assert (before.status_code, after.status_code) == (200, 401)


async def test_declared_tokens_that_cannot_be_read_leave_nobody_in(rig: Rig, local: httpx.AsyncClient) -> None:
    before = await local.get(ASKED)
    rig.service.configure(tokens=unread("there is no such file"))
    after = await local.get(ASKED)

    assert (before.status_code, after.status_code) == (200, 401)


async def test_a_body_that_says_it_is_too_large_is_not_read(rig: Rig) -> None:
    token = await rig.token(Scope.ADMIN)
    async with rig.asking(token) as asked:
        answer = await asked.post("/logout", content=b"x" * (limits.MOST_BYTES + 1))

    assert (answer.status_code, answer.json()["type"]) == (413, "urn:tocsin:problem:too-large")
    assert answer.headers["connection"] == "close"


async def test_a_body_that_does_not_say_how_large_it_is_ends_where_it_is_too_large(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    @rig.app.post("/taken")
    async def taken(request: Request, _caller: Writing) -> int:
        return len(await request.body())

    sent = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(64):
            sent.append(2**16)
            yield b"x" * 2**16

    answer = await local.post("/taken", content=pieces())

    assert answer.status_code == 413
    assert sum(sent) <= limits.MOST_BYTES + 2**17


async def test_more_requests_than_are_answered_at_one_time_are_sent_away(rig: Rig, local: httpx.AsyncClient) -> None:
    held, entered = asyncio.Event(), asyncio.Semaphore(0)

    @rig.app.get("/slow")
    async def slow(_caller: Reading) -> str:
        entered.release()
        await held.wait()
        return "done"

    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(local.get("/slow")) for _ in range(limits.MOST_OF_A_TOKEN)]
        for _ in asking:
            await entered.acquire()
        late = await local.get("/slow")
        health = await local.get("/healthz")
        held.set()

    assert (late.status_code, late.headers["retry-after"]) == (503, "1")
    assert health.status_code == 200
    assert {task.result().status_code for task in asking} == {200}


async def test_the_requests_of_one_token_leave_places_for_others(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_OF_A_TOKEN", 1)
    greedy, other = await rig.token(Scope.READ, "greedy"), await rig.token(Scope.READ, "other")
    held, entered = asyncio.Event(), asyncio.Event()

    @rig.app.get("/slow")
    async def slow(_caller: Reading) -> str:
        entered.set()
        await held.wait()
        return "done"

    async with rig.asking(greedy) as first, rig.asking(other) as second, asyncio.TaskGroup() as group:
        group.create_task(first.get("/slow"))
        await entered.wait()
        refused, taken = await first.get("/api/v1/service"), await second.get("/api/v1/service")
        held.set()

    assert (refused.status_code, taken.status_code) == (503, 200)


async def test_a_body_that_stops_coming_is_not_waited_for(
    rig: Rig, local: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PIECE_S", 0.05)

    @rig.app.post("/taken")
    async def taken(request: Request, _caller: Writing) -> int:
        return len(await request.body())

    async def stopping() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    answer = await local.post("/taken", content=stopping())

    assert (answer.status_code, answer.json()["type"]) == (408, "urn:tocsin:problem:too-slow")


async def test_a_body_that_trickles_is_not_waited_for(
    rig: Rig, local: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PIECE_S", 0.05)

    @rig.app.post("/api/v1/parsed")
    async def parsed(_caller: Writing, given: dict[str, int]) -> int:
        return len(given)

    async def trickling() -> AsyncIterator[bytes]:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.01):
                    await asyncio.Event().wait()
            yield b" "

    answer = await local.post("/api/v1/parsed", content=trickling(), headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["type"]) == (408, "urn:tocsin:problem:too-slow")


async def test_every_answer_is_dressed(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.get("/broken")
    async def broken(_caller: Reading) -> str:
        raise ZeroDivisionError

    for path in ("/", "/healthz", "/broken", "/no-such-page", "/api/v1/no-such-thing"):
        answer = await local.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["x-request-id"]
        assert "server" not in answer.headers


async def test_what_is_private_is_kept_by_nobody(local: httpx.AsyncClient) -> None:
    for path in ("/", "/api/openapi.json", "/no-such-page"):
        answer = await local.get(path)
        assert answer.headers["cache-control"] == "no-store", path


async def test_where_there_is_get_there_is_head(local: httpx.AsyncClient) -> None:
    answer = await local.head("/healthz")

    assert answer.status_code == 200


async def test_a_request_has_one_id(local: httpx.AsyncClient) -> None:
    first = await local.get("/no-such-page")
    second = await local.get("/no-such-page")

    assert first.json()["request_id"] == first.headers["x-request-id"]
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


async def test_an_id_is_taken_from_a_trusted_proxy_only(rig: Rig, local: httpx.AsyncClient) -> None:
    said = {"X-Request-Id": "edge-12345678", "X-Forwarded-For": "198.51.100.1"}
    not_believed = await local.get("/healthz", headers=said)
    rig.service.configure(trusted_proxies=("127.0.0.1",))
    believed = await local.get("/healthz", headers=said)
    nonsense = await local.get("/healthz", headers={**said, "X-Request-Id": "a b\tc" * 20})

    assert not_believed.headers["x-request-id"] != "edge-12345678"
    assert believed.headers["x-request-id"] == "edge-12345678"
    assert " " not in nonsense.headers["x-request-id"]


async def test_what_people_search_for_stands_in_no_log(rig: Rig, local: httpx.AsyncClient) -> None:
    await local.get("/", params={"words": "my-secret-interest"})

    assert "my-secret-interest" not in repr(rig.telemetry.happenings)
    assert "http.answered" in rig.telemetry.names()


async def test_the_log_names_the_method_that_was_asked_for(rig: Rig, local: httpx.AsyncClient) -> None:
    await local.head("/healthz")

    assert logged(rig) == [("HEAD", 200)]


async def test_a_request_that_broke_off_has_no_status_in_the_log(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.get("/slow")
    async def slow(_caller: Reading) -> str:
        entered.set()
        return await asyncio.Future()

    entered = asyncio.Event()
    asking = asyncio.gather(local.get("/slow"))
    await entered.wait()
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking

    assert logged(rig) == [("GET", None)]


def logged(rig: Rig) -> list[tuple[str, int | None]]:
    """Give method and status of each request in the log."""
    found = [each.values for each in rig.telemetry.happenings if each.name == "http.answered"]
    return [(values["method"], values["status"]) for values in found]


SERVICE = "/api/v1/service"


@pytest.mark.parametrize(
    "said",
    ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via"],
)
async def test_without_a_token_nobody_is_let_in_through_a_proxy_that_nobody_told_of(
    local: httpx.AsyncClient, said: str
) -> None:
    """A proxy on this machine speaks from loopback, for the whole world (as CVE-2023-27591 on whom to believe)."""
    answer = await local.get(SERVICE, headers={said: "203.0.113.9"})

    assert answer.status_code == 401


async def test_a_link_from_another_site_gets_no_answer_of_the_api(local: httpx.AsyncClient) -> None:
    """As GHSA-3v57-xv5m-v7m7, where a GET acted on behalf of a person who followed a link."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    answer = await local.get("/api/v1/pages/1/extract/ical", headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:tocsin:problem:cross-site")


async def test_what_a_token_may_not_send_is_not_even_read(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    sent = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(64):
            sent.append(2**16)
            yield b"x" * 2**16

    async with rig.asking(token) as asked:
        list_ = await asked.post("/api/v1/imports", content=pieces(), headers={"Idempotency-Key": "a"})
        again = await asked.post("/api/v1/pages", content=pieces(), headers={"Content-Type": "application/json"})

    assert (list_.status_code, again.status_code) == (403, 403)
    assert not sent


async def test_a_program_that_was_left_with_a_revoked_token_locks_nobody_out(rig: Rig) -> None:
    good, gone = await rig.token(Scope.READ), {"Authorization": f"Bearer {new_token()}"}
    async with rig.asking(client=ELSEWHERE) as beside:
        for _ in range(30):
            left = await beside.get(SERVICE, headers=gone)
        let_in = await beside.get(SERVICE, headers={"Authorization": f"Bearer {good}"})

    assert (left.status_code, let_in.status_code) == (401, 200)


async def test_guesses_from_many_addresses_lock_out_nobody_who_made_none(rig: Rig) -> None:
    throttle = Throttle(rig.clock)
    for number in range(TRIES_IN_ALL * 2):
        throttle.failed(f"2001:db8:{number:x}::/64", str(number).encode())

    assert throttle.wait_s("2001:db8:1::/64", b"another") > 0
    assert throttle.wait_s("192.0.2.1", b"good") == 0


async def test_guesses_are_remembered_in_a_bounded_memory(rig: Rig) -> None:
    throttle = Throttle(rig.clock)
    for number in range(MOST_WRONG * 6):
        throttle.failed(f"2001:db8:{number:x}::/64", str(number).encode())

    assert len(throttle) <= 4096
    assert len(throttle._wrong) == MOST_WRONG


async def test_the_files_of_a_store_are_nobody_elses_business(rig: Rig, tmp_path: Path) -> None:
    await rig.token(Scope.READ)
    async for _ in await rig.store.backup(str(tmp_path / "copy.db")):
        pass

    found = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir() if file.is_file()}
    assert {"tocsin.db", "tocsin.db-wal", "copy.db"} <= found.keys()
    assert set(found.values()) == {0o600}
