"""Whether a reader has something already."""

from __future__ import annotations

import pytest

from tocsin.server.conditional import is_known

TAG = '"5d7321a05bce10b2"'


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (TAG, True),
        (f"W/{TAG}", True),  # behind nginx, which compresses
        ('"5d7321a05bce10b2-gzip"', True),  # behind Apache
        ('W/"5d7321a05bce10b2-br"', True),
        (f'"other-gzip", {TAG}', True),
        ("*", True),
        ('"other"', False),
        ('"5d7321a05bce10b2-other"', False),
        ('"-gzip5d7321a05bce10b2"', False),
        ("", False),
    ],
)
def test_a_tag_is_known_whatever_a_proxy_that_compresses_made_of_it(said: str, *, known: bool) -> None:
    assert is_known(said, None, TAG, None) is known
    assert is_known(said, None, f"W/{TAG}", None) is known


def test_where_a_reader_says_a_tag_its_date_does_not_count() -> None:
    assert not is_known('"other"', "Sun, 22 Nov 2026 07:00:00 GMT", TAG, 1)
