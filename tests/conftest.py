"""What holds for every test: which tocsin is tried, and how examples are made up."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tocsin

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = os.environ.get("WHEEL_UNDER_TEST") == "1"
"""The tests are to try the installed wheel; the sources must be out of reach."""

# No deadline, nor one for making examples up: how long that takes says more about the machine's other work than ours.
# CI tries the same examples each time: what a change is refused for is the change. Whoever else runs them explores.
settings.register_profile(
    "tocsin",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize="CI" in os.environ,
)
# The second run of all tests, on the wheel, is about what was packed: its laws are tried with fewer examples.
settings.register_profile("again", parent=settings.get_profile("tocsin"), max_examples=15)
settings.load_profile("tocsin")


def pytest_report_header() -> str:
    return f"tocsin {tocsin.__version__} from {Path(tocsin.__file__).parent}"


def pytest_configure() -> None:
    # Settings of whoever runs the tests are not to reach them, nor the processes that they start.
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        del os.environ[name]
    os.environ["XDG_CONFIG_HOME"] = os.devnull

    from_sources = Path(tocsin.__file__).is_relative_to(ROOT / "service")
    if from_sources and INSTALLED:
        message = f"the wheel was to be tried, but tocsin comes from {tocsin.__file__}"
        raise RuntimeError(message)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # Thousands of tests stay until the end: who tidies up need not look through them, now or after each test.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
