"""How work is run: the allocator is set for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TAKE_AND_FREE = """
import resource
from tocsin.app.executing import keep_freed_memory
keep_freed_memory()
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
bytearray(700_000)
before = faults()
for _ in range(100):
    bytearray(700_000)
print(faults() - before)
"""


# The variable that the image sets ends glibc's own choice of the other limit.
@pytest.mark.parametrize("environment", [{}, {"MALLOC_TRIM_THRESHOLD_": str(64 * 2**20)}], ids=["bare", "as the image"])
def test_the_memory_of_a_large_page_is_kept_for_the_next_one(environment: dict[str, str]) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}

    said = subprocess.run(
        [sys.executable, "-c", TAKE_AND_FREE], env=own | environment, capture_output=True, text=True, check=True
    )

    # Each of them is 170 pages of memory, and a fault for each that the system gives anew.
    assert int(said.stdout) < 1000
