from __future__ import annotations

import pytest

from tests.spec.signals.seeing import seen
from tocsin.spec.signals.entity_tag import HEADER


@pytest.mark.parametrize(
    "written", ['"a-1"', 'W/"a-1"', 'w/"a-1"', "a-1", ' "a-1" ', '"a-1-gzip"', '"a-1;br"', 'W/"a-1:zstd"']
)
def test_one_version_has_one_tag_however_it_was_sent(written: str) -> None:
    assert HEADER.read(seen(headers=[("etag", written)])) == "a-1"


@pytest.mark.parametrize("written", ["", '""', 'W/""'])
def test_an_empty_tag_is_none(written: str) -> None:
    assert HEADER.read(seen(headers=[("etag", written)])) is None


def test_an_answer_without_it_has_no_value() -> None:
    assert HEADER.read(seen()) is None


def test_a_long_tag_is_cut() -> None:
    assert HEADER.read(seen(headers=[("etag", f'"{"a" * 100_000}"')])) == "a" * 200
