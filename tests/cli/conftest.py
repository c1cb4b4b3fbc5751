from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import Installation


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.configure("")
    return made
