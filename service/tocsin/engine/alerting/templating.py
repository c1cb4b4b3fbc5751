"""Templates of messages: the built-in ones, and how those of users are rendered."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tocsin.engine.alerting.plain import escape_markdown
from tocsin.errors import TemplateFailed
from tocsin.model import JsonObject
from tocsin.wording.words import words_of

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_FOLDER: Final = Path(__file__).parent / "templates"


def render(source: str, view: JsonObject, language: str, *, is_html: bool) -> str:
    """Render a user's template; only ever called in a process that may be killed.

    source  of the template
    view    what it shows, as `messages.alert_view` and `messages.digest_view` make it
    Raises TemplateFailed, and what the template makes of its values.
    """
    from jinja2 import TemplateError  # noqa: PLC0415 - 2 MB that a service at rest does without

    try:
        return _environment(language).overlay(autoescape=is_html).from_string(source).render(view)
    except TemplateError as exc:
        raise TemplateFailed(f"{type(exc).__name__}: {exc}") from exc


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
