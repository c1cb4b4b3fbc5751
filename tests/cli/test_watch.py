"""`tocsin watch`: adding, listing, changing and removing pages, with adaptive checking."""

from __future__ import annotations

import asyncio

import pytest

from tests.cli.calling import Installation
from tests.origin import Origin, Page
from tocsin.adapters.stores import open_store
from tocsin.model import KeptLogin, PageFilter

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
    [
        ("--header", "X-Team: a", "x-team: b", "x-team"),
        ("--cookie", "id=1", "id=2", "id"),
        ("--secret", "A=1", "A=2", "A"),
    ],
)
def test_a_header_cookie_or_secret_that_is_given_twice_is_refused(
    installation: Installation, option: str, first: str, second: str, name: str
) -> None:
    answer = installation.call("watch", "set", "--all", option, first, option, second)

    assert answer.status == 2
    assert f"{option}: {name} is given twice; leave one of them out" in answer.err


def test_steps_and_their_secrets_are_set_one_by_one_and_secrets_are_never_shown(installation: Installation) -> None:
    add(installation, A)

    steps = ("--step", "fill #user, #name USER", "--step", "press Enter")
    answer = installation.call("watch", "set", A, *steps, "--secret", "USER=ada=l", "--fetch", "browser")
    listed = installation.call("watch", "list").records[0]["settings"]

    assert answer.records[0]["set"]["secrets"] == {"USER": "***"}
    assert listed == {
        "fetch": "browser",
        "steps": ["fill #user, #name USER", "press Enter"],
        "secrets": {"USER": "***"},
    }
    refused = installation.call("watch", "set", A, "--step", "scroll", "--step", "press Return")
    assert "--step: pages.steps" in refused.err
    assert 'step 2, column 7: "Return" is no key; write one of Enter' in refused.err


def test_the_cookies_of_a_login_are_deleted_on_command(installation: Installation) -> None:
    add(installation, A, B)

    async def keep() -> None:
        async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False) as store:
            for page in await store.pages(PageFilter()):
                await store.keep_login(page.id, KeptLogin("[]", 0))

    async def kept() -> list[str]:
        async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False) as store:
            return [page.url for page in await store.pages(PageFilter()) if await store.login(page.id) is not None]

    asyncio.run(keep())
    answer = installation.call("watch", "set", A, "--forget-login")

    assert (answer.status, answer.records[0]["pages"]) == (0, 1)
    assert asyncio.run(kept()) == [B]


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


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("list",), [A]),
        (("set", "--every", "6h"), [1]),
        (("set", "--unset", "every"), [1]),
        (("remove", "--dry-run"), [1]),
    ],
)
def test_a_group_is_found_by_its_name_in_any_form_of_Unicode(
    installation: Installation, command: tuple[str, ...], found: list[object]
) -> None:
    add(installation, "--group", "caf\u00e9", A)
    add(installation, B)

    answer = installation.call("watch", *command, "--group", "cafe\u0301")

    assert answer.status == 0
    assert [record.get("url") or record.get("pages") for record in answer.records] == found


@pytest.mark.parametrize("command", [("list",), ("set", "--pause"), ("remove", "--yes"), ("export",)])
@pytest.mark.parametrize(("name", "mend"), [("newz", "did you mean news?"), ("nosuch", "groups are: main, news")])
def test_a_group_that_is_not_there_is_an_error_with_names_of_groups(
    installation: Installation, command: tuple[str, ...], name: str, mend: str
) -> None:
    add(installation, "--group", "news", A)

    answer = installation.call("watch", *command, "--group", name)

    assert (answer.status, answer.records) == (2, [])
    assert f"group {name}: no such group; {mend}" in answer.err
    assert urls_of(installation) == [A]


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


A, B = "https://example.org/a", "https://example.org/b"


def settings_of(installation: Installation, url: str) -> object:
    return next(record["settings"] for record in installation.call("watch", "list").records if record["url"] == url)


def test_a_page_is_made_adaptive_within_its_own_bounds(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--adaptive", "yes", "--every-min", "2h", "--every-max", "14d")
    installation.call("watch", "add", "--no-check", B)

    assert settings_of(installation, A) == {"adaptive": True, "every_min": "2h", "every_max": "14d"}
    assert settings_of(installation, B) == {}


def test_a_group_is_made_adaptive_and_a_page_of_it_is_not(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--group", "news")

    group = installation.call("watch", "set", "--group", "news", "--adaptive", "yes", "--every-max", "7d")
    installation.call("watch", "set", A, "--adaptive", "no")

    assert group.records[0]["set"] == {"adaptive": True, "every_max": "7d"}
    assert settings_of(installation, A) == {"adaptive": False}


def test_adaptive_checking_is_taken_back(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--adaptive", "yes")

    installation.call("watch", "set", A, "--unset", "adaptive")

    assert settings_of(installation, A) == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--every-min", "2d", "--every-max", "1d"), "the least interval is longer"),
        (("--adaptive", "yes", "--cron", "0 6 * * *"), "exclude each other"),
        (("--adaptive", "often"), "--adaptive: pages.adaptive"),
    ],
)
def test_what_cannot_hold_together_is_refused(installation: Installation, options: tuple[str, ...], words: str) -> None:
    answer = installation.call("watch", "add", "--no-check", A, *options)

    assert answer.status == 2
    assert words in answer.err


async def test_the_reason_for_the_next_check_is_stored_and_listed(installation: Installation) -> None:
    async with Origin() as site:
        url = site.url("/a")
        await asyncio.to_thread(installation.call, "watch", "add", "--no-check", url, "--adaptive", "yes")
        found = []
        for version in ("2024", "2024", "2025"):
            site.pages["/a"] = Page(f"<!doctype html><meta name=created content={version}><p>Text")
            await asyncio.to_thread(installation.call, "check", url)
            answer = await asyncio.to_thread(installation.call, "watch", "list")
            found.append(str(answer.records[0]["next_why"]))

    assert found[:2] == [
        "adaptive: nothing known yet; every 24h",
        "adaptive: changed in 0 of 1 checks; every 24h",
    ]
    assert found[2].startswith("adaptive: changed in 1 of 2 checks, about every ")


A, B = "https://example.org/a", "https://example.org/b"


def test_good_lines_are_taken_and_bad_ones_named_with_their_number(installation: Installation) -> None:
    file = installation.write("pages.txt", f"\ufeffURL\r\n{A}\r\nftp://x/\r\n{A}\r\nexample.org/b\r\n{B}\r\n")

    answer = installation.call("watch", "import", file)

    assert answer.status == 1
    told = {"file": file, "taken": True, "added": 2, "known": 1, "refused": 2, "sitemaps": 0}
    assert answer.records == [told]
    assert [line.split(": ")[0] for line in answer.err.splitlines()] == [f"{file}:3", f"{file}:5"]
    assert urls_of(installation) == [A, B]


@pytest.mark.parametrize("stdin", [False, True])
def test_strict_takes_nothing_if_a_line_is_bad(installation: Installation, stdin: bool) -> None:  # noqa: FBT001 - a parameter of the test
    text = f"{A}\nftp://x/\n"
    file = "-" if stdin else installation.write("pages.txt", text)

    answer = installation.call("watch", "import", "--strict", file, stdin=text)

    assert answer.status == 1
    assert answer.records[0]["taken"] is False
    assert f"{file}:2: " in answer.err


def test_a_dry_run_takes_nothing_and_tells_how_many_pages_it_could(installation: Installation) -> None:
    answer = installation.call("watch", "import", "--dry-run", "-", stdin=f"{A}\nftp://x/\n{B}\n")

    told = {"file": "-", "taken": False, "added": 2, "known": 0, "refused": 1, "sitemaps": 0}
    assert (answer.status, answer.records) == (1, [told])


def test_strict_takes_a_list_without_bad_lines(installation: Installation) -> None:
    answer = installation.call("watch", "import", "--strict", "-", stdin=f"{A}\n{B}\n")

    assert answer.status == 0
    assert urls_of(installation) == [A, B]


def test_an_empty_list_is_told_with_what_a_list_is(installation: Installation) -> None:
    answer = installation.call("watch", "import", installation.write("pages.txt", "\n# nothing\n"))

    assert answer.status == 1
    assert "contains no page; a list has one URL per line" in answer.err


def test_words_that_are_too_long_refuse_their_line_alone(installation: Installation) -> None:
    file = installation.write("pages.csv", f"url,text\n{A},{'x' * 254}\n{B},{'x' * 253}\n")

    answer = installation.call("watch", "import", file)

    assert answer.status == 1
    assert f"{file}:2: the text" in answer.err
    assert urls_of(installation) == [B]


def test_a_setting_that_cannot_be_refuses_its_line_alone(installation: Installation) -> None:
    file = installation.write("pages.csv", f"url,every\n{A},0s\n{B},6h\n")

    answer = installation.call("watch", "import", file)

    assert answer.status == 1
    assert f"{file}:2: settings: pages.every: found" in answer.err
    assert urls_of(installation) == [B]


def test_the_sitemaps_of_an_index_are_named_for_the_user_to_fetch(installation: Installation) -> None:
    text = "<sitemapindex><sitemap><loc>https://example.org/one.xml</loc></sitemap></sitemapindex>"

    answer = installation.call("watch", "import", installation.write("sitemap.xml", text))

    assert answer.status == 1
    assert "a sitemap, which is not fetched: https://example.org/one.xml" in answer.err


def test_a_file_that_is_not_there_is_refused(installation: Installation) -> None:
    answer = installation.call("watch", "import", "nowhere.txt")

    assert answer.status == 2
    assert "nowhere.txt: No such file" in answer.err


@pytest.mark.parametrize("kind", ["list", "csv", "opml"])
def test_what_was_exported_is_imported_as_it_was(installation: Installation, kind: str) -> None:
    installation.call("watch", "add", "--no-check", A, "--group", "news", "--text", '=1+1 "x" & <y>', "--every", "6h")
    installation.call("watch", "add", "--no-check", B)
    exported = installation.call("watch", "export", "--format", kind).out
    installation.call("watch", "clear", "--yes")

    answer = installation.call("watch", "import", "-", stdin=exported)

    assert answer.records[0]["added"] == 2
    page = installation.call("watch", "list", "--matching", "/a").records[0]
    expected = {
        "list": (None, "main", {}),
        "csv": ('=1+1 "x" & <y>', "news", {"every": "6h"}),
        "opml": ('=1+1 "x" & <y>', "news", {}),
    }
    assert (page["text"], page["group"], page["settings"]) == expected[kind]


def test_T64_secrets_leave_only_with_the_users_word(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", "https://user:s3cret@example.org/a", "--auth", "u:h1dden")

    plain = installation.call("watch", "export", "--format", "csv").out
    whole = installation.call("watch", "export", "--format", "csv", "--with-secrets").out

    assert "s3cret" not in plain
    assert "h1dden" not in plain
    assert "https://user:s3cret@example.org/a" in whole
    assert "h1dden" in whole


def test_an_export_into_a_file_is_whole_or_not_there(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    answer = installation.call("watch", "export", "--output", str(installation.folder / "out.txt"))

    assert answer.status == 0
    assert (installation.folder / "out.txt").read_text() == f"{A}\n"
    assert installation.call("watch", "export", "--output", str(installation.folder / "no" / "out.txt")).status == 2


def test_no_url_is_invented_where_a_quotation_mark_is_not_closed(installation: Installation) -> None:
    file = installation.write("pages.csv", f'url,text\n"{A}\n{B},w\n')

    answer = installation.call("watch", "import", file)

    assert answer.status == 1
    assert f"{file}:2: " in answer.err
    assert urls_of(installation) == [B]
