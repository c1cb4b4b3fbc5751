from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.calling import Installation

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    made.configure("")
    return made
