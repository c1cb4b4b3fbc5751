"""Programs of others, called and judged by their exit status."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.image.telling import Impossible, Unproved

PACKAGES = ("buildah", "podman", "runc", "mmdebstrap")
_LAST_LINES = 15


def call(
    command: Sequence[str | Path], *, limit_s: float = 120.0, statuses: Sequence[int] = (0,), log: Path | None = None
) -> str:
    """Call a program; returns what it printed. Raises Unproved where it ends otherwise, or not in time.

    log  takes what it says while it works
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=limit_s, errors="replace")  # noqa: S603 - what this proof is made of
    except subprocess.TimeoutExpired as exc:
        raise Unproved(f"{' '.join(words[:8])} … took longer than {limit_s:g} s") from exc
    if log is not None:
        log.write_text(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}", "utf-8")
    if done.returncode not in statuses:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_LAST_LINES:])
        raise Unproved(f"{' '.join(words[:12])} … ended with {done.returncode}:\n{said}")
    return done.stdout


def missing_packages() -> list[str]:
    """Name the packages whose programs are not there."""
    return [name for name in PACKAGES if shutil.which(name) is None]


def tool(name: str) -> str:
    """Find a program; raises Impossible."""
    found = shutil.which(name)
    if found is None:
        raise Impossible(f"{name} is not installed, and is needed")
    return found
