"""Lists and the table over HTTP: streamed, told line by line, whole or not at all."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from tests.server.api.talk import Api
from tocsin.errors import StoreError
from tocsin.server import bodies
from tocsin.server.access.limits import MOST_BYTES
from tocsin.server.bodies import IN_MEMORY, OneTable, write_table
from tocsin.server.imports import MOST_TOLD

PLAIN = b"# mine\nhttps://a.example/\nhttps://b.example/\nnot a url\nhttps://a.example/\n"
CSV = b"url,group,every\nhttps://a.example/,news,6h\nhttps://b.example/,news,soon\n"
OPML = b'<opml version="2.0"><body><outline text="x" type="link" url="https://a.example/"/></body></opml>'
SITEMAP = (
    b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/</loc></url></urlset>'
)
RESTLESS = "https://restless.example/0"


async def test_good_lines_are_taken_and_bad_ones_named_with_their_number(api: Api) -> None:
    answer = await api.call("POST", "/imports", PLAIN, headers={"content-type": "text/plain"})

    assert answer.status_code == 202
    job = await api.ended(answer.json())
    assert {key: job["result"][key] for key in ("taken", "added", "known", "refused")} == {
        "taken": True,
        "added": 2,
        "known": 1,
        "refused": 1,
    }
    (line,) = job["result"]["lines"]
    assert line.startswith("list:4: ")
    assert await api.audited() == ["pages.import"]


@pytest.mark.parametrize(("body", "kind"), [(PLAIN, "list"), (CSV, "csv"), (OPML, "opml"), (SITEMAP, "sitemap")])
async def test_every_format_is_recognised_or_named(api: Api, body: bytes, kind: str) -> None:
    for query in ("?dry_run=true", f"?format={kind}"):
        job = await api.ended(await api.do("POST", f"/imports{query}", body))
        assert job["result"]["added"] >= 1, job

    assert "https://a.example/" in await api.urls()


async def test_a_strict_import_takes_nothing_where_a_line_is_bad(api: Api) -> None:
    job = await api.ended(await api.do("POST", "/imports?strict=true", PLAIN))

    assert (job["result"]["taken"], job["result"]["refused"]) == (False, 1)
    assert await api.urls() == []


async def test_a_trial_takes_nothing_and_says_what_it_would(api: Api) -> None:
    job = await api.ended(await api.do("POST", "/imports?dry_run=true", PLAIN))

    assert (job["result"]["taken"], job["result"]["added"], job["result"]["refused"]) == (False, 3, 1)
    assert await api.urls() == []


async def test_of_a_list_of_nonsense_a_bounded_number_of_lines_is_told(api: Api) -> None:
    job = await api.ended(await api.do("POST", "/imports", b"nonsense\n" * 5000))

    assert (job["result"]["refused"], len(job["result"]["lines"])) == (5000, MOST_TOLD)


async def test_what_is_no_list_fails_with_the_reason(api: Api) -> None:
    job = await api.ended(await api.do("POST", "/imports?format=opml", b"<html></html>"))

    assert job["state"] == "failed"
    assert "OPML was expected" in job["error"]


async def test_a_group_that_cannot_be_is_refused_at_once(api: Api) -> None:
    assert (await api.refused("POST", "/imports", PLAIN, params={"group": "a\u202eb"}))["status"] == 422


async def test_a_list_larger_than_memory_should_hold_goes_through_a_file(api: Api) -> None:
    lines = b"".join(b"https://a.example/%d?%s\n" % (number, b"x" * 900) for number in range(IN_MEMORY // 800))
    assert len(lines) > IN_MEMORY

    job = await api.ended(await api.do("POST", "/imports?dry_run=true", lines))

    assert job["result"]["added"] == IN_MEMORY // 800


async def test_the_table_goes_out_and_in_and_is_the_same(busy: Api) -> None:
    table = (await busy.call("GET", "/table")).content
    assert table.count(b"\n") > 20

    problem = await busy.refused("PUT", "/table", table)
    job = await busy.do("PUT", "/table?replace=true", table)

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:has-states")
    assert (job["state"], job["result"]) == ("done", {"records": table.count(b"\n") - 1})
    assert (await busy.call("GET", "/table")).content == table


async def test_a_table_is_streamed_in_pieces(busy: Api) -> None:
    pieces = [piece async for piece in write_table(busy.store, piece_characters=500)]

    assert len(pieces) > 3
    assert b"".join(pieces) == (await busy.call("GET", "/table")).content


@pytest.mark.parametrize("end", [b"", b"nonsense", b"1 https://a.example/ x\n"])
async def test_a_malformed_table_is_refused_with_line_and_column_and_nothing_is_taken(busy: Api, end: bytes) -> None:
    before = (await busy.call("GET", "/table")).content
    head = before.partition(b"\n")[0] + b"\n" if end else b""

    problem = await busy.refused("PUT", "/table?replace=true", head + end)

    assert problem["status"] == 422
    assert problem["detail"].startswith("table:2:" if end else "table:1:1:")
    assert (await busy.call("GET", "/table")).content == before


async def test_pages_of_a_table_that_are_not_watched_are_added(busy: Api) -> None:
    table = (await busy.call("GET", "/table")).content
    await busy.ended(await busy.do("POST", "/pages/empty", {"confirm": "remove all pages"}))

    await busy.do("PUT", "/table", table)

    assert RESTLESS in await busy.urls("?limit=200")
    assert (await busy.call("GET", "/table")).content.count(b"\n") == table.count(b"\n")


async def test_the_table_is_given_to_one_reader_at_a_time(busy: Api) -> None:
    shared = OneTable(busy.rig.app.state.parts)
    busy.rig.app.state.table = shared
    async with aclosing(shared.pieces()) as held:
        await anext(held)
        problem = await busy.refused("GET", "/table")
    afterwards = await busy.call("GET", "/table")

    assert (problem["status"], problem["type"]) == (503, "urn:tocsin:problem:table-taken")
    assert afterwards.status_code == 200


async def test_who_takes_the_table_too_slowly_does_not_get_to_its_end(busy: Api) -> None:
    async with aclosing(OneTable(busy.rig.app.state.parts).pieces()) as pieces:
        await anext(pieces)
        await busy.rig.clock.advance(bodies.LONGEST_S + 1)
        with pytest.raises(StoreError, match="try again"):
            await anext(pieces)


async def test_json_that_would_hold_up_everybody_is_not_parsed(api: Api) -> None:
    body = b"[" + b"{}," * (2 * MOST_BYTES) + b"{}]"

    problem = await api.refused("POST", "/pages", body, headers={"Content-Type": "application/json"})

    assert (problem["status"], problem["detail"]) == (413, "at most 4 MiB here")
