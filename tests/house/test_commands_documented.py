from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from tests.house.sources import ROOT
from tocsin.cli.__main__ import COMMANDS, tocsin

if TYPE_CHECKING:
    from collections.abc import Iterator

SCREEN_LINES = 40
CALLED = re.compile(r"^(?:\./dev )?tocsin +((?!…).*?)(?: +#.*)?$", re.MULTILINE)
FENCED = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands_below(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands_below(command, (*path, name))


EVERY = dict(commands_below(tocsin))


def demand_call(line: str) -> None:
    """Fail unless the program would understand this call; nothing is done."""
    words = [word for word in shlex.split(line, comments=True) if word not in ("|", ">", "<")]
    context = click.Context(tocsin)
    command: click.Command = tocsin
    while isinstance(command, click.Group) and words:
        _, words, _ = command.make_parser(context).parse_args(words)
        found = command.get_command(context, words[0])
        assert found is not None, f"{line}: there is no command {words[0]}"
        command, words = found, words[1:]
        context = click.Context(command, parent=context, info_name=command.name)
    command.make_parser(context).parse_args(words)


def documents() -> list[str]:
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [call for file in files for block in FENCED.findall(file.read_text()) for call in CALLED.findall(block)]


def test_the_help_fits_one_screen_and_names_every_command() -> None:
    text = CliRunner().invoke(tocsin, ["--help"]).output

    assert len(text.splitlines()) <= SCREEN_LINES
    assert all(re.search(rf"^  {command.name} ", text, re.MULTILINE) for command in COMMANDS)


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_the_help_of_a_command_ends_with_an_example_of_it(path: tuple[str, ...]) -> None:
    command = EVERY[path]

    assert command.help
    assert command.epilog is not None
    assert command.epilog.startswith("Example: ")
    call = re.search(r"tocsin .*?(?=\)?\"?$)", command.epilog)
    assert call is not None
    assert " ".join(path) in call[0]
    demand_call(call[0].removeprefix("tocsin "))


@pytest.mark.parametrize("call", documents())
def test_a_command_that_a_document_shows_is_understood(call: str) -> None:
    demand_call(call)
