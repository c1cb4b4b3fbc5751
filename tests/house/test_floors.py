from __future__ import annotations

from typing import TYPE_CHECKING

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.house.sources import ROOT

if TYPE_CHECKING:
    import pytest


def test_every_floor_imports_only_floors_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / ".importlinter"), no_cache=True, no_logo=True)

    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out
