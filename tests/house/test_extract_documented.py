from __future__ import annotations

import re

import pytest

from tests.house.sources import ROOT
from tocsin.spec.extract import MOST_LINKS, Form, extract

DOCUMENT = (ROOT / "docs" / "extract.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
INNER = re.compile(r"`\{(.*?)\}`")
PAGE = b"""<!DOCTYPE html><title>T</title><meta name=robots content=all><meta http-equiv=refresh content=3>
<link rel=alternate hreflang=fr href=/fr><a rel=bookmark href=/a mset='/copy 2014-03-10'>x</a>"""


def rows(form: Form) -> dict[str, str]:
    """What the document says of each key of a form's records."""
    section = DOCUMENT.partition(f"\n## {form.value}:")[2].partition("\n## ")[0]
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
    assert f"a record for each link, at most {MOST_LINKS:,}" in DOCUMENT
