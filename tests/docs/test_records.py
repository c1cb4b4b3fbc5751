"""The reference of records is made of their declarations, and each field says what it holds."""

from __future__ import annotations

from tests.docs import records
from tests.house.sources import ROOT
from tocsin.model.records import alerting, history, pages, service


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
