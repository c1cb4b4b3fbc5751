"""The reference tables of the documents name every command, format, rule and setting."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.house.sources import ROOT
from tocsin.cli.__main__ import COMMANDS, tocsin
from tocsin.configuration import flatten, load
from tocsin.configuration.channels import our_types
from tocsin.configuration.template import KEYS, render_template
from tocsin.settings import Settings
from tocsin.spec.extract import MOST_LINKS, Form, extract
from tocsin.spec.lint.check import MOST_FINDINGS, RULES
from tocsin.spec.lint.page import MOST_TOKENS
from tocsin.spec.microdata.formats.catalogue import FORMATS

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


EXTRACT = (ROOT / "docs" / "extract.md").read_text(encoding="utf-8")

ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
INNER = re.compile(r"`\{(.*?)\}`")
PAGE = b"""<!DOCTYPE html><title>T</title><meta name=robots content=all><meta http-equiv=refresh content=3>
<link rel=alternate hreflang=fr href=/fr><a rel=bookmark href=/a mset='/copy 2014-03-10'>x</a>"""


def rows(form: Form) -> dict[str, str]:
    """What the document says of each key of a form's records."""
    section = EXTRACT.partition(f"\n## {form.value}:")[2].partition("\n## ")[0]
    return dict(ROW.findall(section))


@pytest.mark.parametrize("form", Form)
def test_the_documented_keys_are_those_that_there_are(form: Form) -> None:
    record = extract(PAGE, "text/html", form=form, url="https://example.org/").records[0]

    assert list(rows(form)) == list(record)


@pytest.mark.parametrize("form", Form)
def test_the_documented_keys_of_what_records_hold_are_those_that_there_are(form: Form) -> None:
    record = extract(PAGE, "text/html", form=form, url="https://example.org/").records[0]
    held = {key: value[0] if isinstance(value, list) and value else value for key, value in record.items()}
    told = {key: INNER.search(text) for key, text in rows(form).items()}
    documented = {key: re.findall(r'"(\w+)"', found[1]) for key, found in told.items() if found}

    assert documented == {
        key: list(value) for key, value in held.items() if isinstance(value, dict) and key != "translations"
    }


def test_the_documented_bound_is_that_which_there_is() -> None:
    assert f"a record for each link, at most {MOST_LINKS:,}" in EXTRACT


CODED = re.compile(r"`([^`]+)`")

MICRODATA = (ROOT / "docs" / "microdata.md").read_text("utf-8")


def table(second: str) -> list[list[list[str]]]:
    """The code in each cell of the table whose second column has this heading."""
    _, _, rows = MICRODATA.partition(f"\n| format | {second} |")
    lines = rows.partition("\n\n")[0].splitlines()[2:]
    return [[CODED.findall(cell) for cell in line.strip("|").split("|")] for line in lines]


def test_the_documented_formats_are_those_that_there_are() -> None:
    rows = table("content")

    told = [way for names, *_, types, files in rows for way in zip(names, types, files, strict=True)]

    assert told == [(name, way.media_type.partition(";")[0], way.suffix) for name, way in FORMATS.items()]


def test_the_documented_profiles_of_each_format_are_those_that_there_are() -> None:
    told = {name: tuple(profiles) for names, profiles, _ in table("profiles") for name in names}

    assert told == {name: way.profiles for name, way in FORMATS.items()}


LINT = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")

RULE_ROW = re.compile(r"^\| ([A-Z]+-?[0-9]{2}) \| (error|warning) \| (.*) \| (.*) \|$", re.MULTILINE)


def test_the_documented_rules_are_those_that_there_are() -> None:
    rows = [
        (name, level, *(text.replace("&lt;", "<") for text in told)) for name, level, *told in RULE_ROW.findall(LINT)
    ]

    assert rows == [(name, rule.level.value, rule.promise, rule.help) for name, rule in RULES.items()]


def test_the_documented_bounds_are_those_that_there_are() -> None:
    assert f"at most {MOST_FINDINGS:,} findings are told, of one attribute at most {MOST_TOKENS:,} tokens" in LINT


SHIPPED = Path(__file__).parents[2] / "config" / "tocsin.toml"
COMMENTED = re.compile(r"(?m)^#(?=[a-z\[])")


def uncommented() -> str:
    return COMMENTED.sub("", SHIPPED.read_text(encoding="utf-8"))


def test_the_shipped_configuration_is_written_from_the_settings() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == render_template()


def test_the_shipped_configuration_changes_nothing_as_it_stands() -> None:
    assert tomllib.loads(SHIPPED.read_text(encoding="utf-8")) == {}


def test_the_shipped_values_are_the_defaults_once_taken_in(tmp_path: Path) -> None:
    text = uncommented()
    tree: dict[str, Any] = tomllib.loads(text)
    (tmp_path / "ops.secret").write_text("s")
    (tmp_path / "chat.url").write_text("ntfy://example.org/alerts")
    (tmp_path / "mail.secret").write_text("s")
    (tmp_path / "tocsin.toml").write_text(text.replace('url = "sqlite:tocsin.db"', ""))

    loaded = load(environ={}, cwd=tmp_path).settings

    names = {"webhook": "ops", "file": "lines"}
    expected = sorted(names.get(name, name) for name in our_types())
    assert sorted(loaded.channels) == sorted(tree["channels"]) == expected
    assert list(loaded.hosts.rules) == ["*.example.org", "intranet.example.org"]
    shipped = {
        key: value
        for key, value in flatten(loaded).items()
        if not key.startswith(("channels.", "hosts.rules.", "routes", "silences"))
    }
    defaults = flatten(Settings())
    assert (defaults.pop("routes"), defaults.pop("silences")) == ((), ())
    assert shipped == defaults


def test_every_setting_has_its_comment_and_no_other_has() -> None:
    # Lists of tables have a comment as sections have.
    assert sorted((*KEYS, "routes", "silences")) == sorted(flatten(Settings()))
