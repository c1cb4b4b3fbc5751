from __future__ import annotations

import pytest

from tests.spec.signals.seeing import read, seen
from tocsin.spec.signals.last_modified import HEADER, META

WRITTEN, VALUE = "Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00Z"


@pytest.mark.parametrize("attribute", ["name", "http-equiv"])
def test_the_meta_element_is_read_by_either_name(attribute: str) -> None:
    assert read(META, f"<meta {attribute}=Last-Modified content='{WRITTEN}'>") == VALUE


def test_the_header_is_read() -> None:
    assert HEADER.read(seen(headers=[("date", "x"), ("last-modified", WRITTEN)])) == VALUE


def test_each_is_read_for_itself() -> None:
    assert HEADER.read(seen(f"<meta name=last-modified content='{WRITTEN}'>")) is None
    assert META.read(seen(headers=[("last-modified", WRITTEN)])) is None


def test_the_time_of_a_request_is_no_signal() -> None:
    assert read(META, "<meta name=confluence-request-time content=1714557600000>") is None
