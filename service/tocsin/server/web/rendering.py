"""Rendering of templates into answers; every value is escaped and cleaned.

Templates get `request`, `caller` (None before a login), `may_write`, `csrf`, `look`, `now`, `frame`, `told` (a notice,
see `notices`) and the values of their page. Autoescaping is on for all of them, an unknown variable is an error, and no
template is made from input.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable
from datetime import UTC
from pathlib import Path
from typing import Any, Final, TypeVar

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from msgspec import Struct
from starlette.responses import Response

from tocsin.model import AlertQuery, BoundedCount, Instant, PageQuery, Scope, View
from tocsin.server.access.origins import SENDER, Sender
from tocsin.server.access.rights import CALLER, Caller
from tocsin.server.parts import Parts
from tocsin.server.problems import Problem
from tocsin.server.web import formatting
from tocsin.server.web.notices import find
from tocsin.server.web.static_files import asset_path

T = TypeVar("T")


async def together(reads: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run reads of the store concurrently; returns their results in order, and raises the first error.

    The store reads on a thread, and a busy loop notices the end of a read late: one wait is faster than one per read.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(read, name="read for a page") for read in reads]
    except ExceptionGroup as exc:
        raise exc.exceptions[0] from None
    return [task.result() for task in tasks]


LOOKS: Final = ("auto", "light", "dark")
LOOK_COOKIE: Final = "tocsin-look"


class Frame(Struct, frozen=True):
    """The values of the navigation and the banners of every page.

    unseen, questions  counters of the navigation
    nothing_checked    why no page is checked; None if some are
    outage_since       since when our own connection seems down
    is_open            no token was ever made: every user of this machine may do everything
    """

    unseen: BoundedCount
    questions: BoundedCount
    nothing_checked: str | None = None
    outage_since: Instant | None = None
    is_open: bool = False


def _finish(value: Any) -> Any:
    """Clean a value; the HTML of filters is clean already."""
    return formatting.clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@pass_context
def _ago(context: Context, at: Instant | None, never: str = "never") -> Markup:
    return formatting.ago(at, context["now"], context["zone"], never)


@pass_context
def _due(context: Context, at: Instant | None, never: str = "not planned", past: str = "due now") -> Markup:
    return formatting.due(at, context["now"], context["zone"], never, past)


@pass_context
def _lasting(context: Context, at: Instant) -> Markup:
    return formatting.lasting(at, context["now"], context["zone"])


@pass_context
def _moment(context: Context, at: Instant | None, never: str = "never") -> Markup:
    return formatting.moment(at, context["zone"], never)


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finish,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    made.filters.update(
        ago=_ago,
        due=_due,
        lasting=_lasting,
        moment=_moment,
        span=formatting.span,
        count=formatting.count,
        size=formatting.size,
        setting=formatting.setting,
        short=formatting.short,
        url=formatting.url,
        linked=formatting.linked,
        short_url=formatting.short_url,
    )
    made.tests["web"] = formatting.is_web
    made.globals["asset"] = asset_path
    made.globals["Room"] = formatting.Room
    return made


_ENVIRONMENT: Final = _environment()
# Links of our own; in texts of pages, quotation marks are escaped, so that they never match.
_OWN_PATH: Final = re.compile(r"""(?<=\s)(href|src|action|formaction)="(?=/(?!/))""")


def warm() -> None:
    """Compile all templates, so that no first page waits for that."""
    for name in _ENVIRONMENT.list_templates():
        _ENVIRONMENT.get_template(name)


def render(template: str, **context: Any) -> str:
    """Render a template; the common values have neutral defaults."""
    base: dict[str, Any] = {
        "request": None,
        "caller": None,
        "csrf": "",
        "may_write": False,
        "look": "auto",
        "now": 0,
        "zone": UTC,
        "frame": None,
        "told": None,
        "here": "/",
    }
    return _ENVIRONMENT.get_template(template).render(base | context)


def plain_page(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Answer with a page that needs no store, without counters and banners: the login, an error."""
    return _answer(request, template, status, context)


async def page(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Answer with a page, with counters and banners."""
    parts: Parts = request.app.state.parts
    return _answer(request, template, status, {"frame": await read_frame(parts), "told": find(request)} | context)


def _answer(request: Request, template: str, status: int, context: dict[str, Any]) -> HTMLResponse:
    parts: Parts = request.app.state.parts
    caller = request.scope.get(CALLER)
    look = request.cookies.get(LOOK_COOKIE, "auto")
    path = request.url.path
    given = {
        "request": request,
        "status": status,
        "caller": caller,
        "csrf": caller.csrf if isinstance(caller, Caller) else "",
        "may_write": isinstance(caller, Caller) and caller.may(Scope.WRITE),
        "look": look if look in LOOKS else "auto",
        "now": parts.clock.now(),
        "zone": formatting.zone_named(parts.service.settings().instance.time_zone),
        "here": formatting.local_path(f"{path}?{request.url.query}" if request.url.query else path),
    }
    headers = {"cache-control": "no-store"}
    text = render(template, **(given | context))
    sender = request.scope.get(SENDER)
    if isinstance(sender, Sender) and sender.prefix:
        # Done here for all links and forms, so that no template can forget it.
        text = _OWN_PATH.sub(rf'\1="{sender.prefix}', text)
    return HTMLResponse(text, status_code=status, headers=headers)


async def read_frame(parts: Parts) -> Frame:
    """Read the counters and banners of every page."""
    store = parts.store
    unseen, questions, paused = await together(
        [
            store.tally_alerts(AlertQuery(unseen=True)),
            store.tally_questions(),
            store.tally_pages(PageQuery(view=View.PAUSED)),
        ]
    )
    return Frame(
        unseen=unseen,
        questions=questions,
        nothing_checked=await _why_nothing(parts, paused),
        outage_since=parts.service.live().outage_since,
        is_open=not await store.has_tokens(),
    )


async def _why_nothing(parts: Parts, paused: BoundedCount) -> str | None:
    """Say why no page is checked: the mode is off for all, or all are paused (T50, T52)."""
    for_all, _ = await parts.store.overrides()
    if for_all.get("mode", parts.service.settings().pages.mode) == "off":
        return "off"
    if paused.number and paused.is_exact:
        every = await parts.store.tally_pages(PageQuery())
        return "paused" if every.number == paused.number else None
    return None


def error_page(request: Request, problem: Problem, request_id: str) -> Response:
    """Answer with an error page, without the store, which may be what failed."""
    answer = plain_page(
        request,
        "error.html",
        status=problem.status,
        title=problem.title,
        detail=problem.detail,
        mend=problem.mend,
        request_id=request_id,
    )
    answer.headers.update(problem.headers)
    return answer
