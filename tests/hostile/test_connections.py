"""Misbehaving servers: each page is what was said to its own request, or a failure of the right kind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from tests.builders import html
from tests.hostile.behaviour import UNCHANGED, Answer, Behaviour, Ending
from tests.hostile.leaks import leaving_nothing_behind
from tests.hostile.meeting import Met, meet, meet_unknown
from tests.hostile.rig import Rig
from tests.hostile.site import NO_ROBOTS, Site
from tests.hostile.size_table import SIZES
from tests.hostile.tables import BEHAVIOURS
from tests.hostile.tree_table import TREES
from tests.hostile.wording import CHUNKED, END, GOOD_PAGE, OK, TYPE, answer, chunks, in_pieces
from tocsin.settings import HostSettings
from tocsin.spec.topper.state import FIELDS

OTHER_PAGE = html(created="2030-01-01")
POISON = answer(html(created="1999-09-09"))
SIZED = answer(GOOD_PAGE)
IN_CHUNKS = chunks(GOOD_PAGE)
PAUSE_S = 10.0
"""Between requests to a host: far longer than anything takes here, and shorter than an idle connection is kept."""
KEPT_ALIVE = answer(GOOD_PAGE, b"Connection: keep-alive", start=b"HTTP/1.0 200 OK\r\n")


def later(said: bytes, rest: bytes) -> Answer:
    """An answer, and more a moment later: when its connection lies idle already."""
    return in_pieces([said, rest], pause_s=0.05)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(SIZED + POISON, id="an answer behind a length"),
        pytest.param(later(SIZED, POISON), id="an answer behind a length, later"),
        pytest.param(IN_CHUNKS + POISON, id="an answer behind chunks"),
        pytest.param(later(IN_CHUNKS, POISON), id="an answer behind chunks, later"),
        pytest.param(later(KEPT_ALIVE, POISON), id="an answer behind HTTP/1.0, later"),
        pytest.param(later(SIZED, POISON[:40]), id="half an answer, later"),
        pytest.param(later(SIZED, b"HTTP/1.1 100 Continue\r\n\r\n"), id="a provisional answer, later"),
        pytest.param(later(SIZED, b"\r\n\r\n"), id="empty lines, later"),
        pytest.param(later(SIZED, b"\0" * 100_000), id="NULs, later"),
        pytest.param(
            OK + TYPE + CHUNKED + CHUNKED + END + IN_CHUNKS.partition(END + END)[2] + POISON, id="chunked twice"
        ),
        pytest.param(SIZED.replace(b"Content-L", b"Content-Length: 5\r\nContent-L", 1) + POISON, id="two lengths"),
        pytest.param(SIZED.replace(b"Content-L", CHUNKED + b"Content-L", 1) + POISON, id="chunks and a length"),
        pytest.param(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n" + POISON, id="a 304 with a length"),
        pytest.param(b"HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n" + POISON, id="a 204 with a length"),
        pytest.param(b"HTTP/1.1 404 No\r\nContent-Length: 5\r\n\r\nhello" + POISON, id="an answer behind an error"),
        pytest.param(later(NO_ROBOTS, POISON), id="an answer behind an error, later"),
    ],
)
async def test_what_nobody_asked_for_is_no_answer(
    page: Answer, tmp_path: Path, hasten: Callable[[float], None]
) -> None:
    behaviour = Behaviour("poisons", page, UNCHANGED, paths={"/second": answer(OTHER_PAGE)}, keep=True)
    # The next request comes when all that was sent has come, on whatever machine.
    hosts = HostSettings(concurrency=1, delay=timedelta(seconds=PAUSE_S))
    async with leaving_nothing_behind(), Rig.at(tmp_path, hosts=hosts) as rig, Site(behaviour) as site:
        await site.misbehave()
        site.on_answered = partial(hasten, PAUSE_S)
        second = site.url.replace("/page", "/second")
        await rig.watch(site.url, second)

        await rig.check()

        assert [path for path, _ in site.heads] == ["/robots.txt", "/page", "/second"]
        assert await created(rig, second) == "2030-01-01"
        assert await created(rig, site.url) in {"2026-01-01", None}


async def created(rig: Rig, url: str) -> str | None:
    """What the page's state says of its creation; None also where there is no state."""
    page = await rig.page(url)
    return dict(zip(FIELDS, page.state.fields, strict=True))["created"] if page.state.fields else None


LEAST = 120
"""Behaviours, at least."""


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
async def test_a_misbehaving_server_has_its_end(
    behaviour: Behaviour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    async with leaving_nothing_behind():
        met = await meet(behaviour, tmp_path)

    assert_ended(met, behaviour.ends)
    if not behaviour.ends.is_received:
        assert met.after == met.before
    assert list(temporary.iterdir()) == []
    assert met.grown <= behaviour.max_wire + behaviour.max_body + behaviour.spare


@pytest.mark.parametrize("behaviour", [*SIZES, *TREES], ids=lambda behaviour: behaviour.name)
async def test_a_server_that_misbehaves_at_first_sight_has_its_end(behaviour: Behaviour, tmp_path: Path) -> None:
    async with leaving_nothing_behind():
        report, page, grown = await meet_unknown(behaviour, tmp_path)

    if behaviour.ends.kind is not None:
        assert (report.outcome, report.error and report.error[0]) == ("unreachable", behaviour.ends.kind)
        assert page.state.fields is None
    else:
        assert (report.outcome, report.error) == ("first", None)
    assert grown <= behaviour.max_wire + behaviour.max_body + behaviour.spare


def test_each_behaviour_has_a_name_of_its_own() -> None:
    names = [behaviour.name for behaviour in BEHAVIOURS]

    assert len(set(names)) == len(names) > LEAST


def assert_ended(met: Met, ends: Ending) -> None:
    """Compare an end with the one that the behaviour must come to."""
    report = met.report
    kind = report.error[0] if report.error else None
    assert (report.outcome, kind) == (ends.outcome, ends.kind), report
    if ends.status is not None:
        assert report.status == ends.status
    if ends.problem is not None:
        assert ends.problem in (report.problem or "")
    if ends.held is not None:
        assert ends.held[0] <= met.held_s <= ends.held[1]
    if ends.fields is not None:
        declared = zip(FIELDS, met.page.state.fields or (), strict=True)
        assert {name: value for name, value in declared if value is not None} == ends.fields
