"""A module that a process aside runs in tests."""

from __future__ import annotations

from pathlib import Path

import pytest

ECHO = """
import os, sys, time, urllib.error, urllib.request
from tocsin.adapters.processes.aside import serve_jobs

def answer(job):
    if job == b"die":
        os._exit(3)
    if job == b"hang":
        time.sleep(600)
    if job == b"who":
        return str(os.getpid()).encode()
    if job.startswith(b"http:"):
        try:
            return urllib.request.urlopen(job.decode(), timeout=20).read()
        except urllib.error.HTTPError as exc:
            return str(exc.code).encode()
    if job == b"variables":
        return repr(sorted(os.environ)).encode()
    return job[::-1]

serve_jobs(int(sys.argv[1]), int(sys.argv[2]), answer)
"""


def write_echo(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put it on the path of processes that are started; returns its name."""
    (folder / "echoing.py").write_text(ECHO)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return "echoing"
