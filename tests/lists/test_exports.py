from __future__ import annotations

from typing import Any

import pytest

from tests.lists.exporting import APPLICATION, NEWS, ONE, TWO, A, B, archive, items, watch
from tocsin.errors import UsageError

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
