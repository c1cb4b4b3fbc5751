"""The worked examples are what the program says."""

from __future__ import annotations

import pytest

from tests.docs.worked import DOCUMENT, examples, said

EXAMPLES = list(examples(DOCUMENT.read_text("utf-8")))


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_shows_what_the_program_says(command: str, shown: str) -> None:
    assert shown == said(command)


def test_each_format_has_an_example() -> None:
    shown = {command.split()[3] for command, _ in EXAMPLES}

    assert shown == {"microdata", "ical", "vcard", "turtle", "ntriples", "jsonld", "atom"}
