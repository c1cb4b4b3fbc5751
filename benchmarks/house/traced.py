"""The program, with a note of every file of ours whose functions are called: FILE ARGUMENTS...

Each line on standard input is an order: `begin` forgets what was noted, `write` writes it to FILE; both answer `done`.
At the end it is written too.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import FrameType

import tocsin
from tocsin.cli.__main__ import run

_SOURCES = str(Path(tocsin.__file__).parent) + "/"
_entered: set[str] = set()


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
    name = frame.f_code.co_filename
    if event == "call" and name not in _entered and name.startswith(_SOURCES) and not _is_importing(frame):
        _entered.add(name)


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
        else:
            _write(out)
        print("done", flush=True)


def _write(out: Path) -> None:
    out.write_text(json.dumps(sorted(name.removeprefix(_SOURCES) for name in _entered.copy())), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
