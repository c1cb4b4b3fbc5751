"""Templates of messages: the built-in ones, and how those of users are rendered."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.parsers import expat

from msgspec import Struct

from tocsin.engine.alerting.plain import escape_markdown
from tocsin.errors import TemplateFailed
from tocsin.model import JsonObject
from tocsin.spec.infrastructure.unsafe import one_line
from tocsin.wording.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Template as JinjaTemplate
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_BYTES: Final = 256 * 2**10
_FOLDER: Final = Path(__file__).parent / "templates"
_ESCAPED: Final = frozenset({"html", "xml", "json"})
# Templates do anything with their values; what else they may raise ends the process.
_FAULTS: Final = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError,
)  # fmt: skip


class Template(Struct, frozen=True):
    """A template of the user's own.

    kind    what it makes: txt, html, md, json or xml
    name    of its file, for errors
    error   why it cannot be used; then there is no source
    """

    kind: str
    name: str
    source: str = ""
    error: str = ""


class TemplateLate(Exception):
    """A template takes too long; a timer raises it in whichever line it is at."""


def render(template: Template, view: JsonObject, language: str) -> str:
    """Render a user's template; only ever called in a process that may be killed.

    view  what it shows, as `messages.alert_view` and `messages.digest_view` make it
    Raises TemplateFailed with the file, the line and the reason.
    """
    from jinja2 import DictLoader, StrictUndefined, TemplateError  # noqa: PLC0415 - 2 MB that a service at rest lacks

    kind = template.kind
    made: JinjaTemplate | None = None
    env = _environment(language).overlay(
        autoescape=kind in _ESCAPED,
        undefined=StrictUndefined,
        finalize=_json_finalizer() if kind == "json" else None,
        loader=DictLoader({}),
    )
    parts: list[str] = []
    left = MOST_BYTES
    try:
        made = env.from_string(template.source)
        steps: Any = made.root_render_func(made.new_context(view))
        for part in steps:
            left -= len(part.encode(errors="replace"))
            if left < 0:
                last = made.get_corresponding_lineno(steps.gi_frame.f_lineno)
                raise TemplateFailed(f"{template.name}, line {last}: it makes more than {MOST_BYTES // 1024} KiB")
            parts.append(part)
    except (TemplateError, TemplateLate, *_FAULTS) as exc:
        line = getattr(exc, "lineno", None) or (_line_of(made, exc) if made is not None else None)
        where = template.name if line is None else f"{template.name}, line {line}"
        raise TemplateFailed(f"{where}: {_told(exc)}") from exc
    text = "".join(parts)
    if why := _why_invalid(kind, text):
        raise TemplateFailed(f"{template.name}: {why}")
    return text


def _line_of(made: JinjaTemplate, exc: BaseException) -> int | None:
    """Find the line of a template that raised an error."""
    line, trace = None, exc.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == (made.filename or "<template>"):
            line = made.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _told(exc: BaseException) -> str:
    if isinstance(exc, TemplateLate):
        return "it takes too long"
    if isinstance(exc, MemoryError):
        return "it takes too much memory"
    if isinstance(exc, RecursionError):
        return "it calls itself without end"
    return f"{type(exc).__name__}: {one_line(exc)}"


def _why_invalid(kind: str, text: str) -> str | None:
    """Say why a text is no JSON or XML, where it is to be."""
    try:
        if kind == "json":
            json.loads(text)
        elif kind == "xml":
            expat.ParserCreate().Parse(text, True)  # noqa: FBT003 - the parser takes no names
    except json.JSONDecodeError as exc:
        return f"what it makes is not JSON: {exc.msg} in line {exc.lineno} of it"
    except expat.ExpatError as exc:
        return f"what it makes is not XML: {expat.ErrorString(exc.code)} in line {exc.lineno} of it"
    except RecursionError:
        return "what it makes is nested too deeply"
    return None


@cache
def _json_finalizer() -> Callable[[object, object], object]:
    """Make what writes a value as JSON has it; a text without its quotation marks, which the template has."""
    from jinja2 import Undefined, pass_context  # noqa: PLC0415 - 2 MB
    from markupsafe import Markup  # noqa: PLC0415 - the same

    # With the context, Jinja asks it of constants, too.
    @pass_context
    def write(_context: object, value: object) -> object:
        if isinstance(value, Markup | Undefined):
            return value
        written = json.dumps(value, ensure_ascii=False)
        return Markup(written[1:-1] if isinstance(value, str) else written)  # noqa: S704 - JSON: HTML escapes nothing

    return write


def render_html(view: JsonObject, language: str) -> str:
    """Render the built-in HTML."""
    return _environment(language).get_template("message.html").render(view)


@cache
def _environment(language: str) -> ImmutableSandboxedEnvironment:
    # At rest a service makes no messages: loading it would cost 2 MB.
    from jinja2 import FileSystemLoader  # noqa: PLC0415 - 2 MB
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - the same

    env = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(_FOLDER), autoescape=_is_html, trim_blocks=True, lstrip_blocks=True, auto_reload=False
    )
    env.globals = {"t": words_of(language).say, "range": env.globals["range"]}
    env.filters["md"] = escape_markdown
    return env


def _is_html(name: str | None) -> bool:
    return name is not None and name.endswith(".html")
