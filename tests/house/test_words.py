"""The words of the house: one for each thing, and none that hides which part acts."""

from __future__ import annotations

import re

import pytest

from benchmarks.house.text import count_vague, read, repeated_classes
from tests.house.sources import ROOT
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
