"""The words of the house: one for each thing, and none that hides which part acts."""

from __future__ import annotations

import json
import re
import tomllib

import click
import pytest
from fastapi import FastAPI

from benchmarks.house.text import count_vague, read, repeated_classes
from tests.house.sources import ROOT
from tests.house.test_documented import EVERY
from tocsin.server.api import router
from tocsin.server.api.describing import describe
from tocsin.spec.signals import SIGNALS

# CONTRIBUTING names the words that it forbids.
READ_BY_USERS = (
    "service",
    "docs",
    "config",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "compose.yaml",
)
SUFFIXES = {".py", ".md", ".html", ".toml", ".sql", ".yml", ".yaml", ".js"}


def test_no_sentence_hides_which_part_acts() -> None:
    assert count_vague(ROOT, *READ_BY_USERS) == 0


def test_a_class_name_is_rarely_that_of_two_things() -> None:
    assert len(repeated_classes(read(ROOT / "service" / "tocsin"))) <= 10


def test_where_alerts_go_is_called_a_channel() -> None:
    folders = [ROOT / name for name in ("service", "docs", "config")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES]

    assert [path.name for path in files if re.search(r"\bsinks?\b", path.read_text("utf-8"), re.IGNORECASE)] == []


# Words that the glossary replaces. The first have no other meaning in documents and help; the others none in web pages.
REPLACED = re.compile(
    r"\b(reason codes?|mute windows?|inhibitions?|least gap|at its own time|rules? in force|matchers?|bundles?)\b",
    re.IGNORECASE,
)
REPLACED_IN_WEB_PAGES = re.compile(
    r"\b(sinks?|receivers?|rounds?|verdicts?|acknowledged?|not received|recovered|suspects?|attention|fleeting|ignored"
    r"|tags?|workers?|slots?|renderings?|basis)\b",
    re.IGNORECASE,
)
# Names of values, of a step of the API, and a term of HTTP.
CODES = frozenset({"routes.kind_long", "questions.during_rendering", "signal.header.etag"})


def replaced_in(text: str) -> list[str]:
    return [found[0] for found in REPLACED.finditer(text)]


def test_documents_use_the_words_of_the_glossary() -> None:
    files = [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        ROOT / "config/tocsin.toml",
    ]

    assert {path.name: found for path in files if (found := replaced_in(path.read_text("utf-8")))} == {}


def test_help_uses_the_words_of_the_glossary() -> None:
    helped = {" ".join(path): command.get_help(click.Context(command)) for path, command in EVERY.items()}

    assert {name: found for name, text in helped.items() if (found := replaced_in(text))} == {}


def test_web_pages_and_messages_use_the_words_of_the_glossary() -> None:
    sections = tomllib.loads((ROOT / "service/tocsin/wording/en.toml").read_text("utf-8"))
    texts = {f"{name}.{key}": str(text) for name, section in sections.items() for key, text in section.items()}
    shown = {key: re.sub(r"\{\w+\}", "", text) for key, text in texts.items() if key not in CODES}

    assert {key: text for key, text in shown.items() if replaced_in(text) or REPLACED_IN_WEB_PAGES.search(text)} == {}


def test_the_description_of_the_api_uses_the_words_of_the_glossary() -> None:
    app = FastAPI(version="0")
    app.include_router(router)

    assert replaced_in(json.dumps(describe(app), ensure_ascii=False)) == []


def test_log_lines_use_the_words_of_the_glossary() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "service" / "tocsin").rglob("*.py"))
    names = sorted(set(re.findall(r'\bHappening\(\s*"([a-z._-]+)"', code)))

    assert len(names) > 50
    assert [name for name in names if replaced_in(name) or re.search(r"sink|matcher|bundle|verdict", name)] == []


# What a German word for a thing replaces, as the glossary has it in English.
REPLACED_IN_GERMAN = re.compile(
    r"\b(Senken?|Matcher|Bündel\w*|Runden?|Besuche?|Verdikte?|Urteile?|quittiert\w*|ignorier\w*|flüchtig\w*|Ordner"
    r"|gerender\w*|Verdächt\w*|Anweisung\w*|Alarm\w*|Hemmung\w*|Stummzeit\w*|wiederhergestellt|nicht empfangen"
    r"|Etikett\w*)\b"
)


@pytest.mark.parametrize("name", ["de.toml", "sentences.de.toml"])
def test_german_texts_use_the_words_of_the_glossary(name: str) -> None:
    text = (ROOT / "service/tocsin/wording" / name).read_text("utf-8")

    assert REPLACED_IN_GERMAN.findall(text) == []


def test_every_signal_is_in_the_documentation() -> None:
    documented = (ROOT / "docs" / "signals.md").read_text("utf-8")

    assert [signal.name for signal in SIGNALS if f"`{signal.name}`" not in documented] == []


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_path_that_a_document_for_contributors_names_exists(document: str) -> None:
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_.]+\.[a-z]+)?)`", (ROOT / document).read_text("utf-8"))
    roots = [ROOT, ROOT / "service" / "tocsin", ROOT / "service/tocsin/adapters", ROOT / "service/tocsin/engine"]
    roots += [ROOT / "service/tocsin" / name for name in ("adapters/stores", "spec/microdata", "server")]

    assert len(named) > 10
    assert [path for path in named if not any((root / path).exists() for root in roots)] == []
