"""Rendering of templates into answers; every value is escaped and cleaned.

Templates get `request`, `caller` (None before a login), `may_write`, `csrf`, `look`, `has_keys`, `language`, `now`,
`frame`, `told` (a notice, see `Notice`) and the values of their page; `t("changes.new", n=2)` says a text of `wording/`
in the reader's language. Autoescaping is on for all of them, an unknown variable is an error, and no template is made
from input.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from msgspec import Struct

from tocsin.model import EPOCH, AlertQuery, BoundedCount, Instant, PageQuery, Scope, View
from tocsin.server.lost_forms import AGAIN, LostForm, is_shown_again, read_kept
from tocsin.server.parts import CALLER, SENDER, Caller, Parts, Sender
from tocsin.server.problems import Problem
from tocsin.server.web import formatting
from tocsin.server.web.log import LogLine
from tocsin.wording.sentences import SentenceKind
from tocsin.wording.words import LANGUAGES, Language, Words, words_of

# Static files: read once, named by their digest, cached by browsers for a year.


router = APIRouter(include_in_schema=False)

_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


class Asset(NamedTuple):
    """A file."""

    body: bytes
    media_type: str
    digest: str


# Comments and indents of scripts are for readers of the source: a browser loads the rest.
_FOR_READERS: Final = re.compile(rb"^[ \t]*(?://.*)?\n?", re.MULTILINE)


def _read() -> dict[str, Asset]:
    folder = Path(__file__).parent / "static"
    return {
        path.name: Asset(body, _TYPES[path.suffix], blake2b(body, digest_size=8).hexdigest())
        for path in sorted(folder.iterdir())
        if path.suffix in _TYPES
        for body in (_FOR_READERS.sub(b"", path.read_bytes()) if path.suffix == ".js" else path.read_bytes(),)
    }


ASSETS: Final[Mapping[str, Asset]] = _read()  # By name. Only these are served: a request never reads the disk.


def asset_path(name: str) -> str:
    """Return the path of a file, which changes with its content."""
    return f"/static/{ASSETS[name].digest}/{name}"


@router.get("/static/{digest}/{name}")
async def serve(digest: str, name: str, request: Request) -> Response:
    """Serve a file; under an old digest, the current one, not cached."""
    asset = ASSETS.get(name)
    if asset is None:
        raise HTTPException(404, "there is no such file")
    keep = "public, max-age=31536000, immutable" if digest == asset.digest else "no-cache"
    headers = {"cache-control": keep, "etag": f'"{asset.digest}"'}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(asset.body, media_type=asset.media_type, headers=headers)


# Notices after an action: shown on the page that the browser is redirected to, with an undo if there is one.
#
# Notices are kept in memory for some minutes. Their keys are random and bound to the caller, so that no other client
# sees them.


KEY: Final = "told"
# A notice is shown on the next page, within seconds; unseen ones go.
_KEPT: Final = 200
_KEPT_US: Final = 600 * 1_000_000


class Undo(Struct, frozen=True):
    """A form with one button that undoes an action.

    path    posted to, with these values (texts, or sequences of them)
    verb    the label of the button
    """

    path: str
    verb: str
    values: Mapping[str, str | Sequence[str]]


class Notice(Struct, frozen=True):
    """The result of an action.

    kind  "good", "warn" or "loud"
    more  a link: path and label
    """

    text: str
    kind: str
    who: str
    at: Instant
    undo: Undo | None = None
    more: tuple[str, str] | None = None


def say(request: Request, key: str, **values: object) -> str:
    """Say a text of our own in the language of the reader."""
    return words_of(language_of(request)).say(key, **values)


def go_on(
    request: Request,
    path: str,
    key: str,
    *,
    kind: str = "good",
    undo: Undo | None = None,
    more: tuple[str, str] | None = None,
    **values: object,
) -> RedirectResponse:
    """Redirect the browser (303) to a page that shows a notice: the text of this key, below "notice.", with its values.

    more  a link: path and key
    """
    kept, now = _kept(request), request.app.state.parts.clock.now()
    while kept and (len(kept) >= _KEPT or next(iter(kept.values())).at < now - _KEPT_US):
        kept.popitem(last=False)
    text = say(request, f"notice.{key}", **values)
    link = None if more is None else (more[0], say(request, f"notice.{more[1]}"))
    token = token_urlsafe(9)
    kept[token] = Notice(text, kind, _who(request), now, undo, link)
    parts = urlsplit(path)
    query = "&".join([*_without_notice(parts.query), f"{KEY}={token}"])
    return RedirectResponse(urlunsplit(parts._replace(query=query)), status_code=303)


def _without_notice(query: str) -> list[str]:
    return [each for each in query.split("&") if each and not each.startswith(f"{KEY}=")]


def find(request: Request) -> Notice | None:
    """Return the notice of this request."""
    if (said := getattr(request.state, "told", None)) is not None:
        return said if isinstance(said, Notice) else None
    notice = _kept(request).get(request.query_params.get(KEY, ""))
    now = request.app.state.parts.clock.now()
    if notice is None or notice.who != _who(request) or notice.at < now - _KEPT_US:
        return None
    return notice


def _kept(request: Request) -> OrderedDict[str, Notice]:
    state = request.app.state
    if not hasattr(state, "notices"):
        state.notices = OrderedDict()
    kept: OrderedDict[str, Notice] = state.notices
    return kept


def _who(request: Request) -> str:
    caller = request.scope.get(CALLER)
    return caller.who if isinstance(caller, Caller) else ""


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


async def in_time(read: Coroutine[Any, Any, T], bound_s: float) -> T | None:
    """Wait so long for a figure; None where it takes longer, so that the page is served without it."""
    try:
        async with asyncio.timeout(bound_s):
            return await read
    except TimeoutError:
        return None


_WEIGHT: Final = re.compile(r";\s*q=([01](?:\.\d{0,3})?)")
_EVERY: Final = re.compile(r"every (\S+) \(jittered\)")  # Why most pages are due.
_MOST_OF_A_HEADER: Final = 500  # Letters of Accept-Language.

# `auto` follows the system.
LOOKS: Final = ("auto", "light", "dark")
LOOK_COOKIE: Final = "tocsin-look"
LANGUAGE_COOKIE: Final = "tocsin-language"
KEYS_COOKIE: Final = "tocsin-keys"  # "off": single keys do nothing (WCAG 2.1.4).


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
def _t(context: Context, key: str, **values: Any) -> Markup:
    """Say a text in the language of the reader; values that are not HTML are cleaned and escaped."""
    words: Words = context["words"]
    shown = {name: escape(_finish(value)) if isinstance(value, str) else value for name, value in values.items()}
    return Markup(words.say(key, **shown))  # noqa: S704 - our own text; its values are escaped


def language_of(request: Request) -> Language:
    """Say in which language a page is written: the one that the reader chose, else one that the browser prefers."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    preferred = [
        (-float(weight[1]) if (weight := _WEIGHT.search(each)) else -1.0, place, each.strip()[:2].lower())
        for place, each in enumerate(request.headers.get("accept-language", "")[:_MOST_OF_A_HEADER].split(","))
    ]
    for name in (chosen, *(name for _, _, name in sorted(preferred))):
        for language in LANGUAGES:
            if name == language:
                return language
    return LANGUAGES[0]


@pass_context
def _ago(context: Context, at: Instant | None, never: str = "") -> Markup:
    return formatting.ago(at, context["now"], context["zone"], never, context["words"])


@pass_context
def _when(context: Context, at: Instant | str | None, never: str = "") -> Markup:
    at = _instant(at) if isinstance(at, str) else at
    return formatting.when(at, context["now"], context["zone"], context["words"], never)


@pass_context
def _clock(context: Context, at: Instant) -> Markup:
    return formatting.clock(at, context["zone"])


@pass_context
def _clock_time(context: Context, at: Instant) -> str:
    """Write the time of day alone, for an attribute."""
    return formatting.time_of_day(at, context["zone"])


@pass_context
def _count(context: Context, number: int | BoundedCount) -> str:
    words: Words = context["words"]
    return words.number(number)


@pass_context
def _span(context: Context, value: timedelta | float, parts: int = 2) -> str:
    return formatting.span(value, parts, context["words"])


@pass_context
def _size(context: Context, number: float) -> str:
    return formatting.size(number, context["words"])


@pass_context
def _due(context: Context, at: Instant | None, never: str = "", past: str = "") -> Markup:
    return formatting.due(at, context["now"], context["zone"], never, past, context["words"])


@pass_context
def _lasting(context: Context, at: Instant) -> Markup:
    return formatting.lasting(at, context["now"], context["zone"], context["words"])


@pass_context
def _moment(context: Context, at: Instant | None) -> Markup:
    return formatting.moment(at, context["zone"], context["words"])


@pass_context
def _brief(context: Context, at: Instant | str) -> Markup:
    at = _instant(at) if isinstance(at, str) else at
    return formatting.brief(at, context["zone"], context["words"])


def _instant(text: str) -> Instant:
    """Read a time as records have it."""
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


@pass_context
def _word(context: Context, name: Any, kind: str) -> str:
    """Say the word for a value of ours, such as a basis; the value itself where there is none."""
    words, key = context["words"], f"{kind}.{name}"
    return str(words.say(key) if key in words else name)


@pass_context
def _cause(context: Context, code: str) -> str:
    """Say why a page is unreachable: a kind of failure, and its detail after a space."""
    kind, _, detail = code.partition(" ")
    said = _word(context, kind, "cause")
    return f"{said} ({detail})" if detail else said


@pass_context
def _planned(context: Context, why: str) -> str:
    """Say why a page is due when it is."""
    words: Words = context["words"]
    found = _EVERY.fullmatch(why)
    return words.say("due_why.every", span=found[1]) if found else words.retell(why, "due")


@pass_context
def _retold(context: Context, text: str, kind: SentenceKind = "errors") -> str:
    """Say an error or a reason, which the code wrote in English, in the language of the reader."""
    words: Words = context["words"]
    return words.retell(text, kind)


@pass_context
def _named(context: Context, number: int, key: str) -> str:
    """Name what is counted from 0, such as a weekday, by a list of names."""
    return str(context["words"].say(key).split()[number])


@pass_context
def _day(context: Context, at: Instant) -> str:
    """Write a day in words: 3 August."""
    now = formatting.absolute(context["now"], context["zone"])
    return context["words"].day(formatting.absolute(at, context["zone"])[:10], now) or ""


@pass_context
def _deed(context: Context, line: LogLine, room: formatting.Room) -> Markup:
    """Say what was done, with a link to what it was done to."""
    words, name = context["words"], escape(_finish(room.fit(line.object, 80)))
    if line.path and name:
        name = Markup('<a href="{}">{}</a>').format(line.path, name)
    if (key := f"audit.{line.key}") not in words:
        return Markup("{} {}").format(room.fit(line.key, 60), name)
    return Markup(words.say(key, object=name))  # noqa: S704 - our own text; its values are escaped


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
        when=_when,
        clock=_clock,
        clock_time=_clock_time,
        group_colour=formatting.group_colour,
        due=_due,
        lasting=_lasting,
        moment=_moment,
        brief=_brief,
        coded=formatting.coded,
        span=_span,
        count=_count,
        size=_size,
        setting=formatting.setting,
        short=formatting.short,
        file_name=formatting.file_name,
        url=formatting.url,
        linked=formatting.linked,
        short_url=formatting.short_url,
        word=_word,
        cause=_cause,
        named=_named,
        planned=_planned,
        retold=_retold,
        day=_day,
        deed=_deed,
    )
    made.tests["web"] = formatting.is_web
    made.globals["asset"] = asset_path
    made.globals["t"] = _t
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
        "has_keys": True,
        "language": LANGUAGES[0],
        "words": words_of(LANGUAGES[0]),
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
    language = language_of(request)
    given = {
        "language": language,
        "words": words_of(language),
        "request": request,
        "status": status,
        "caller": caller,
        "csrf": caller.csrf if isinstance(caller, Caller) else "",
        "may_write": isinstance(caller, Caller) and caller.may(Scope.WRITE),
        "look": look if look in LOOKS else "auto",
        "has_keys": request.cookies.get(KEYS_COOKIE) != "off",
        "now": parts.clock.now(),
        "zone": formatting.zone_named(parts.service.settings().instance.time_zone),
        # Without the notice, which is told once.
        "here": formatting.local_path("?".join(filter(None, (path, "&".join(_without_notice(request.url.query)))))),
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


async def ask(
    request: Request,
    key: str,
    path: str,
    *,
    back: str,
    section: str,
    values: Mapping[str, object] | None = None,
    danger: bool = False,
    **named: object,
) -> HTMLResponse:
    """Ask before an action: the texts of this key, below "ask.", with their values.

    path    posted to, with these hidden fields and `confirmed`
    danger  it cannot be undone
    """
    said: dict[str, Any] = {
        part: say(request, f"ask.{key}_{part}", **named) for part in ("title", "question", "detail", "verb")
    }
    return await page(
        request,
        "confirm.html",
        section=section,
        **said,
        path=path,
        values=values or {},
        back=back,
        danger=danger,
    )


def again_page(request: Request, path: str, kept: str, *, status: int, csrf: str, why: str) -> HTMLResponse:
    """Answer with what was typed into a form that was not taken, so that it can be sent again; `why` is a key."""
    values, shown = read_kept(kept), is_shown_again(path)
    return plain_page(
        request,
        "again.html",
        status=status,
        path=path,
        values=values,
        is_shown=shown,
        csrf=csrf,
        why=say(request, f"again.{why}"),
    )


async def typed_again(request: Request) -> bool:
    """Say whether a form only comes back to be shown again; the page then says so."""
    if not (await request.form()).get(AGAIN):
        return False
    now = request.app.state.parts.clock.now()
    request.state.told = Notice(say(request, "notice.typed_again"), "warn", "", now)
    return True


def error_page(request: Request, problem: Problem, request_id: str) -> Response:
    """Answer with an error page, without the store, which may be what failed."""
    if isinstance(problem, LostForm) and problem.kept:
        csrf = request.scope[CALLER].csrf
        return again_page(
            request, request.url.path, problem.kept, status=problem.status, csrf=csrf, why="opened_before"
        )
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
