"""Output for programs and people, and standard streams that are closed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.calling import Installation
from tests.cli.terminal import on_terminal
from tocsin import __version__
from tocsin.cli import output
from tocsin.cli.__main__ import COMMANDS, SECTIONS, run, tocsin
from tocsin.cli.output import progress
from tocsin.errors import BadUrl, FetchFailed, StoreError, TableError, TocsinError, TooComplex


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"tocsin {__version__}\n"


def test_the_help_names_every_command_by_section_and_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0

    shown = capsys.readouterr().out
    for command in COMMANDS:
        assert command.section in SECTIONS
        assert f"  {command.name} " in shown
        assert command.help in shown
    assert len(shown.splitlines()) <= 34
    assert max(map(len, shown.splitlines())) <= 80


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Usage: tocsin" in "".join(capsys.readouterr())


def test_the_help_imports_no_command() -> None:
    program = "import sys; from tocsin.cli.__main__ import run; run(['--help']); print(sorted(sys.modules))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = done.stdout.splitlines()[-1]
    for name in ("rich", "aiohttp", "turbohtml", "selectolax", "lxml", "msgspec", "tocsin.cli.state"):
        assert f"'{name}'" not in loaded


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_is_there_and_its_help_ends_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, "--help"]) == 0
    _, found, example = capsys.readouterr().out.rpartition("\n\n  Example: ")
    assert found
    assert re.search(rf"tocsin\b.* {name}\b", " ".join(example.split()))


def test_an_unknown_command_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stat"]) == 2
    assert "No such command 'stat'" in capsys.readouterr().err


def test_a_wrong_option_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["state", "--nope", "x"]) == 2
    assert "--nope" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadUrl("x"), 2),
        (TableError("f", 1, 2, "x"), 2),
        (StoreError("x"), 3),
        (FetchFailed("u", "dns", "x"), 1),
        (TooComplex("x"), 1),
    ],
)
def test_each_error_has_its_exit_status(error: TocsinError, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert output.fail(error) == status
    assert capsys.readouterr().err == f"tocsin: {error}\n"


@pytest.mark.parametrize(
    "letter", ["\x1b", "\x00", "\x7f", "\x9b", "\n", "\u202e", "\u2028", "\u061c", "\udc80", "\ufeff"]
)
def test_what_a_terminal_would_obey_is_not_printed(letter: str) -> None:
    assert output.clean(f"a{letter}b") == "a\ufffdb"


def test_other_letters_are_printed_as_they_are() -> None:
    assert output.clean("\u00e9 \u65e5\U0001f600 \u05d0[31m") == "\u00e9 \u65e5\U0001f600 \u05d0[31m"


def test_json_is_utf8_on_one_line_and_harmless(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    record = {"a": "\u00e9\x1b\x9b\u2028\n", "b": None, "c": "\udc80"}

    output.print_json(record)

    line = capsysbinary.readouterr().out
    assert line == b'{"a":"\xc3\xa9\\u001b\\u009b\\u2028\\n","b":null,"c":"\\udc80"}\n'
    assert json.loads(line) == record


def test_progress_off_a_terminal_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Reading", 3) as advance:
        advance(3)

    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_there_are_tables_and_json_where_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<meta name="page-version" content="&#27;[31mred&#155;[bold]x[/bold]">')

    status, shown = on_terminal("state", "a.html", cwd=tmp_path)
    _, asked = on_terminal("state", "a.html", "--json", cwd=tmp_path)

    assert status == 0
    assert "page-version" in shown
    assert "\ufffd[31mred\u203a[bold]x[/bold]" in shown
    assert json.loads(asked)["fields"]["page-version"] == "\x1b[31mred\u203a[bold]x[/bold]"


def test_progress_on_a_terminal_leaves_nothing_behind(tmp_path: Path) -> None:
    status, shown = on_terminal("table", "verify", "nope.txt", cwd=tmp_path)

    assert status == 2
    assert shown.splitlines() == ["tocsin: nope.txt: No such file or directory; name a readable file"]


def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("x")
    command = [sys.executable, "-m", "tocsin.cli", "state", *["a.html"] * 500]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()

    assert (process.returncode, errors) == (0, b"")


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    @click.command("state")
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tocsin, "get_command", lambda _ctx, _name: interrupted)
    # Whoever starts the tests in the background has it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        assert run(["state"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().out == ""


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
