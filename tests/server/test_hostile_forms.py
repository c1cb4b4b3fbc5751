"""Forms that are made to hurt whoever reads them, sent by anybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.server.rig import Rig
from tocsin.model import Scope
from tocsin.server.access import limits

BROWSER = {"Accept": "text/html"}


def multipart(value: bytes, kind: str) -> tuple[bytes, dict[str, str]]:
    body = b'--cut\r\nContent-Disposition: form-data; name="token"\r\n\r\n' + value + b"\r\n--cut--\r\n"
    return body, {"Content-Type": f"multipart/form-data; boundary=cut{kind}"}


@pytest.mark.parametrize(
    "kind",
    [
        "; charset=punycode",
        '; Charset = "idna"',
        "; charset*=utf-8''punycode",
        '; charset*0="puny"; charset*1="code"',
        "; charset=utf-8; charset=punycode",
        "; charset=unicode_escape",
        "; charset=undefined",
        "; charset=utf-16",
    ],
)
async def test_a_form_in_a_charset_of_its_own_is_refused_before_it_is_read(rig: Rig, kind: str) -> None:
    """Punycode takes the square of a text's length: one request stopped the service for minutes."""
    await rig.token(Scope.READ)
    body, headers = multipart(b"b" * 5000 + b"-" + b"b" * 5000, kind)
    async with rig.asking() as stranger:
        answer = await stranger.post("/login", content=body, headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (415, "urn:tocsin:problem:unknown-charset")


@pytest.mark.parametrize("kind", ["", "; charset=utf-8", '; charset="UTF-8"'])
async def test_a_form_in_the_usual_charset_is_read(rig: Rig, kind: str) -> None:
    token = await rig.token(Scope.READ)
    body, headers = multipart(token.encode(), kind)
    async with rig.asking() as browser:
        answer = await browser.post("/login", content=body, headers=headers)

    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_a_login_has_no_room_for_more_than_a_token_and_a_form(rig: Rig) -> None:
    await rig.token(Scope.READ)
    async with rig.asking() as stranger:
        answer = await stranger.post("/login", data={"token": "x" * 70_000})

    assert (answer.status_code, answer.json()["detail"]) == (413, "at most 64 KiB here")


@pytest.mark.parametrize("token", ["\ud800", "\x00", "tcs_" + "é" * 49, " " * 1000])
async def test_no_text_that_somebody_logs_in_with_is_a_fault_of_ours(rig: Rig, token: str) -> None:
    await rig.token(Scope.READ)
    body = b"token=" + "".join(f"%{byte:02x}" for byte in token.encode("utf-8", "surrogatepass")).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded", **BROWSER}
    async with rig.asking() as stranger:
        form = await stranger.post("/login", content=body, headers=headers)
        said = f"Bearer {token}".encode("utf-8", "replace")
        header = await stranger.get("/", headers=[(b"Authorization", said)])

    assert (form.status_code, header.status_code) == (401, 401)


async def test_a_form_of_many_fields_is_refused(rig: Rig) -> None:
    await rig.token(Scope.READ)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    async with rig.asking() as stranger:
        answer = await stranger.post("/login", content=b"a=&" * 5000, headers=headers)

    assert answer.status_code == 400


async def test_a_login_whose_body_does_not_come_holds_no_place(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    token = await rig.token(Scope.READ)
    monkeypatch.setattr(limits, "MOST_UNKNOWN_OF_AN_ADDRESS", 1)
    entered = asyncio.Semaphore(0)

    async def nothing() -> AsyncIterator[bytes]:
        entered.release()
        await asyncio.Event().wait()
        yield b""

    async with rig.asking() as stranger, asyncio.TaskGroup() as group:
        slow = [group.create_task(stranger.post("/login", content=nothing())) for _ in range(40)]
        for _ in slow:
            await entered.acquire()
        login = await stranger.post("/login", data={"token": token})
        for task in slow:
            task.cancel()

    assert login.status_code == 303


async def test_a_login_whose_body_trickles_is_not_waited_for(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNKNOWN_BODY_S", 0.05)

    async def trickling() -> AsyncIterator[bytes]:
        yield b"token="
        await asyncio.Event().wait()

    async with rig.asking() as stranger:
        answer = await stranger.post("/login", content=trickling())

    assert (answer.status_code, answer.json()["type"]) == (408, "urn:tocsin:problem:too-slow")
