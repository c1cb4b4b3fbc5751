"""Each end of a check and of a rendering, and each event, down to its last field; see `golden.py`."""

from __future__ import annotations

import msgspec
import pytest

from tests.engine.judging.golden import FILE, MADE


@pytest.mark.spec("T21", "T40", "T42", "T43", "T44", "T47", "T57", "T60", "T70")
@pytest.mark.parametrize("kind", MADE)
def test_every_field_is_what_it_was(kind: str) -> None:
    """Made within the test, so that a mutation tester sees which code it runs."""
    kept = msgspec.json.decode(FILE.read_bytes())
    expected = {name: value for name, value in kept.items() if name.startswith(f"{kind}: ")}

    made = msgspec.json.decode(msgspec.json.encode({f"{kind}: {name}": end for name, end in MADE[kind]().items()}))

    assert list(made) == list(expected)
    changed = [name for name in made if made[name] != expected[name]]
    assert not changed, "changes on purpose? python -m tests.engine.judging.golden writes the file anew"
