from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.origin import Origin, Page

if TYPE_CHECKING:
    from tests.cli.calling import Installation

A, B = "https://example.org/a", "https://example.org/b"


def urls_of(installation: Installation, *arguments: str) -> list[str]:
    return [record["url"] for record in installation.call("watch", "list", *arguments).records]


def page_of(installation: Installation, url: str) -> dict[str, object]:
    return next(record for record in installation.call("watch", "list").records if record["url"] == url)


def add(installation: Installation, *arguments: str) -> None:
    assert installation.call("watch", "add", "--no-check", *arguments).status == 0


def test_a_page_that_was_added_is_listed(installation: Installation) -> None:
    answer = installation.call("watch", "add", "--no-check", A)

    assert answer.status == 0
    assert answer.records == [{"url": A, "added": True, "check": None}]
    assert urls_of(installation) == [A]


def test_adding_a_page_that_is_watched_already_changes_nothing_and_says_so(installation: Installation) -> None:
    add(installation, A)

    answer = installation.call("watch", "add", "--no-check", A, "--every", "6h")

    assert answer.status == 0
    assert "already watched" in answer.err
    assert answer.records[0]["added"] is False
    assert page_of(installation, A)["settings"] == {}


def test_nothing_is_added_beside_a_url_that_cannot_be_watched(installation: Installation) -> None:
    answer = installation.call("watch", "add", "--no-check", A, "ftp://example.org/")

    assert answer.status == 2
    assert "only http and https can" in answer.err
    assert installation.call("watch", "list").status == 3  # nothing was made


def test_T24_longer_words_are_refused_and_never_cut(installation: Installation) -> None:
    answer = installation.call("watch", "add", "--no-check", A, "--text", "x" * 254)

    assert answer.status == 2
    assert "253" in answer.err


@pytest.mark.parametrize("every", ["0", "0s", "365000d", "6", "whenever"])
def test_an_interval_that_cannot_be_is_refused(installation: Installation, every: str) -> None:
    answer = installation.call("watch", "add", "--no-check", A, "--every", every)

    assert answer.status == 2
    assert "--every: pages.every: found" in answer.err


def test_settings_of_a_page_are_listed_without_its_secrets(installation: Installation) -> None:
    add(installation, "https://user:pass@example.org/a", "--every", "6h", "--header", "Authorization: t0k3n")

    page = page_of(installation, A)

    assert page["settings"] == {"every": "6h", "headers": {"Authorization": "***"}}
    assert page["credentials"] is True
    assert "pass" not in str(page)


def test_T24_words_can_be_set_edited_and_deleted(installation: Installation) -> None:
    add(installation, A, "--text", "one")
    texts = [page_of(installation, A)["text"]]
    installation.call("watch", "set", A, "--text", "two")
    texts.append(page_of(installation, A)["text"])
    installation.call("watch", "set", A, "--clear-text")
    texts.append(page_of(installation, A)["text"])

    assert texts == ["one", "two", None]


def test_T52_awareness_can_be_disabled_for_all_pages_and_enabled_for_one(installation: Installation) -> None:
    add(installation, A, B)
    installation.call("watch", "set", "--all", "--mode", "off")
    installation.call("watch", "set", B, "--mode", "on")

    pages = {
        record["url"]: (record["mode"], record["mode_from"]) for record in installation.call("watch", "list").records
    }

    assert pages == {A: ("off", "all pages"), B: ("on", "page")}
    assert urls_of(installation, "--subject") == [B]


def test_T54_a_group_has_settings_of_its_own(installation: Installation) -> None:
    add(installation, A, "--group", "news")
    add(installation, B)

    answer = installation.call("watch", "set", "--group", "news", "--mode", "auto", "--tell", "major")

    assert answer.records == [
        {"scope": "group", "group": "news", "pages": 1, "set": {"mode": "auto", "tell": "major"}, "unset": []}
    ]
    assert page_of(installation, A)["mode_from"] == "group"
    assert page_of(installation, B)["mode"] == "on"


def test_what_was_set_can_inherit_again(installation: Installation) -> None:
    add(installation, A, "--every", "6h", "--tries", "5")

    installation.call("watch", "set", A, "--unset", "every")

    assert page_of(installation, A)["settings"] == {"tries": 5}


def test_an_interval_takes_the_place_of_a_cron_expression(installation: Installation) -> None:
    add(installation, A, "--cron", "0 6 * * *")

    installation.call("watch", "set", A, "--every", "6h")

    assert page_of(installation, A)["settings"] == {"every": "6h"}


def test_pages_are_paused_and_resumed(installation: Installation) -> None:
    add(installation, A, B)
    installation.call("watch", "set", A, "--pause")
    paused = urls_of(installation, "--paused")
    installation.call("watch", "set", "--all", "--resume")

    assert paused == [A]
    assert urls_of(installation, "--paused") == []


def test_pages_move_to_another_group(installation: Installation) -> None:
    add(installation, A, B)

    installation.call("watch", "set", B, "--move-to", "news")

    assert urls_of(installation, "--group", "news") == [B]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([A], "nothing to set"),
        (["--mode", "off"], "name pages, or give"),
        ([A, "--all", "--mode", "off"], "name pages, or give"),
        ([A, "--every", "6h", "--cron", "0 6 * * *"], "exclude each other"),
        ([A, "--text", "x", "--clear-text"], "exclude each other"),
        ([A, "--unset", "evry"], "the nearest known key is pages.every"),
        ([A, "--unset", "every", "--every", "6h"], "set and unset at the same time; leave one of them out"),
        (["--group", "nowhere", "--mode", "off"], "no such group; groups are: main"),
        ([B, "--mode", "off"], f"{B}: not watched; add it with: tocsin watch add {B}"),
    ],
)
def test_a_call_that_cannot_be_meant_is_refused_with_the_mend(
    installation: Installation, arguments: list[str], word: str
) -> None:
    add(installation, A)

    answer = installation.call("watch", "set", *arguments)

    assert answer.status == 2
    assert word in answer.err


def test_the_list_is_filtered(installation: Installation) -> None:
    add(installation, A, B, "https://example.net/a")

    assert urls_of(installation, "--host", "example.net") == ["https://example.net/a"]
    assert urls_of(installation, "--matching", "/b") == [B]
    assert urls_of(installation, "--limit", "2") == [A, B]
    assert urls_of(installation, "--topper") == []


def test_removing_needs_a_yes_where_nobody_can_be_asked(installation: Installation) -> None:
    add(installation, A)

    answer = installation.call("watch", "remove", A)

    assert answer.status == 2
    assert "--yes" in answer.err
    assert urls_of(installation) == [A]


def test_a_dry_run_removes_nothing(installation: Installation) -> None:
    add(installation, A, B)

    answer = installation.call("watch", "clear", "--dry-run")

    assert answer.records == [{"pages": 2, "removed": 0, "dry_run": True}]
    assert urls_of(installation) == [A, B]


def test_T53_the_list_can_be_edited_and_emptied(installation: Installation) -> None:
    add(installation, A, B)
    installation.call("watch", "remove", A, "--yes")
    left = urls_of(installation)
    answer = installation.call("watch", "clear", "--yes")

    assert left == [B]
    assert answer.records == [{"pages": 1, "removed": 1, "dry_run": False}]
    assert urls_of(installation) == []


def test_removing_without_saying_what_is_refused(installation: Installation) -> None:
    add(installation, A)

    assert installation.call("watch", "remove", "--yes").status == 2
    assert installation.call("watch", "remove", A, "--group", "main", "--yes").status == 2


def test_removing_a_page_that_is_not_watched_is_refused(installation: Installation) -> None:
    add(installation, A)

    assert installation.call("watch", "remove", B, "--yes").status == 2


@pytest.mark.parametrize("given", [("--text", "new"), ("--clear-text",), ("--move-to", "main")])
def test_what_was_written_on_many_pages_is_overwritten_only_on_a_word(
    installation: Installation, given: tuple[str, ...]
) -> None:
    add(installation, A, B, "--group", "news", "--text", "old")

    unasked = installation.call("watch", "set", "--all", *given)
    looked = installation.call("watch", "set", "--all", "--dry-run", *given)
    before = [(page["text"], page["group"]) for page in installation.call("watch", "list").records]
    done = installation.call("watch", "set", "--all", "--yes", *given)

    assert (unasked.status, looked.status, done.status) == (2, 0, 0)
    assert "2 pages" in unasked.err
    assert (looked.records[0]["pages"], looked.records[0]["dry_run"]) == (2, True)
    assert before == [("old", "news")] * 2
    assert [(page["text"], page["group"]) for page in installation.call("watch", "list").records] != before


def test_settings_of_many_pages_need_no_word(installation: Installation) -> None:
    add(installation, A)

    assert installation.call("watch", "set", "--all", "--pause").status == 0


def test_a_page_is_not_paused_and_resumed_at_once(installation: Installation) -> None:
    add(installation, A)

    answer = installation.call("watch", "set", A, "--pause", "--resume")

    assert answer.status == 2
    assert "exclude each other" in answer.err


@pytest.mark.parametrize(
    ("option", "first", "second", "name"),
    [("--header", "X-Team: a", "x-team: b", "x-team"), ("--cookie", "id=1", "id=2", "id")],
)
def test_a_header_or_cookie_that_is_given_twice_is_refused(
    installation: Installation, option: str, first: str, second: str, name: str
) -> None:
    answer = installation.call("watch", "set", "--all", option, first, option, second)

    assert answer.status == 2
    assert f"{option}: {name} is given twice; leave one of them out" in answer.err


async def test_adding_a_page_again_tries_it_where_it_was_never_received(installation: Installation) -> None:
    async with Origin() as site:
        site.pages["/a"] = Page("<!doctype html><title>x</title>")
        installation.write("tocsin.toml", '[pages]\ntries = 0\nmin_gap = "0s"\n[hosts]\ndelay = "0s"\n')
        refused = await asyncio.to_thread(installation.call, "watch", "add", site.url("/a"))
        installation.configure("")
        again = await asyncio.to_thread(installation.call, "watch", "add", site.url("/a"))
        known = await asyncio.to_thread(installation.call, "watch", "add", site.url("/a"))

    assert refused.records[0]["check"]["outcome"] == "unreachable"
    assert 'write this line below [network]: allow = [\\"127.0.0.0/8\\"]' in refused.out
    assert (again.records[0]["added"], again.records[0]["check"]["outcome"]) == (False, "first")
    assert "tried again" in again.err
    assert (known.records[0]["check"], "tried again" in known.err) == (None, False)


def test_a_group_that_differs_only_in_capitals_is_refused_with_the_name_to_write(installation: Installation) -> None:
    add(installation, "--group", "News", A)

    answer = installation.call("watch", "add", "--no-check", "--group", "NEWS", B)

    assert (answer.status, urls_of(installation)) == (2, [A])
    assert "group NEWS: the group News differs only in capitals; write News" in answer.err


def test_one_name_in_two_forms_of_Unicode_is_one_group(installation: Installation) -> None:
    add(installation, "--group", "caf\u00e9", A)
    add(installation, "--group", "cafe\u0301", B)

    assert {page_of(installation, url)["group"] for url in (A, B)} == {"caf\u00e9"}


def test_a_list_with_such_a_group_is_taken_but_for_those_lines(installation: Installation) -> None:
    add(installation, "--group", "News", A)
    file = installation.write("pages.csv", f"url,group\n{B},NEWS\n{B}c,other\n{B}d,Other\n{B}e,News\n")

    answer = installation.call("watch", "import", file)

    assert answer.status == 1
    assert sorted(urls_of(installation)) == [A, f"{B}c", f"{B}e"]
    assert f"{file}:2: group NEWS: the group News differs only in capitals" in answer.err
    assert f"{file}:4: group Other: the group other differs only in capitals" in answer.err


def test_a_declared_list_with_such_a_group_changes_nothing(installation: Installation) -> None:
    add(installation, "--group", "News", A)
    file = installation.write("pages.toml", f'[[pages]]\nurl = "{B}"\ngroup = "news"\n')

    answer = installation.call("apply", file, "--yes")

    assert (answer.status, urls_of(installation)) == (2, [A])
    assert "group news: the group News differs only in capitals" in answer.err
