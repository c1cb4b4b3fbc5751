"""The program, with a note of every file of ours whose functions are called: FILE ARGUMENTS...

Each line on standard input is an order: `begin` forgets what was noted, `write` writes it to FILE; both answer `done`.
At the end it is written too. Files that requests over HTTP enter in their own tasks are listed apart.
"""

from __future__ import annotations

import json
import sys
import threading
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

import tocsin
from tocsin.cli.__main__ import run

_SOURCES = str(Path(tocsin.__file__).parent) + "/"
_entered: set[str] = set()
_in_request: set[str] = set()
# Set in the context of a request's task, which the tasks that it starts inherit, and loops of the service do not.
_is_request: ContextVar[bool] = ContextVar("is_request", default=False)
# The function of uvicorn that is the task of a request.
_REQUEST = "run_asgi"


def main() -> int:
    """Carry out the command, and return its exit status."""
    out = Path(sys.argv[1])
    threading.Thread(target=_obey, args=(out,), daemon=True).start()
    threading.setprofile(_note)
    sys.setprofile(_note)
    try:
        return run(sys.argv[2:])
    finally:
        sys.setprofile(None)
        _write(out)


def _note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001 - Python's signature
    if event != "call":
        return
    if frame.f_code.co_name == _REQUEST:
        _is_request.set(True)
    name = frame.f_code.co_filename
    is_known = name in _entered and (name in _in_request or not _is_request.get())
    if not is_known and name.startswith(_SOURCES) and not _is_importing(frame):
        _entered.add(name)
        if _is_request.get():
            _in_request.add(name)


def _is_importing(frame: FrameType | None) -> bool:
    """Tell whether a module is being imported: its body, its classes' bodies and what they call."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(_SOURCES):
            return True
        frame = frame.f_back
    return False


def _obey(out: Path) -> None:
    for line in sys.stdin:
        if line.strip() == "begin":
            _entered.clear()
            _in_request.clear()
        else:
            _write(out)
        print("done", flush=True)


def _write(out: Path) -> None:
    found = {"all": _entered.copy(), "request": _in_request.copy()}
    shown = {part: sorted(name.removeprefix(_SOURCES) for name in names) for part, names in found.items()}
    out.write_text(json.dumps(shown), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
