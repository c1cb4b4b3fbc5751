"""Documents that are generated are those of the code of today."""

from __future__ import annotations

import pytest

from tests.docs import records
from tests.docs.worked import DOCUMENT, examples, said
from tests.house.sources import ROOT
from tocsin.model.records import alerting, history, pages, service
from tocsin.spec.lint.check import lint


def test_the_reference_of_records_is_up_to_date() -> None:
    written = (ROOT / "docs" / "records.md").read_text("utf-8")

    assert written == records.page(), "write it anew: python -m tests.docs.records > docs/records.md"


def test_every_field_of_a_record_says_what_it_holds() -> None:
    silent = [
        f"{record.__name__}.{name}"
        for module in (pages, history, alerting, service)
        for record in records.records_of(module)
        for name, field in records.described(record)["properties"].items()
        if not (field.get("description") or field.get("examples"))
    ]

    assert silent == []


EXAMPLES = list(examples(DOCUMENT.read_text("utf-8")))


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_shows_what_the_program_says(command: str, shown: str) -> None:
    assert shown == said(command)


def test_each_format_has_an_example() -> None:
    shown = {command.split()[3] for command, _ in EXAMPLES}

    assert shown == {"microdata", "ical", "vcard", "turtle", "ntriples", "jsonld", "atom"}


def test_the_page_of_the_examples_is_one_to_copy_from() -> None:
    assert lint((ROOT / "docs/examples/concert.html").read_bytes(), "text/html; charset=utf-8") == ()
