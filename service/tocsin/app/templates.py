"""The process aside that renders the user's templates, within bounds of memory; its parent bounds its time.

python -m tocsin.app.templates DESCRIPTOR PARENT
"""

from __future__ import annotations

import resource
import signal
import sys
from typing import Final

import msgspec
from msgspec import Struct

from tocsin.adapters.processes.aside import serve_jobs
from tocsin.engine.alerting.templating import Template, TemplateLate, render
from tocsin.errors import TemplateFailed
from tocsin.model import JsonObject
from tocsin.spec.infrastructure.unsafe import one_line, safe_text

# The program itself takes some 150 MB of addresses.
MOST_MEMORY_BYTES: Final = 512 * 2**20
# The parent waits a little longer: what ends by itself can say its line.
DEADLINE_S: Final = 2.0


class TemplateJob(Struct, frozen=True):
    """Templates, what they show, and in which language."""

    templates: tuple[Template, ...]
    view: JsonObject
    language: str


class TemplateResult(Struct, frozen=True):
    """What was made, by the kind of its template; or what went wrong."""

    made: dict[str, str]
    error: str = ""


def carry_out(job: bytes) -> bytes:
    """Carry out a `TemplateJob`; returns a `TemplateResult`."""
    asked = msgspec.msgpack.decode(job, type=TemplateJob)
    made: dict[str, str] = {}
    error = ""
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)
    try:
        for template in asked.templates:
            made[template.kind] = safe_text(render(template, asked.view, asked.language))
    except TemplateFailed as exc:
        error = one_line(exc)
    except TemplateLate:
        error = "the templates take too long"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return msgspec.msgpack.encode(TemplateResult({} if error else made, error))


def _ring(_number: int, _frame: object) -> None:
    raise TemplateLate


def main() -> None:
    """Run with the arguments given."""
    descriptor, parent = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _ring)
    serve_jobs(descriptor, parent, carry_out)


if __name__ == "__main__":
    main()
