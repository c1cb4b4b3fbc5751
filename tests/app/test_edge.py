"""Who is let in first, and a stop at any moment of the start."""

from __future__ import annotations

import asyncio
import errno
import io
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest

from tests.fakes import RecordingTelemetry
from tocsin.adapters.stores import open_store
from tocsin.adapters.telemetry import LogTelemetry
from tocsin.app import edge as edges
from tocsin.app.edge import Edge
from tocsin.configuration.tokens import is_token
from tocsin.errors import StoreError
from tocsin.model import Scope
from tocsin.ports import Service, Store
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.settings import HttpSettings, LogSettings, unread

DECLARED = "6f0c2f0d5a6e4b7f8e4c1d0b9a3f7e52"
NOW = 1_800_000_000_000_000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as opened:
        yield opened


async def settle(store: Store, settings: HttpSettings) -> RecordingTelemetry:
    """Settle who is let in, and stop."""
    stopping, telemetry = asyncio.Event(), RecordingTelemetry()
    edge = Edge(settings, stopping, telemetry)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(edge.run())
        await edge.settle(store, NOW)
        stopping.set()
        await edge.ended()
    return telemetry


async def test_an_edge_that_was_stopped_before_it_is_opened_stays_closed(store: Store) -> None:
    stopping, telemetry = asyncio.Event(), RecordingTelemetry()
    edge = Edge(HttpSettings(listen="127.0.0.1:0"), stopping, telemetry)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(edge.run(), name="http")
        await edge.settle(store, NOW)
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(listening(telemetry)).port)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert b" 503 " in await reader.readline()  # it is starting, and waits to be opened
        stopping.set()
        await edge.ended()
        edge.open(cast("Service", object()), store, telemetry)
        writer.close()

    assert "http.ready" not in telemetry.names()


def listening(telemetry: RecordingTelemetry) -> str:
    """Where it says that it listens."""
    return next(str(each.values["url"]) for each in telemetry.happenings if each.name == "http.listening")


async def test_a_first_token_is_made_where_there_was_none_and_shown_on_a_line_of_its_own(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    telemetry = await settle(store, HttpSettings(listen="127.0.0.1:0", first_token=True))

    shown = capsys.readouterr().out
    token = shown.removeprefix("token: ").rstrip("\n")
    found = await store.token_of(digest_of(token), NOW)
    assert is_token(token)
    assert found is not None
    assert found.scope is Scope.ADMIN
    assert token not in repr(telemetry.happenings)
    assert telemetry.happenings[-1].values["guarded"] is True


async def test_where_there_is_a_token_or_was_one_no_first_one_is_made(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    await store.add_token("ops", Scope.READ, digest_of(new_token()), NOW)
    await store.revoke_token("ops", NOW)

    await settle(store, HttpSettings(listen="127.0.0.1:0", first_token=True))

    assert capsys.readouterr().out == ""
    assert [row.name for row in await store.tokens()] == ["ops"]


async def test_a_second_start_makes_no_second_first_token(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        await settle(store, HttpSettings(listen="127.0.0.1:0", first_token=True))

    assert capsys.readouterr().out.count("token: ") == 1
    assert len(await store.tokens()) == 1


async def test_where_a_token_is_declared_none_is_made_and_none_is_printed(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    telemetry = await settle(store, HttpSettings(listen="0.0.0.0:0", first_token=True, tokens=DECLARED))

    found = await store.token_of(digest_of(DECLARED), NOW)
    assert found is not None
    assert (found.name, found.scope, capsys.readouterr().out) == ("admin", Scope.ADMIN, "")
    assert telemetry.names() == ["access.declared", "http.listening"]
    assert telemetry.happenings[-1].values["guarded"] is True
    assert DECLARED not in repr(telemetry.happenings)
    assert [entry.what for entry in (await store.audit()).rows] == ["token.declare"]


async def test_a_declared_token_that_is_refused_is_named_in_the_log(store: Store) -> None:
    settings = HttpSettings(listen="127.0.0.1:0", tokens=f"grafana read {DECLARED}")
    await settle(store, settings)
    await store.revoke_token("grafana", NOW)
    out = io.StringIO()

    for happening in (await settle(store, settings)).happenings:
        LogTelemetry(LogSettings(), out).emit(happening)

    (told,) = [line for line in out.getvalue().splitlines() if "access.not_declared" in line]
    assert "grafana" in told
    assert DECLARED not in told


async def test_where_declared_tokens_cannot_be_read_none_is_made_and_the_service_is_not_open(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = unread("http.tokens_file: tokens: there is no such file; write the secret into it")
    telemetry = await settle(store, HttpSettings(listen="0.0.0.0:0", first_token=True, tokens=tokens))

    assert (capsys.readouterr().out, await store.has_tokens()) == ("", False)
    assert telemetry.names() == ["access.unread", "http.listening"]
    assert telemetry.happenings[-1].values["guarded"] is True


class GoneReader(io.StringIO):
    """An output whose reader is gone."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


async def test_a_first_token_that_cannot_be_shown_ends_the_start_with_the_mend(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", GoneReader())
    edge = Edge(HttpSettings(listen="127.0.0.1:0", first_token=True), asyncio.Event(), RecordingTelemetry())

    with pytest.raises(StoreError, match="tocsin token add"):
        await edge.settle(store, NOW)

    for each in edge._sockets:
        each.close()


async def test_without_a_token_it_keeps_to_this_machine_on_the_same_port_and_says_so(store: Store) -> None:
    telemetry = await settle(store, HttpSettings(listen="0.0.0.0:0"))

    told = {each.name: each.values for each in telemetry.happenings}
    assert told["http.listening"]["url"].startswith("http://127.0.0.1:")
    assert told["http.open"]["instead_of"] == "0.0.0.0:0"
    assert "start again" in told["http.open"]["mend"]


async def test_with_a_token_it_listens_where_it_was_told_to(store: Store) -> None:
    await store.add_token("ops", Scope.READ, digest_of(new_token()), NOW)

    telemetry = await settle(store, HttpSettings(listen="0.0.0.0:0"))

    assert telemetry.names() == ["http.listening"]


async def test_a_stop_before_anything_was_settled_ends_it_in_order(store: Store) -> None:
    stopping, telemetry = asyncio.Event(), RecordingTelemetry()
    edge = Edge(HttpSettings(listen="0.0.0.0:0"), stopping, telemetry)
    stopping.set()

    async with asyncio.timeout(60):
        await edge.run()
        await edge.settle(store, NOW)
        await edge.ended()

    assert telemetry.names() == []


async def test_a_start_for_which_no_file_is_left_waits_and_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edges, "_LOAD_AGAIN_S", 0.0)
    stopping, telemetry = asyncio.Event(), RecordingTelemetry()
    edge = Edge(HttpSettings(listen="127.0.0.1:0"), stopping, telemetry)
    errors = [OSError(errno.EMFILE, "too many open files"), OSError(errno.EMFILE, "too many open files")]

    def load() -> str:
        if errors:
            raise errors.pop()
        return "loaded"

    loaded = await edge._load(load)
    stopping.set()
    await edge.run()

    assert loaded == "loaded"
    assert telemetry.names() == ["http.short"]
    assert "ulimit -n" in telemetry.happenings[0].values["error"]
