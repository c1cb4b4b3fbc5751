"""`.ci/run`: every part is run and told of, and none that failed is passed over."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.house.sources import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BASH = shutil.which("bash") or "/bin/bash"
USED = ("bash", "cat", "dirname", "grep", "head", "id", "mkdir", "sh", "tail", "tee")


def verb(**endings: int) -> str:
    """A `./dev` whose verbs end so at once; its tests say how many were skipped."""
    cases = "".join(f"{name}) echo {name} said so; exit {status} ;;\n" for name, status in endings.items())
    return f"""#!/bin/sh
case $1 in
{cases}test)
    echo "==== 5 passed in 1s ===="
    for which in sources wheel; do echo '<x skipped="'"${{SKIPPED:-0}}"'" >' >build/tests-$which.xml; done
    exit "${{TESTS:-0}}" ;;
esac
"""


def run(folder: Path, script: str, **environ: str) -> subprocess.CompletedProcess[str]:
    tools = folder / "tools"
    for place in (tools, folder / ".ci"):
        place.mkdir()
    for name in USED:
        (tools / name).symlink_to(shutil.which(name) or name)
    shutil.copy(ROOT / ".ci/run", folder / ".ci/run")
    (folder / "dev").write_text(script)
    (folder / "dev").chmod(0o755)
    # Without apt on its path it installs nothing.
    return subprocess.run(
        [BASH, str(folder / ".ci/run")],
        env={"PATH": str(tools)} | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_all_parts_are_run_and_told_of(tmp_path: Path) -> None:
    done = run(tmp_path, verb())

    assert done.returncode == 0, done.stderr
    parts = [line.split()[:2] for line in done.stdout.splitlines() if line.endswith(" s")]
    assert [part for part in parts if part[-1] == "ok"] == [
        [name, "ok"] for name in ("tests", "image", "bench", "soak", "demo", "docs")
    ]
    assert done.stdout.rstrip().endswith("==== 5 passed in 1s ====")


@pytest.mark.parametrize("name", ["image", "bench", "soak", "demo", "docs"])
def test_a_part_that_fails_is_shown_and_fails_the_whole(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, verb(**{name: 1}))

    assert done.returncode == 1
    assert f"{name} said so" in done.stderr
    assert "FAILED" in done.stderr


def test_a_machine_that_cannot_try_the_image_says_why_and_passes(tmp_path: Path) -> None:
    done = run(tmp_path, verb(image=3))

    assert done.returncode == 0
    assert "image said so" in done.stderr
    assert "not run" in done.stdout


def test_tests_that_fail_fail_it(tmp_path: Path) -> None:
    done = run(tmp_path, verb(), TESTS="1")

    assert done.returncode == 1
    assert ["tests", "FAILED"] in [line.split()[:2] for line in done.stdout.splitlines()]


def test_tests_that_were_skipped_fail_it(tmp_path: Path) -> None:
    done = run(tmp_path, verb(), SKIPPED="1")

    assert done.returncode == 1
    assert "skipped" in done.stderr


def test_what_is_not_installed_is_named_with_what_it_is_for(tmp_path: Path) -> None:
    done = run(tmp_path, verb())

    assert "tests: not installed: chromium" in done.stderr
    assert "image: not installed: buildah podman" in done.stderr
