"""Folders of processes: removed at the end, or by the next process where the end was a kill."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tocsin.adapters.processes.folders import temporary_folder
from tocsin.adapters.processes.starting import environment

PREFIX = "tocsin-tried-"
HOLDER = f"""
import signal
from tocsin.adapters.processes.folders import temporary_folder
with temporary_folder({PREFIX!r}) as folder:
    open(folder + "/file", "w").close()
    print(folder, flush=True)
    signal.pause()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_removed_at_the_end_with_all_in_it() -> None:
    with temporary_folder(PREFIX) as folder:
        (Path(folder) / "below").mkdir()

    assert not Path(folder).exists()


def test_a_folder_of_a_process_that_was_killed_is_removed_by_the_next_and_never_that_of_a_live_one(
    place: Path,
) -> None:
    other = place / f"{PREFIX}file"
    other.write_text("no folder")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], env=environment() | {"TMPDIR": str(place)}, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        held = Path(holder.stdout.readline().strip())
        with temporary_folder(PREFIX) as ours, temporary_folder(PREFIX):
            during = (held / "file").exists(), Path(ours).exists()
        holder.kill()
    with temporary_folder(PREFIX):
        after = held.exists()

    assert during == (True, True)
    assert not after
    assert other.exists()


def test_a_folder_that_is_taken_for_one_that_was_left_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another process may look between the making of a folder and its lock."""
    made: list[str] = []
    make = tempfile.mkdtemp

    def make_and_lose(*, prefix: str) -> str:
        made.append(make(prefix=prefix))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose)
    with temporary_folder(PREFIX) as folder:
        assert folder == made[1]
        assert Path(folder).exists()
