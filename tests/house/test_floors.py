from __future__ import annotations

import subprocess
import sys

from tests.house.sources import ROOT

LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"


def test_every_floor_imports_only_floors_below_it() -> None:
    # In a process of its own: it switches off every logger that is there.
    linted = subprocess.run([sys.executable, "-c", LINT], cwd=ROOT, capture_output=True, text=True, check=False)

    assert linted.returncode == 0, linted.stdout + linted.stderr
