"""Each end of a check and of a rendering, down to its last field; see `golden.py`."""

from __future__ import annotations

import msgspec
import pytest

from tests.engine.judging.golden import FILE, golden

EXPECTED = msgspec.json.decode(FILE.read_bytes())
FOUND = msgspec.json.decode(golden())


@pytest.mark.spec("T21", "T40", "T42", "T43", "T44", "T47", "T57", "T60", "T70")
@pytest.mark.parametrize("name", EXPECTED)
def test_an_end_is_what_it_was(name: str) -> None:
    assert FOUND[name] == EXPECTED[name], "a change on purpose? python -m tests.engine.judging.golden writes it anew"


def test_no_end_is_left_out() -> None:
    assert list(FOUND) == list(EXPECTED)
