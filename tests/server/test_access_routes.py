"""Every route there is, and who may use it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from tests.server.rig import BASE, Rig
from tocsin.model import Scope
from tocsin.server.access.guard import is_public
from tocsin.server.access.rights import SAFE, wanted_of
from tocsin.server.parts import Given

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx
    from fastapi.dependencies.models import Dependant

    from tocsin.server.app import Application

OPEN_TO_ALL = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/static/{digest}/{name}"),
}
CHANGE_NOTHING_OF_OTHERS = {("POST", "/logout"), ("POST", "/look")}
"""Unsafe methods that whoever may read may use: they change what their own browser keeps."""


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
    assert let_in == OPEN_TO_ALL - {("POST", "/login")}


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
    assert let_in <= CHANGE_NOTHING_OF_OTHERS | {("POST", "/login")}


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
