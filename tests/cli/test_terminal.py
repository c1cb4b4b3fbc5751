from __future__ import annotations

import asyncio
import os
import pty
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.calling import Installation
from tests.cli.terminal import raw_on_terminal
from tests.origin import Origin, Page

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
A = "https://example.org/a"


def typed(installation: Installation, *arguments: str, keys: bytes = b"") -> tuple[int, str]:
    """Call the program on a narrow terminal; returns exit status and what stood on it."""
    return raw_on_terminal(*arguments, cwd=installation.folder, typed=keys, columns=80)


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux tells so that the other side is closed
        return b""


def test_on_a_terminal_pages_are_a_table(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    status, seen = typed(installation, "watch", "list")

    assert status == 0
    assert "next check" in seen
    assert "{" not in seen


def test_on_a_terminal_json_is_had_for_the_asking(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    _, seen = typed(installation, "watch", "list", "--json")

    assert seen.startswith('{"id":"1"')


async def test_every_listing_is_for_people_on_a_terminal(installation: Installation) -> None:
    async with Origin() as site:
        site.pages["/a"] = Page('<title>x</title><meta name="topper-major" content="2026-01-02">')
        await asyncio.to_thread(installation.call, "watch", "add", site.url("/a"), site.url("/gone"))
        await asyncio.to_thread(installation.call, "attention", "answer", "1", "until-major")
        url = site.url("/a")
    calls = {
        "2026-01-02": ("watch", "list", "--topper"),
        "in table": ("history", url),
        "until-major": ("attention", "list", "--standing"),
        "closed": ("attention", "list", "--closed"),
        "unreachable": ("alerts", "list"),
        "There is no channel": ("channel", "list"),
        "The store is sound": ("store", "check"),
        "Nothing to do": ("store", "migrate"),
        "No contact is configured": ("doctor",),
    }

    seen = {word: await asyncio.to_thread(typed, installation, *call) for word, call in calls.items()}

    assert [word for word, (_, text) in seen.items() if word not in text] == []
    assert not any("{" in text for word, (_, text) in seen.items() if word != "No contact is configured")


def test_foreign_text_cannot_steer_the_terminal(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A, "--group", "main", "--cookie", "a=b")
    installation.call("watch", "set", A, "--text", "\x1b]0;title\x07\x1b[2J")

    _, seen = typed(installation, "watch", "list")

    assert "\x1b]0" not in seen
    assert "\x1b[2J" not in seen


def test_what_cannot_be_undone_is_asked_for_and_left_on_a_no(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    status, seen = typed(installation, "watch", "clear", keys=b"n\n")

    assert status == 1
    assert "This will remove 1 page" in seen
    assert len(installation.call("watch", "list").records) == 1


def test_what_cannot_be_undone_is_done_on_a_yes(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    status, _ = typed(installation, "watch", "clear", keys=b"y\n")

    assert status == 0
    assert installation.call("watch", "list").records == []


def test_a_pause_of_everything_is_loud_in_the_list(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)
    installation.call("watch", "set", "--all", "--pause")

    _, seen = typed(installation, "watch", "list")

    assert "PAUSED: 1 page" in seen


def test_whoever_reads_us_may_have_enough(installation: Installation) -> None:
    lines = "".join(f"https://example.org/{number}\n" for number in range(3000))
    installation.call("watch", "import", installation.write("pages.txt", lines))
    process = installation.start("watch", "list")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()

    _, err = process.communicate()

    assert process.returncode == 0
    assert err == b""


def test_a_full_disk_is_told_in_a_line(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)
    with Path("/dev/full").open("wb") as full:
        process = installation.start("watch", "list", stdout=full)

    _, err = process.communicate()

    assert process.returncode == 1
    assert err.startswith(b"tocsin: standard output cannot be written")
    assert err.count(b"\n") == 1


def test_a_narrow_terminal_shows_each_url_on_a_line_of_its_own(installation: Installation) -> None:
    long = "https://a-rather-long-name.example.org/section/of/some/length/page.html"
    installation.call("watch", "add", "--no-check", long)

    _, seen = typed(installation, "watch", "list")

    lines = [COLOUR.sub("", line) for line in seen.splitlines()]
    assert long in lines
    assert any("mode: on" in line and "next check: " in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_hints_are_broken_between_words(installation: Installation) -> None:
    _, seen = typed(installation, "channel", "list")

    lines = seen.splitlines()
    assert "in the configuration." in " ".join(seen.split())
    assert len(lines) > 1
    assert max(map(len, lines)) <= 80


def test_one_page_is_not_told_as_many(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    _, seen = typed(installation, "watch", "clear", keys=b"n\n")

    assert "This will remove 1 page with everything stored about it." in seen


def test_that_nothing_was_told_yet_is_said(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    assert "No alert yet." in typed(installation, "alerts", "list")[1]
    assert "No alert matches." in typed(installation, "alerts", "list", "--dead")[1]


def test_no_bar_is_shown_where_a_pipe_may_lead_to_the_same_terminal(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)
    ours, theirs = pty.openpty()

    process = installation.start("table", "export", stderr=theirs)
    out, _ = process.communicate()
    os.close(theirs)
    seen = read(ours)
    os.close(ours)

    assert out.startswith(b"0 url ")
    assert b"Exporting" not in seen


@pytest.mark.parametrize("command", [("table", "export"), ("watch", "export")], ids=" ".join)
def test_an_export_to_the_terminal_shows_no_bar_in_its_lines(
    installation: Installation, command: tuple[str, ...]
) -> None:
    installation.call("watch", "add", "--no-check", A)

    _, shown = typed(installation, *command)

    assert "Exporting" not in shown


async def test_the_time_that_was_given_for_another_try_is_shown(installation: Installation) -> None:
    async with Origin() as site:
        await asyncio.to_thread(installation.call, "check", site.url("/gone"))
    at = datetime.now().astimezone() + timedelta(days=2)

    said = ("attention", "answer", "1", "again", "--at", f"{at:%Y-%m-%d %H:%M:%S}")
    _, seen = await asyncio.to_thread(typed, installation, *said)

    assert f"at {at:%Y-%m-%d %H:%M:%S}." in " ".join(seen.split())


def test_what_several_pages_lack_is_told_a_line_each(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", A)

    _, seen = typed(installation, "history", "https://example.org/b")
    _, both = typed(installation, "watch", "remove", "https://example.org/b", "https://example.org/c")

    assert "https://example.org/b: not watched" in seen
    assert "\N{REPLACEMENT CHARACTER}" not in both
    assert "https://example.org/c: not watched" in both


async def test_why_a_page_was_not_asked_for_is_told_once_and_truly(installation: Installation) -> None:
    config = str(installation.folder / "tocsin.toml")
    (installation.folder / "tocsin.toml").write_text(
        '[network]\nallow = ["127.0.0.0/8"]\n[hosts]\ndelay = "0s"\n[pages]\nmin_gap = "5m"\n'
    )
    async with Origin() as site:
        site.pages["/a"] = Page("<title>x</title>")
        url = site.url("/a")
        await asyncio.to_thread(installation.call, "check", url)
        _, soon = await asyncio.to_thread(typed, installation, "--config", config, "check", url)
        await asyncio.to_thread(installation.call, "watch", "set", url, "--mode", "off")
        _, off = await asyncio.to_thread(typed, installation, "--config", config, "check", url)

    assert "not fetched: received less than 5m ago (min_gap)" in soon
    assert "not fetched: it is off" in off
    assert "problem:" not in soon + off
    assert "it is off" not in soon


async def test_a_page_that_asks_for_no_awareness_is_told_so(installation: Installation) -> None:
    async with Origin() as site:
        site.pages["/a"] = Page("<title>x</title>")
        await asyncio.to_thread(installation.call, "watch", "add", "--no-check", "--mode", "auto", site.url("/a"))
        _, seen = await asyncio.to_thread(typed, installation, "check", site.url("/a"))

    assert "no alerts: its mode is auto" in seen
