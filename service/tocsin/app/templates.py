"""The process aside that renders the user's templates, within bounds of memory; its parent bounds its time.

python -m tocsin.app.templates DESCRIPTOR PARENT
"""

from __future__ import annotations

import resource
import sys
from typing import Final

import msgspec

from tocsin.adapters.processes.aside import serve_jobs
from tocsin.engine.alerting.templating import render
from tocsin.errors import TemplateFailed
from tocsin.spec.infrastructure.unsafe import one_line, safe_text

# The program itself takes some 150 MB of addresses.
MOST_MEMORY_BYTES: Final = 512 * 2**20
_MOST_BYTES: Final = 256 * 2**10


def carry_out(job: bytes) -> bytes:
    """Render templates: {"templates": {kind: source}, "view", "language"} gives {"made": {kind: text}, "error"}."""
    asked = msgspec.msgpack.decode(job)
    made: dict[str, str] = {}
    error = ""
    for kind, source in asked["templates"].items():
        try:
            text = safe_text(render(source, asked["view"], asked["language"], is_html=kind == "html"))
            if len(text.encode()) <= _MOST_BYTES:
                made[kind] = text
            else:
                error = f"{kind}: it is longer than 256 KiB"
        # Templates do anything with their values; what else they may raise ends this process, which is the same to us.
        except TemplateFailed as exc:
            error = f"{kind}: {one_line(exc)}"
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as exc:
            error = f"{kind}: {type(exc).__name__}: {one_line(exc)}"
        except (MemoryError, RecursionError) as exc:
            error = f"{kind}: {type(exc).__name__}"
    return msgspec.msgpack.encode({"made": made, "error": error})


def main() -> None:
    """Run with the arguments given."""
    descriptor, parent = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    serve_jobs(descriptor, parent, carry_out)


if __name__ == "__main__":
    main()
