from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.calling import Answer, Installation

A, B, C = "https://example.org/a", "https://example.org/b", "https://example.net/c"
FILE = f"""
[all]
every = "12h"
[groups.news]
tell = "major"
[[pages]]
url = "{A}"
group = "news"
text = "mine"
every = "1h"
[[pages]]
url = "{B}"
paused = true
"""
NOTHING = {"pages": {"added": 0, "changed": 0, "removed": 0}, "settings": 0}


def summary(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = answer.records[-1]
    return found


def pages(installation: Installation) -> dict[str, dict[str, Any]]:
    return {record["url"]: record for record in installation.call("watch", "list").records}


def changes(answer: Answer, name: str) -> dict[str, tuple[Any, Any]]:
    (found,) = (record for record in answer.records[:-1] if name in (record["url"], record["group"]))
    return {change["key"]: (change["previous"], change["latest"]) for change in found["changes"]}


def test_a_plan_shows_what_would_change_and_changes_nothing(installation: Installation) -> None:
    answer = installation.call("plan", installation.write("pages.toml", FILE))

    assert answer.status == 0
    assert [(record["change"], record["scope"]) for record in answer.records[:-1]] == [
        ("changed", "all"), ("added", "group"), ("added", "page"), ("added", "page"),
    ]  # fmt: skip
    assert changes(answer, A) == {"group": (None, "news"), "text": (None, "mine"), "every": (None, "1h")}
    assert summary(answer) == {"pages": {"added": 2, "changed": 0, "removed": 0}, "settings": 2, "applied": False}
    assert not (installation.folder / "tocsin.db").exists()


def test_applying_makes_the_store_what_the_file_says_and_a_second_time_changes_nothing(
    installation: Installation,
) -> None:
    file = installation.write("pages.toml", FILE)

    first, second = installation.call("apply", file), installation.call("apply", file)

    listed = pages(installation)
    assert (listed[A]["group"], listed[A]["text"], listed[A]["settings"]) == ("news", "mine", {"every": "1h"})
    assert (listed[B]["group"], listed[B]["paused"]) == ("main", True)
    assert summary(first) == {"pages": {"added": 2, "changed": 0, "removed": 0}, "settings": 2, "applied": True}
    assert second.records == [{**NOTHING, "applied": True}]
    shown = installation.call("doctor").records
    assert {"key": "pages.every", "value": "12h", "origin": "all pages"} in shown


def test_a_line_that_is_taken_out_of_the_file_takes_effect(installation: Installation) -> None:
    installation.call("apply", installation.write("pages.toml", FILE))
    less = installation.write("less.toml", f'[all]\n[groups.news]\n[[pages]]\nurl = "{A}"\nevery = "2h"\n')

    answer = installation.call("apply", less)

    assert changes(answer, A) == {"group": ("news", "main"), "text": ("mine", None), "every": ("1h", "2h")}
    assert changes(answer, "news") == {"tell": ("major", None)}
    page = pages(installation)[A]
    assert (page["group"], page["text"], page["settings"]) == ("main", None, {"every": "2h"})


def test_what_a_file_does_not_name_stays(installation: Installation) -> None:
    installation.call("apply", installation.write("pages.toml", FILE))
    installation.call("watch", "set", B, "--auth", "me:secret")

    answer = installation.call("apply", installation.write("other.toml", f'pages = ["{B}", "{C}"]'))

    assert summary(answer)["pages"] == {"added": 1, "changed": 0, "removed": 0}
    listed = pages(installation)
    assert list(listed) == [A, B, C]
    assert (listed[B]["paused"], listed[B]["settings"], listed[A]["text"]) == (True, {"auth": "***"}, "mine")


def test_pages_are_removed_only_where_that_is_asked_for(installation: Installation) -> None:
    installation.call("apply", installation.write("pages.toml", FILE))
    pruned = installation.write("pruned.toml", f'prune = true\npages = ["{A}"]')

    kept = installation.call("plan", "--no-prune", pruned)
    planned = installation.call("plan", pruned)
    unasked = installation.call("apply", pruned)
    still = pages(installation)
    done = installation.call("apply", "--yes", pruned)

    assert summary(kept)["pages"]["removed"] == 0
    assert [record["url"] for record in planned.records if record.get("change") == "removed"] == [B]
    assert (unasked.status, list(still)) == (2, [A, B])
    assert "--yes" in unasked.err
    assert (summary(done)["pages"]["removed"], list(pages(installation))) == (1, [A])


def test_prune_on_the_command_line_is_the_same_as_in_the_file(installation: Installation) -> None:
    installation.call("apply", installation.write("pages.toml", FILE))

    installation.call("apply", "--prune", "--yes", installation.write("less.toml", f'pages = ["{B}"]'))

    assert list(pages(installation)) == [B]


@pytest.mark.parametrize("text", ["prune = true\n", '[all]\nevery = "1h"\n', ""])
def test_a_file_without_pages_never_empties_the_list(installation: Installation, text: str) -> None:
    installation.call("apply", installation.write("pages.toml", FILE))

    answer = installation.call("apply", "--prune", "--yes", installation.write("empty.toml", text))

    assert answer.status == 2
    assert "which would remove all; to empty the list: tocsin watch clear" in answer.err
    assert len(pages(installation)) == 2


def test_a_dry_run_is_a_plan(installation: Installation) -> None:
    file = installation.write("pages.toml", FILE)

    assert installation.call("apply", "--dry-run", file).out == installation.call("plan", file).out


def test_the_exit_status_tells_whether_there_is_something_to_do_where_it_is_asked_to(
    installation: Installation,
) -> None:
    file = installation.write("pages.yaml", f"pages: [{A}]")

    before = installation.call("plan", "--exit-code", file)
    installation.call("apply", file)
    after = installation.call("plan", "--exit-code", file)

    assert (before.status, after.status) == (1, 0)


@pytest.mark.parametrize("kind", ["toml", "yaml"])
def test_a_store_that_was_written_out_is_planned_without_a_change(installation: Installation, kind: str) -> None:
    installation.call("apply", installation.write("pages.toml", FILE))
    installation.call("watch", "add", "--no-check", "https://me:secret@example.org/p", "--header", "X-A: b")
    file = str(installation.folder / f"out.{kind}")

    written = installation.call("plan", "--from-store", "--format", kind, "-o", file)

    assert "left out" in written.err
    assert "secret" not in (installation.folder / f"out.{kind}").read_text()
    assert installation.call("plan", "--prune", file).records == [{**NOTHING, "applied": False}]


def test_the_store_is_written_with_its_secrets_where_that_is_asked_for(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--auth", "me:secret")

    plain, whole = (installation.call("plan", "--from-store", *more).out for more in ([], ["--with-secrets"]))

    assert ("secret" in plain, "secret" in whole) == (False, True)


def test_secrets_are_masked_in_a_plan(installation: Installation) -> None:
    text = f'[[pages]]\nurl = "{A}"\nauth = "me:T0K3N"\nheaders = {{ "X-A" = "T0K3N" }}\n'

    answer = installation.call("plan", installation.write("pages.toml", text))

    assert "T0K3N" not in answer.out + answer.err
    assert changes(answer, A)["auth"] == (None, "***")


def test_a_bad_file_changes_nothing_at_all(installation: Installation) -> None:
    file = installation.write("pages.toml", FILE + '[[pages]]\nurl = "ftp://x/"\n')

    answer = installation.call("apply", file)

    assert answer.status == 2
    assert f"{file}:14: ftp://x/: the scheme ftp:" in answer.err
    assert not (installation.folder / "tocsin.db").exists()


def test_a_secret_is_read_beside_the_file_that_names_it(installation: Installation) -> None:
    installation.write("a.secret", "me:secret\n")
    file = installation.write("pages.toml", f'[[pages]]\nurl = "{A}"\nauth_file = "a.secret"\n')

    installation.call("apply", file)

    assert pages(installation)[A]["settings"] == {"auth": "***"}
    assert installation.call("plan", "--exit-code", file).status == 0


def test_a_secret_that_is_not_there_is_told_with_its_line_once(installation: Installation) -> None:
    file = installation.write("pages.toml", f'[[pages]]\nurl = "{A}"\nauth_file = "a.secret"\n')

    answer = installation.call("plan", file)

    assert answer.err.count("pages.toml:3: ") == 1
    assert "a.secret: there is no such file" in answer.err


def test_a_file_comes_on_standard_input_too(installation: Installation) -> None:
    assert installation.call("apply", "-", "--format", "yaml", stdin=f"pages: [{A}]").status == 0
    assert installation.call("plan", "-", stdin="").status == 2


@pytest.mark.parametrize("arguments", [(), ("a.toml", "--schema"), ("a.toml", "--with-secrets")])
def test_a_plan_is_of_one_file_or_of_none(installation: Installation, arguments: tuple[str, ...]) -> None:
    assert installation.call("plan", *arguments).status == 2


def test_the_schema_is_printed(installation: Installation) -> None:
    answer = installation.call("plan", "--schema")

    assert json.loads(answer.out)["title"] == "A declared list of Tocsin"
