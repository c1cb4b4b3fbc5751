from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calling import Installation

A, B = "https://example.org/a", "https://example.org/b"


def urls_of(installation: Installation) -> list[str]:
    return [record["url"] for record in installation.call("watch", "list").records]


def test_good_lines_are_taken_and_bad_ones_named_with_their_number(installation: Installation) -> None:
    file = installation.write("pages.txt", f"\ufeffURL\r\n{A}\r\nftp://x/\r\n{A}\r\nexample.org/b\r\n{B}\r\n")

    answer = installation.call("watch", "import", file)

    assert answer.status == 1
    told = {"file": file, "taken": True, "pages": 3, "added": 2, "known": 1, "refused": 2, "sitemaps": 0}
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

    told = {"file": "-", "taken": False, "pages": 2, "added": 0, "known": 0, "refused": 1, "sitemaps": 0}
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
