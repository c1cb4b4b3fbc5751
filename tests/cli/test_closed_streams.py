"""Standard streams that the caller closed, or that take no more."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calling import Installation

PAGE = '<!doctype html><meta charset=utf-8><title>x</title><meta name="page-version" content="7">'
CLOSED = "tocsin: standard output cannot be written (Bad file descriptor); standard output is closed; "
NOWHERE = "http://127.0.0.1:9/"


def closing(streams: str, installation: Installation, *arguments: str) -> tuple[int, str, str]:
    """Call the program with these streams closed by a shell; gives its status, standard output and error."""
    command = ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "tocsin.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=installation.folder)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    ["--version", "--help", "state a.html", "extract --as turtle a.html", "lint --json b.html", "stamp --minor a.html"],
)
def test_closed_standard_output_is_said_in_one_line(installation: Installation, arguments: str) -> None:
    installation.write("a.html", PAGE)
    installation.write("b.html", PAGE + "<meta>")

    status, _, err = closing(">&-", installation, *arguments.split())

    assert status == 1
    assert err.startswith(CLOSED)
    assert len(err.splitlines()) == 1


def test_with_standard_output_closed_a_command_that_prints_nothing_is_done(installation: Installation) -> None:
    installation.write("a.html", '<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title>')

    assert closing(">&-", installation, "lint", "a.html") == (0, "", "")


@pytest.mark.parametrize("streams", ["2>&-", "<&-", "<&- 2>&-"])
def test_what_is_printed_needs_no_other_stream(installation: Installation, streams: str) -> None:
    installation.write("a.html", PAGE)

    status, out, err = closing(streams, installation, "state", "a.html")

    assert (status, err) == (0, "")
    assert '"page-version":"7"' in out


def test_an_error_with_standard_error_closed_is_told_by_the_status_alone(installation: Installation) -> None:
    assert closing("2>&-", installation, "state", "nope.html") == (2, "", "")


@pytest.mark.parametrize("command", ["lint -", "apply -", "plan -", "table verify -", "watch import -"])
def test_closed_standard_input_is_no_empty_file(installation: Installation, command: str) -> None:
    status, out, err = closing("<&-", installation, *command.split())

    assert (status, out) == (2, "")
    assert err == "tocsin: -: Bad file descriptor; name a readable file\n"


@pytest.mark.parametrize("streams", ["<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_store_is_made_and_is_sound_whichever_streams_are_closed(installation: Installation, streams: str) -> None:
    closing(streams, installation, "watch", "add", "--no-check", NOWHERE)

    assert installation.call("store", "check").status == 0
    assert installation.call("watch", "list", "--json").records[0]["url"] == NOWHERE


def test_a_check_whose_results_cannot_be_printed_says_so(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", NOWHERE)

    status, _, err = closing(">&-", installation, "check")

    assert status == 1
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith(CLOSED)


def test_a_check_whose_reader_has_enough_is_no_error(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", NOWHERE)
    reading, writing = os.pipe()
    os.close(reading)

    with installation.start("check", stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate()

    assert process.returncode == 0
    assert b"Traceback" not in err
