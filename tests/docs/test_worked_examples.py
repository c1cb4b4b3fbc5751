"""The worked examples are what the program says."""

from __future__ import annotations

import pytest

from tests.docs.worked import DOCUMENT, examples, said
from tests.house.sources import ROOT
from tocsin.spec.lint.check import lint

EXAMPLES = list(examples(DOCUMENT.read_text("utf-8")))


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_shows_what_the_program_says(command: str, shown: str) -> None:
    assert shown == said(command)


def test_each_format_has_an_example() -> None:
    shown = {command.split()[3] for command, _ in EXAMPLES}

    assert shown == {"microdata", "ical", "vcard", "turtle", "ntriples", "jsonld", "atom"}


def test_the_page_of_the_examples_is_one_to_copy_from() -> None:
    assert lint((ROOT / "docs/examples/concert.html").read_bytes(), "text/html; charset=utf-8") == ()
