"""Exports of other programs, and hostile archives."""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import struct
import tempfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lists.exporting import APPLICATION, NEWS, ONE, TWO, A, B, archive, items, watch
from tocsin.errors import TocsinError, UsageError
from tocsin.lists.importing import Reader, Tally

SET = watch(
    A,
    title="The page",
    tags=[NEWS],
    paused=True,
    time_between_check_use_default=False,
    time_between_check={"weeks": None, "days": 1, "hours": 2, "minutes": "30", "seconds": 0},
    include_filters=["main"],
    subtractive_selectors=[".advert", "#clock"],
    headers={"Accept-Language": "de", "Range": "bytes=0-1", "X": "a\r\nb"},
)
SAID = {"every": "1590m", "look_at": "main", "ignore": ".advert, #clock", "headers": '{"Accept-Language" = "de"}'}
OLD = {"watching": {ONE: SET, TWO: watch(B, tag="News, Other")}, **APPLICATION}
BACKUP = {"changedetection.json": APPLICATION, f"{ONE}/watch.json": SET, f"{ONE}/history.txt": b"x", "secret.txt": b"s"}


@pytest.mark.parametrize(
    "export",
    [OLD, archive({"url-watches.json": OLD}), archive(BACKUP), archive({**BACKUP, "url-watches.json": OLD})],
    ids=["its list", "an old backup", "a backup", "a backup with what was left behind"],
)
def test_a_watch_is_taken_over_with_what_has_a_counterpart(export: Any) -> None:
    kind, entries, refused, _ = items(export)

    first = entries[0]
    assert (kind, refused) == ("changedetection", [])
    assert (first.url, first.text, first.group, first.paused) == (A, "The page", "News", True)
    assert first.settings == SAID


def test_what_the_api_lists_and_a_single_watch_are_taken_over() -> None:
    _, listed, _, _ = items({ONE: {"url": A, "title": "The page", "last_changed": 0}, TWO: {"url": B}})
    _, single, _, _ = items(watch(B))

    assert [(entry.url, entry.text) for entry in listed] == [(A, "The page"), (B, None)]
    assert [entry.url for entry in single] == [B]


def test_a_tag_of_a_folder_of_its_own_is_known_by_its_title() -> None:
    _, (entry,), _, _ = items(archive({f"{ONE}/watch.json": watch(tags=[NEWS]), f"{NEWS}/tag.json": {"title": "News"}}))

    assert entry.group == "News"


def test_what_has_no_counterpart_is_named_with_how_many_had_it() -> None:
    named = items(
        {
            ONE: watch(fetch_backend="html_webdriver", trigger_text=["x"], include_filters=["xpath://h1"]),
            TWO: watch(B, trigger_text=["y"], tags=["a", "b"], method="POST", time_schedule_limit={"enabled": True}),
        }
    )[3]

    assert named == [
        f"{key} of {of}: no counterpart here; left out"
        for key, of in (
            ("fetch_backend", "1 watch"), ("trigger_text", "2 watches"), ("include_filters", "1 watch"),
            ("method", "1 watch"), ("time_schedule_limit", "1 watch"), ("further tags", "1 watch"),
        )
    ]  # fmt: skip


def test_a_watch_of_which_nothing_was_set_names_nothing() -> None:
    _, (entry,), refused, named = items({ONE: watch()})

    assert (entry.settings, entry.group, entry.paused, refused, named) == ({}, None, False, [], [])


def test_a_list_of_urls_with_tags_behind_them_is_taken_over() -> None:
    kind, entries, _, named = items(f"{A} News, Other\r\n{B}\r\n{A} ['{NEWS}']\r\n".encode())

    assert (kind, [(entry.url, entry.group) for entry in entries]) == ("list", [(A, "News"), (B, None), (A, None)])
    assert named == ["further tags (Other): no counterpart here; left out"]


def test_a_comment_behind_a_url_is_no_tag() -> None:
    _, (entry,), refused, named = items(f"{A}   # the news, mostly\n".encode())

    assert (entry.url, entry.group, refused, named) == (A, None, [], [])


MONITOR = {
    "name": "Prices",
    "uri": A,
    "tags": ["shop"],
    "state": 40,
    "schedule": '{"type": "INTERVAL", "params": {"interval": 21600}}',
    "config": '{"selections": [{"frames": [{"index": 0, "includes": [{"type": "css", "expr": "#price"}], '
    '"excludes": [{"type": "css", "expr": ".advert"}]}], "dynamic": true}]}',
}


def test_a_monitor_of_distill_is_taken_over() -> None:
    kind, (entry,), refused, named = items({"client": {"local": 1}, "data": [MONITOR]})

    assert (kind, refused, named) == ("distill", [], [])
    assert (entry.url, entry.text, entry.group, entry.paused) == (A, "Prices", "shop", False)
    assert entry.settings == {"every": "6h", "look_at": "#price", "ignore": ".advert"}


def test_what_a_monitor_has_without_a_counterpart_is_named() -> None:
    config = '{"selections": [{"frames": [{"includes": [{"type": "xpath", "expr": "//h1"}]}]}]}'
    odd = {**MONITOR, "config": config, "schedule": '{"type": "CRON"}', "state": 30, "tags": "a,b", "enabled": False}

    _, (entry,), _, named = items({"data": [odd]})

    assert (entry.group, entry.paused, entry.settings) == ("a", True, {})
    assert [told.partition(" of ")[0] for told in named] == ["further tags", "schedule", "state 30", "includes"]


@pytest.mark.parametrize(
    ("export", "kind", "told"),
    [
        ({"x": 1}, None, "JSON that lists no pages; known are exports of changedetection.io"),
        ({"pages": []}, None, "a declared list; look at it with: tocsin plan"),
        (APPLICATION, None, "settings of changedetection.io without its watches"),
        (b'{"watching": {', None, "not JSON, or cut off"),
        ({"watching": {}}, "distill", "no export of Distill"),
        (b"https://example.org/", "distill", "not JSON, or cut off"),
        (archive({"readme.txt": b"x"}), None, "no backup of changedetection.io"),
    ],
)
def test_what_is_no_such_export_is_refused_with_the_mend(export: Any, kind: str | None, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        items(export, kind=kind)

    assert told in str(refused.value)


@pytest.mark.parametrize(
    "broken", [[], {"url": 3}, {"url": A, "tags": {"a": 1}, "headers": [], "time_between_check": "often"}, None, "x"]
)
def test_a_watch_of_strange_values_spoils_no_other(broken: Any) -> None:
    _, entries, _, _ = items({"watching": {ONE: broken, TWO: watch(B)}})

    assert entries[-1].url == B
    assert all(entry.settings == {} for entry in entries)


GOOD = {f"{TWO}/watch.json": watch(B)}


def taken(body: bytes) -> tuple[list[str], list[str]]:
    """Take an export as the import does; returns the URLs of its pages, and what was said."""
    said: list[str] = []
    reader = Reader("export", None, "main", tally=Tally(), say=said.append)
    return [page.url for page in reader.pages(io.BytesIO(body))], said


@pytest.mark.parametrize(
    "name",
    [
        f"../{ONE}/watch.json",
        f"/{ONE}/watch.json",
        f"{ONE}/../../watch.json",
        f"C:\\{ONE}\\watch.json",
        "..\\..\\x",
        "../../x",
    ],
)
def test_CVE_2026_29065_a_name_that_leads_out_of_the_archive_leads_nowhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    urls, said = taken(archive({name: watch(A), **GOOD}))

    assert urls == [B]
    assert any("it is not read" in line for line in said)
    assert [path.name for path in tmp_path.rglob("*")] == ["here"]


def test_CVE_2026_29065_a_link_in_an_archive_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(json.dumps(watch(A)))
    link = zipfile.ZipInfo(f"{ONE}/watch.json")
    link.external_attr = 0o120777 << 16
    body = io.BytesIO(archive(GOOD))
    with zipfile.ZipFile(body, "a") as made:
        made.writestr(link, str(tmp_path / "secret"))

    urls, said = taken(body.getvalue())

    assert urls == [B]
    assert any("a link; it is not followed" in line for line in said)


@pytest.mark.parametrize("megabytes", [9, 40])
def test_GHSA_8757_69j2_hx56_a_bomb_is_not_unpacked(megabytes: int) -> None:
    bomb = archive({f"{ONE}/watch.json": b" " * (megabytes * 2**20), **GOOD})
    tracemalloc.start()
    try:
        urls, said = taken(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert urls == [B]
    assert any("compressed more than 200 times" in line or "larger than 10 MiB" in line for line in said)
    assert peak < 4 * 2**20


def test_GHSA_8757_69j2_hx56_sizes_that_an_archive_claims_are_not_believed() -> None:
    body = bytearray(archive({f"{ONE}/watch.json": b"[" + b"1," * 300_000 + b"1]", **GOOD}))
    entry = body.find(b"PK\x01\x02")
    body[entry + 24 : entry + 28] = struct.pack("<L", 10)

    urls, said = taken(bytes(body))

    assert urls == [B]
    assert any(ONE in line for line in said)


def test_an_archive_with_more_names_than_a_backup_is_refused_before_they_are_read() -> None:
    body = bytearray(archive(GOOD))
    end = body.rfind(b"PK\x05\x06")
    body[end + 12 : end + 16] = struct.pack("<L", 2**31)

    with pytest.raises(UsageError, match="more files than a backup"):
        taken(bytes(body))


@pytest.mark.parametrize("kept", [4, 60, 0.5, 0.95])
def test_an_archive_that_is_cut_off_is_refused_with_the_mend(kept: float) -> None:
    body = archive({f"{ONE}/watch.json": watch(A), **GOOD})

    with pytest.raises(UsageError, match="get the file again"):
        taken(body[: int(kept * len(body)) if kept < 1 else int(kept)])


def test_a_bit_that_turned_over_spoils_one_watch() -> None:
    body = bytearray(archive({f"{ONE}/watch.json": watch(A), **GOOD}, compression=zipfile.ZIP_STORED))
    body[body.find(b"example.org/a") + 3] ^= 1

    urls, said = taken(bytes(body))

    assert urls == [B]
    assert any("cannot be read" in line for line in said)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_watches_with_one_id_the_first_is_taken() -> None:
    body = io.BytesIO(archive({f"{ONE}/watch.json": watch(A)}))
    with zipfile.ZipFile(body, "a") as made:
        made.writestr(f"{ONE}/watch.json", json.dumps(watch(B)))
        made.writestr(f"{ONE.upper()}/watch.json", json.dumps(watch(B)))

    urls, said = taken(body.getvalue())

    assert urls == [A]
    assert [reason.split(": ", 1)[1] for reason in said] == [
        f"'{ONE}/watch.json': is there twice; the first one is read", f"a second watch with the id '{ONE.upper()}'",
    ]  # fmt: skip


def test_a_backup_of_a_later_version_is_taken_as_far_as_it_is_known() -> None:
    later: dict[str, Any] = {"settings": {"application": {"schema_version": 999}}}

    _, entries, _, named = items(archive({"changedetection.json": later, **GOOD}))

    assert [entry.url for entry in entries] == [B]
    assert "schema_version 999" in named[0]


@pytest.mark.parametrize("processor", ["../../../../tmp/x", "os.system", 7, {"a": 1}, "restock_diff"])
def test_GHSA_mh42_m7cg_49fr_a_processor_of_an_import_names_no_file_and_no_module(processor: Any) -> None:
    _, (entry,), refused, named = items({ONE: watch(processor=processor)})

    assert (entry.settings, refused) == ({}, [])
    assert named == ["processor of 1 watch: no counterpart here; left out"]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "source:file:///etc/passwd",
        "source: source:javascript:alert(1)",
        "javascript:alert(1)",
        "//x/",
        "",
    ],
)
def test_CVE_2024_51483_an_import_judges_urls_as_every_command_does(url: str) -> None:
    urls, said = taken(archive({f"{ONE}/watch.json": watch(url), **GOOD}))

    assert urls == [B]
    assert len([line for line in said if line.startswith("export:1: ")]) >= 1


@pytest.mark.parametrize("url", ["https://example.org/{{ 7*7 }}", "https://example.org/{% x %}"])
def test_CVE_2024_32651_a_template_is_never_carried_out(url: str) -> None:
    _, entries, refused, _ = items({ONE: watch(url)})

    assert entries == []
    assert "a URL with a template in it" in refused[0]


@pytest.mark.parametrize("interval", [-1, 1e309, 10**30, "often", True, float("nan"), "9" * 4000, []])
def test_an_interval_that_is_none_breaks_nothing(interval: Any) -> None:
    body = json.dumps({ONE: watch(time_between_check_use_default=False, time_between_check={"days": interval})})

    _, (entry,), _, _ = items(body.replace("NaN", "0").replace("Infinity", "0").encode())

    assert entry.settings.get("every", "3650d") == "3650d"


def test_an_archive_of_nothing_but_hostile_names_is_given_up() -> None:
    with pytest.raises(UsageError, match="100 files that no backup has, and more"):
        taken(archive({f"../{number}": b"" for number in range(101)}))


def test_selectors_and_headers_without_end_are_left_out() -> None:
    endless = watch(include_filters=["a" * 5000], subtractive_selectors=["b"] * 3000, headers={"X-A": "c" * 5000})

    _, (entry,), _, named = items({ONE: endless})

    assert entry.settings == {}
    assert [told.partition(" of ")[0] for told in named] == ["include_filters", "subtractive_selectors"]


def test_json_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="not JSON, or cut off"):
        items(b'{"a":' * 200_000)


def test_titles_and_tags_cannot_hold_what_ours_cannot() -> None:
    urls, said = taken(
        json.dumps({ONE: watch(A, title="x" * 300 + "\n\0", tags=["\u202eevil"]), TWO: watch(B)}).encode()
    )

    assert urls == [B]
    assert "printable characters" in said[0]


LARGE = archive({"history.txt": random.Random(1).randbytes(3 * 2**20), **GOOD})  # noqa: S311 - only has to be incompressible


@pytest.fixture
def small_disk() -> Iterator[None]:
    """Let no file grow over 2 MiB, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * 2**20, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_disk")
def test_an_archive_that_lies_in_a_file_is_read_there_and_wants_no_room_of_its_own() -> None:
    assert taken(LARGE)[0] == [B]


@pytest.mark.usefixtures("small_disk")
def test_no_room_for_a_copy_of_an_archive_is_said_with_the_place_and_the_mend() -> None:
    with pytest.raises(TocsinError) as told:
        taken(gzip.compress(LARGE, 1))

    assert not isinstance(told.value, UsageError)
    assert str(told.value).startswith(f"export: no room for a copy of the archive in {tempfile.gettempdir()} (File too")
    assert "; free some there, " in str(told.value)


@pytest.mark.parametrize("escaped", ["url", "\\u0075rl"])
def test_a_key_that_is_there_twice_is_named_and_neither_value_is_guessed(escaped: str) -> None:
    twice = f'{{"url": "{A}", "headers": {{}}, "{escaped}": "{B}"}}'.encode()

    with pytest.raises(UsageError, match="the key 'url' is there twice in one object; leave one of them out"):
        taken(b'{"watching": {"' + ONE.encode() + b'": ' + twice + b"}}")
    urls, said = taken(archive({f"{ONE}/watch.json": twice, **GOOD}))

    assert urls == [B]
    assert said[0].endswith("the key 'url' is there twice in one object; leave one of them out")
