"""Tables in the web pages have the columns that records declare."""

import re
from pathlib import Path

import pytest

from tocsin.server.web import rendering
from tocsin.server.web.rendering import columns

USES = [
    [argument.strip(' "') for argument in found[1].split(",")]
    for path in sorted((Path(rendering.__file__).parent / "templates").glob("*.html"))
    for found in re.finditer(r"columns\(([^)]*)\)", path.read_text("utf-8"))
]


@pytest.mark.parametrize("use", USES, ids=lambda use: use[0])
def test_each_column_is_a_field_of_its_record_or_says_what_it_is(use: list[str]) -> None:
    titles = re.sub(r"<[^>]+>", "|", str(columns(*use).titles)).split("|")

    assert [title[0].isupper() for title in titles if title] == [True] * (len(use) - 1)


def test_a_field_has_the_title_that_its_record_declares_and_numbers_are_set_to_the_right() -> None:
    of = columns("State", "stored_at", "storings", "Compare", "-Remove")

    assert of.head.count("<th ") == 4
    assert (of["stored_at"], of["storings"], of["Compare"]) == (
        ' data-label="First stored"',
        ' class="number" data-label="Times stored"',
        ' data-label="Compare"',
    )


def test_a_column_that_no_record_has_is_an_error() -> None:
    with pytest.raises(KeyError, match="storred"):
        columns("State", "storred")
