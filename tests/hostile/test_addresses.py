"""However an address is written, and whatever a name server says when: nothing dials what may not be dialled."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile.behaviour import PLENTY_S, UNCHANGED, Behaviour
from tests.hostile.leaks import leaving_nothing_behind
from tests.hostile.meeting import GRACE_S
from tests.hostile.rig import Rig, limits
from tests.hostile.site import Site
from tests.hostile.wording import answer, redirect
from tests.nameserver import NameServer
from tocsin.errors import BadUrl
from tocsin.settings import NetworkSettings
from tocsin.spec.html.urls import watch_url

WELL = Behaviour("well", answer(), UNCHANGED)
NOTHING_ALLOWED = NetworkSettings()
ONE_ALLOWED = NetworkSettings(allow=("127.0.0.1/32",))

FORMS = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.",
    "%31%32%37.0.0.1", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "0.0.0.0", "0", "[::]", "[::1]",
    "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::1]", "[2001:db8::1]", "[100::1]",
    "[fe80::1]", "[fec0::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[3fff::1]", "[5f00::1]", "[4000::1]",
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "100.127.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]",
    "[::ffff:100.64.0.1]", "[64:ff9b::a9fe:a9fe]",
)  # fmt: skip
"""Addresses that are not public, in every spelling that the URL standard reads as one."""

NO_URLS = (
    "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://127.0.0.1.1/", "http://256.0.0.1/",
    "http://0x100000000/", "http://08.0.0.1/", "http://1.2.3.4.5/", "http://[::1", "http://[1]/", "http://[::1]x/",
    "file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "javascript:alert(1)", "data:text/html,x",
    "source:file:///etc/passwd", "view-source:http://127.0.0.1/", "http://a b/", "http://a<b/", "http://%00/",
    "http://a%2Fb/", "http:///", "http://", "//127.0.0.1/", "http://user@/", "http://:80/", "http://a:99999/",
    "http://a/" + "x" * 65_536,
)  # fmt: skip


@pytest.mark.parametrize("host", FORMS)
async def test_an_address_that_is_not_public_is_refused_in_every_spelling(host: str, tmp_path: Path) -> None:
    async with leaving_nothing_behind(), Rig.at(tmp_path, network=NOTHING_ALLOWED) as rig, Site(WELL) as site:
        await rig.watch(f"http://{host}:{site.port}/page")

        (report,) = await rig.check()

        assert report.error is not None
        assert report.error[0] == "blocked-address", report
        assert site.connections == 0


@pytest.mark.parametrize("text", NO_URLS, ids=lambda text: text[:40])
def test_what_is_no_address_of_the_web_is_not_watched(text: str) -> None:
    with pytest.raises(BadUrl):
        watch_url(text)


MISLEADING = (
    r"http://127.0.0.2\@127.0.0.1:{port}/page", r"http://127.0.0.2:{port}\page@127.0.0.1/",
    "http:\\\\127.0.0.2:{port}/page", "http:127.0.0.2:{port}/page", "\thttp://127.0.0\n.2:{port}/page",
    "hTTp://127.0.0.2:{port}/page#@127.0.0.1/", "http://127.0.0.1@127.0.0.2:{port}/page",
    "http://127.0.0.1:80@127.0.0.2:{port}/page",
)  # fmt: skip
"""Spellings of a host that may not be dialled, in which a careless reader sees one that may."""


@pytest.mark.parametrize("text", MISLEADING)
async def test_a_url_means_the_same_host_to_all_who_read_it(text: str, tmp_path: Path) -> None:
    async with Rig.at(tmp_path, network=ONE_ALLOWED) as rig, Site(WELL, host="127.0.0.2") as site:
        await rig.watch(text.format(port=site.port))

        (report,) = await rig.check()

        assert report.error is not None
        assert report.error[0] == "blocked-address"
        assert "127.0.0.2" in report.error[1]
        assert site.connections == 0


class Rebinding(NameServer):
    """Says another address each time that it is asked, and that no answer is to be kept."""

    def __init__(self, *addresses: str) -> None:
        super().__init__(ttl_s=0)
        self._addresses, self._asked = addresses, 0

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        turn = min(self._asked, len(self._addresses) - 1)
        self.names["rebinding.example"] = [self._addresses[turn]]
        super().datagram_received(data, addr)
        kind = self.asked[-1][1]
        self._asked += kind == 1  # A; the question for AAAA goes with it


async def test_a_name_that_moves_to_a_private_address_is_refused_at_its_next_check(tmp_path: Path) -> None:
    """CVE-2026-21885: rebinding between two requests."""
    async with (
        Rebinding("127.0.0.1", "127.0.0.2") as names,
        Rig.at(tmp_path, network=ONE_ALLOWED) as rig,
        Site(WELL) as site,
        Site(WELL, host="127.0.0.2", port=site.port) as inner,
    ):
        rig.name_servers = [names.address]
        await rig.watch(f"http://rebinding.example:{site.port}/page")

        (first,) = await rig.check()
        (second,) = await rig.check()

        assert (first.outcome, second.outcome) == ("first", "unreachable")
        assert second.error is not None
        assert second.error[0] == "blocked-address"
        assert inner.connections == 0


async def test_what_is_dialled_is_what_was_judged_however_often_a_name_moves(tmp_path: Path) -> None:
    turns = ("127.0.0.1", "127.0.0.2") * 20
    async with (
        Rebinding(*turns) as names,
        Rig.at(tmp_path, network=ONE_ALLOWED) as rig,
        Site(WELL) as site,
        Site(WELL, host="127.0.0.2", port=site.port) as inner,
    ):
        rig.name_servers = [names.address]
        await rig.watch(f"http://rebinding.example:{site.port}/page")

        outcomes = {(await rig.check())[0].outcome for _ in range(6)}

        assert outcomes <= {"first", "unchanged", "unreachable"}
        assert inner.connections == 0
        assert site.connections > 0


async def test_a_name_with_a_private_address_among_its_addresses_dials_only_the_others(tmp_path: Path) -> None:
    async with (
        NameServer() as names,
        Rig.at(tmp_path, network=ONE_ALLOWED) as rig,
        Site(WELL) as site,
        Site(WELL, host="127.0.0.2", port=site.port) as inner,
    ):
        names.names["both.example"] = ["127.0.0.2", "127.0.0.1", "10.0.0.1"]
        rig.name_servers = [names.address]
        await rig.watch(f"http://both.example:{site.port}/page")

        (report,) = await rig.check()

        assert report.outcome == "first"
        assert inner.connections == 0


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "127.0.0.2", "::1", "fd00::1", "64:ff9b::a00:1"])
async def test_a_redirect_to_a_name_of_a_private_address_is_refused(address: str, tmp_path: Path) -> None:
    behaviour = Behaviour("redirects", redirect(b"http://inner.example:@PORT@/page"), UNCHANGED)
    async with (
        NameServer() as names,
        Rig.at(tmp_path, network=ONE_ALLOWED) as rig,
        Site(behaviour) as site,
    ):
        names.names["inner.example"] = [address]
        rig.name_servers = [names.address]
        await rig.watch(site.url)
        await site.misbehave()

        (report,) = await rig.check()

        assert report.error is not None
        assert report.error[0] == "blocked-address"
        assert "inner.example" in report.error[1]


async def test_the_robots_txt_of_a_private_address_is_not_asked_for_either(tmp_path: Path) -> None:
    """GHSA-hm22-wg2m-35v4, GHSA-56fq-63vj-9992: every way of fetching goes through one gate."""
    behaviour = Behaviour("redirects", answer(), UNCHANGED, robots=redirect(b"http://127.0.0.2:@PORT@/robots.txt"))
    async with (
        Rig.at(tmp_path, network=ONE_ALLOWED) as rig,
        Site(behaviour) as site,
        Site(WELL, host="127.0.0.2", port=site.port) as inner,
    ):
        await rig.watch(site.url)
        await site.misbehave()

        (report,) = await rig.check()

        assert report.error is not None
        assert report.error[0] == "blocked-address"
        assert inner.connections == 0


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
