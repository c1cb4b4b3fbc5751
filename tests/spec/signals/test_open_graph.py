from __future__ import annotations

import pytest

from tests.spec.signals.seeing import read
from tocsin.spec.signals.open_graph import UPDATED


@pytest.mark.parametrize("attribute", ["property", "name"])
def test_the_time_is_read_by_property_and_by_name(attribute: str) -> None:
    assert read(UPDATED, f"<meta {attribute}=OG:updated_time content=1714557600>") == "2024-05-01T10:00:00Z"


def test_an_empty_one_is_passed_over() -> None:
    page = "<meta property=og:updated_time content=''><meta property=og:updated_time content=2024-05-01>"

    assert read(UPDATED, page) == "2024-05-01"


def test_a_page_without_it_has_no_value() -> None:
    assert read(UPDATED, "<meta property=og:title content=2024>") is None
    assert read(UPDATED, "<meta property=og:updated_time>") is None
