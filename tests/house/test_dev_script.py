from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.house.sources import ROOT, files

if TYPE_CHECKING:
    from pathlib import Path

SH = shutil.which("sh") or "/bin/sh"


def run(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Call the script as a stranger would: from elsewhere, with hardly any environment."""
    return subprocess.run(
        [SH, str(folder / "dev"), *arguments],
        cwd="/",
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare(tmp_path: Path) -> tuple[Path, Path]:
    """A copy of the script in a folder with a blank in its name, and a PATH with no Python on it."""
    folder, tools = tmp_path / "a folder", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    shutil.copy(ROOT / "dev", folder)
    for name in ("sh", "cat", "cksum", "dirname", "sed"):
        (tools / name).symlink_to(shutil.which(name) or name)
    return folder, tools


def verbs() -> set[str]:
    said = run(ROOT, "help", path="/usr/bin:/bin").stdout
    return set(re.findall(r"^  ([a-z-]+)", said, re.MULTILINE))


def test_dev_help_needs_no_environment(bare: tuple[Path, Path]) -> None:
    folder, tools = bare

    done = run(folder, "help", path=str(tools))

    assert done.returncode == 0
    assert done.stdout.startswith("usage: ./dev VERB")
    assert not (folder / ".venv").exists()


def test_dev_refuses_a_verb_that_it_does_not_have(bare: tuple[Path, Path]) -> None:
    folder, tools = bare

    done = run(folder, "dance", path=str(tools))

    assert done.returncode == 2
    assert "there is no verb 'dance'" in done.stderr


def test_dev_without_a_python_says_how_to_get_one(bare: tuple[Path, Path]) -> None:
    folder, tools = bare
    for lock in ROOT.glob("requirements*.lock"):
        shutil.copy(lock, folder)

    done = run(folder, "test", path=str(tools))

    assert done.returncode == 1
    assert "no Python 3.11 or later was found" in done.stderr
    assert "apt install python3" in done.stderr


def test_dev_passes_over_a_python_without_venv_and_says_what_it_lacks(bare: tuple[Path, Path]) -> None:
    folder, tools = bare
    lame = tools / "python3"
    # New enough, but `import ensurepip, venv` fails.
    lame.write_text("#!/bin/sh\ncase $2 in *ensurepip*) exit 1 ;; esac\n")
    lame.chmod(0o755)

    done = run(folder, "test", path=str(tools))

    assert done.returncode == 1
    assert "python3 lacks the modules venv and ensurepip" in done.stderr
    assert "apt install python3-venv" in done.stderr


def test_every_verb_that_the_documents_name_exists() -> None:
    named = {
        verb
        for path in [*files("*.md"), ROOT / ".ci/run"]
        for verb in re.findall(r"\./dev ([a-z-]+)", path.read_text("utf-8"))
    }

    assert named
    assert named - verbs() == set()


def test_the_first_two_commands_of_the_readme_are_demo_and_test() -> None:
    commands = re.findall(r"^\./dev .*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)

    assert [command.split()[1] for command in commands[:2]] == ["demo", "test"]
