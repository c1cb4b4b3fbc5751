"""Name servers that lie, babble or say nothing end the check of a page as a failure of DNS, in time."""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING

import pytest

from tests.hostile.behaviour import PLENTY_S, UNCHANGED, Behaviour
from tests.hostile.leaks import leaving_nothing_behind
from tests.hostile.meeting import GRACE_S
from tests.hostile.rig import Rig, limits
from tests.nameserver import NameServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHORT = Behaviour("names", b"", UNCHANGED, total_s=PLENTY_S, phase_s=0.3)
"""Only the deadline of names is short: that of everything is missed in another way."""
A, CNAME, IN = 1, 5, 1
SELF = b"\xc0\x0c"
"""The name that was asked for, in the words of RFC 1035, 4.1.4."""


def said(asked: bytes, *records: bytes, flags: int = 0x8180, count: int | None = None) -> bytes:
    """An answer to this question."""
    end = asked.index(b"\0", 12) + 5
    header = asked[:2] + struct.pack(">HHHHH", flags, 1, len(records) if count is None else count, 0, 0)
    return header + asked[12:end] + b"".join(records)


def record(kind: int, data: bytes, name: bytes = SELF) -> bytes:
    """A record of an answer."""
    return name + struct.pack(">HHIH", kind, IN, 60, len(data)) + data


class Babbling(NameServer):
    """Answers each question with whatever bytes it is told."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        super().__init__()
        self._answer = answer

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        self._transport.sendto(self._answer(data), addr)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: b"", id="nothing"),
        pytest.param(lambda _: b"\0", id="a byte"),
        pytest.param(lambda _: bytes(range(256)) * 2, id="bytes without meaning"),
        pytest.param(lambda asked: asked, id="the question"),
        pytest.param(lambda asked: bytes(2) + said(asked, record(A, bytes(4)))[2:], id="an answer to another question"),
        pytest.param(lambda asked: said(asked, count=65_535), id="records that do not come"),
        pytest.param(lambda asked: said(asked, record(A, bytes(3))), id="an address of three bytes"),
        pytest.param(lambda asked: said(asked, record(A, bytes(4))[:-2]), id="an address that is cut off"),
        pytest.param(lambda asked: said(asked, record(CNAME, SELF)), id="a name that is its own other name"),
        pytest.param(lambda asked: said(asked, record(CNAME, b"\xc0\xff")), id="a name that points behind the answer"),
        pytest.param(lambda asked: said(asked, record(CNAME, b"\x3fx")), id="a name that is cut off"),
        pytest.param(said, id="no records"),
        pytest.param(lambda asked: said(asked, flags=0x8183), id="no such name"),
        pytest.param(lambda asked: said(asked, flags=0x8182), id="a failure"),
        pytest.param(lambda asked: said(asked, flags=0x8185), id="a refusal"),
        pytest.param(lambda asked: said(asked, flags=0x818F), id="a code that is none"),
        pytest.param(lambda asked: said(asked, flags=0x8380), id="too little, more by TCP"),
    ],
)
async def test_a_name_server_that_misbehaves_is_a_failure_of_dns(
    answer: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    async with leaving_nothing_behind(), Babbling(answer) as names, Rig.at(tmp_path) as rig:
        rig.name_servers = [names.address]
        await rig.watch("http://babbling.example/page")

        async with asyncio.timeout(SHORT.total_s + GRACE_S):
            (report,) = await rig.check(fetch=limits(SHORT))

    assert report.error is not None
    assert report.error[0] == "dns", report
