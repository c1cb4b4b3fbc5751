"""Where a command writes what it exports: standard output, or a file that is whole or not there."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def opened_target(name: str | None) -> Iterator[IO[bytes]]:
    """Open standard output (None or `-`), or a file that takes its name only once it is written whole.

    Raises UsageError where the file cannot be written.
    """
    if name in (None, "-"):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    file = Path(str(name))
    try:
        handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as exc:
        raise UsageError(f"{file}: cannot be written ({exc.strerror}); name a file in a folder of yours") from exc
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(draft).replace(file)
    except OSError as exc:
        raise UsageError(f"{file}: cannot be written ({exc.strerror}); nothing was kept") from exc
    finally:
        Path(draft).unlink(missing_ok=True)
