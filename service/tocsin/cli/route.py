"""`tocsin route`: which alerts go where, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from tocsin.cli import output
from tocsin.cli.arguments import match_in_words, match_options
from tocsin.cli.formatting import show_time
from tocsin.cli.session import configuration, is_store_there, now, settings_in_force, with_store
from tocsin.configuration.saved import demand_room, read_route
from tocsin.errors import UsageError
from tocsin.model.records.routing import RouteTest, delivery_of, route_of, routes_of
from tocsin.model.saved import Saved, merge
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.engine.alerting.routing import RouteAnswer
    from tocsin.model import AlertDraft, Instant, PageRow, Routed, Silence
    from tocsin.ports import Store
    from tocsin.settings import RouteSettings, Settings

# The kinds of alerts that are about one page; a storm and an outage are not.
_KINDS: Final = (
    "changed",
    "unreachable",
    "recovered",
    "disallowed",
    "suspect",
    "needs-browser",
    "unchanged",
    "too-soon",
)
_MOST_SILENCES: Final = 1000
WHO: Final = "command line"


@click.group("route", epilog="Example: tocsin route test --url https://example.org/news --kind changed")
def command() -> None:
    """Routes: which alerts go to which channels, and when."""


@command.command("list", epilog="Example: tocsin route list")
@output.json_option
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List the routes from top to bottom: those of the configuration, then those made at run time."""
    settings = configuration(ctx).settings
    saved = with_store(ctx, lambda store: store.saved()) if is_store_there(settings) else Saved()
    merged = merge(settings, saved)
    routes = merged.settings.routes
    if output.is_json():
        output.print_json(*routes_of(merged.settings, saved, merged.unusable))
    elif routes:
        rows = [
            (
                route.name,
                ", ".join(route.channels),
                match_in_words(route.match),
                "" if route.unless is None else match_in_words(route.unless),
                _when(route),
            )
            for route in routes
        ]
        output.table(("route", "channels", "match", "unless", "when"), rows, head="route")
    else:
        output.say("There is no route: every channel gets every alert at once.")
    for name, why in merged.unusable.items():
        output.note(f"Route {name} is left out: {why}.")


@command.command("add", epilog="Example: tocsin route add press --channel ops --group press --digest '0 7 * * mon-fri'")
@click.argument("name", metavar="NAME")
@click.option("--channel", "channels", multiple=True, required=True, metavar="NAME", help="Gets the alerts.")
@match_options
@click.option("--unless", multiple=True, metavar="KEY=VALUE", help="Leave out alerts like this: basis=inferred.")
@click.option("--digest", metavar="WHEN", help='Gather them: "0 7 * * mon-fri" or "1h".')
@click.option("--group-by", multiple=True, metavar="KEY", help="A digest for each value of it.")
@click.option("--quiet", multiple=True, metavar="TIMES", help='Send nothing then: "22:00-07:00", "sat".')
@click.option("--at-most", metavar="NUMBER", help='Go alone, such as "20 per hour"; the rest is a digest.')
@click.option("--say-nothing", is_flag=True, help="Send a digest without alerts, too.")
@click.option("--template", metavar="FILE", help="In messages.folder.")
@click.option("--language", metavar="LANGUAGE", help="Of its messages: en or de.")
@click.option("--continue", is_flag=True, help="Try the routes below, too.")
@click.option("--replace", "is_replaced", is_flag=True, help="Replace a route of this name that was made at run time.")
@output.json_option
@click.pass_context
def add(ctx: click.Context, /, name: str, *, unless: tuple[str, ...], is_replaced: bool, **given: Any) -> None:
    """Make a route in the store, below the others; a running service takes it up within a second.

    Each option is a key of [[routes]] in the configuration.
    """
    settings = configuration(ctx).settings
    body = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items() if value}
    left_out: dict[str, list[str]] = {}
    for each in unless:
        key, is_there, value = each.partition("=")
        if not is_there:
            raise UsageError(f"--unless: {each[:40]}: write KEY=VALUE, as in basis=inferred")
        left_out.setdefault(key, []).append(value)

    async def work(store: Store) -> RouteSettings:
        saved = await store.saved()
        merged = merge(settings, saved).settings
        if name in {route.name for route in settings.routes}:
            raise UsageError(f"route {name}: the configuration has one of this name; choose another one")
        route = read_route(name, body | {"unless": left_out}, merged.channels)
        if name not in {entry.name for entry in saved.routes}:
            demand_room("route", len(merged.routes))
        if route.template:
            from tocsin.app.messages import MessageWriter  # noqa: PLC0415 - most routes have no template

            MessageWriter(settings, lambda _: None).demand_route(f"routes.{name}.template", route)
        wanted = msgspec.to_builtins(route)
        revision = None if is_replaced else 0
        if await store.save_entry("route", name, wanted, now(), who=WHO, if_revision=revision) is None:
            raise UsageError(f"route {name}: there is one of this name; replace it with --replace")
        return route

    route = with_store(ctx, work, create=True)
    output.emit(route_of(route, is_saved=True), lambda: output.say(f"Route {name} is saved.", style="green"))


@command.command("move", epilog="Example: tocsin route move press --before rest")
@click.argument("name", metavar="NAME")
@click.option(
    "--before", metavar="NAME", help="Of another route that was made at run time; default: move it to the end."
)
@output.json_option
@click.pass_context
def move(ctx: click.Context, name: str, before: str | None) -> None:
    """Change the order of routes that were made at run time; those of the configuration come first."""

    async def work(store: Store) -> list[str]:
        names = [entry.name for entry in (await store.saved()).routes]
        for each in (name, name if before is None else before):
            if each not in names:
                raise UsageError(f"route {each}: none of this name was made at run time; see: tocsin route list")
        if name != before:
            names.remove(name)
            names.insert(len(names) if before is None else names.index(before), name)
            await store.order_routes(names)
        return names

    names = with_store(ctx, work)
    output.emit({"routes": names}, lambda: output.say(f"The order is: {', '.join(names)}."))


@command.command("remove", epilog="Example: tocsin route remove press")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def remove(ctx: click.Context, name: str) -> None:
    """Remove a route that was made at run time; a running service notices it within a second."""
    if not with_store(ctx, lambda store: store.remove_entry("route", name, if_revision=None)):
        raise UsageError(f"route {name}: none of this name was made at run time; see: tocsin route list")
    output.emit({"route": name}, lambda: output.say(f"Route {name} is removed."))


@command.command("test", epilog="Example: tocsin route test --url https://example.org/news --kind changed")
@click.argument("alert_id", required=False, metavar="[ALERT]")
@click.option("--url", metavar="URL", help="Instead of an alert: one about this page, which need not be watched.")
@click.option("--kind", type=click.Choice(_KINDS), default="changed", show_default=True, help="With --url: its kind.")
@click.option(
    "--outcome",
    type=click.Choice(("major", "minor")),
    default="major",
    show_default=True,
    help="With --url: of a change.",
)
@output.json_option
@click.pass_context
def test(ctx: click.Context, alert_id: str | None, url: str | None, kind: str, outcome: str) -> None:
    """Say of each route whether it would take an alert now, and why; nothing is sent.

    Limits (at_most) count as unused.
    """
    from tocsin.engine.alerting.routing import explain, router_of  # noqa: PLC0415 - the help needs no engine

    if (alert_id is None) == (url is None):
        raise UsageError("name an alert (see: tocsin alerts list), or give --url for one that you make up")
    settings, at = settings_in_force(ctx), now()
    page_route: str | None = None
    silences: list[Silence] = []
    if url is not None:
        url = watch_url(url).url
    if is_store_there(settings) or alert_id is not None:
        draft, page_route, silences = with_store(ctx, lambda store: _read(store, alert_id, url, kind, outcome, at))
    else:
        draft = _made_up(url or "", None, kind, outcome, at)
    if page_route is None:
        page_route = settings.pages.route
    answers = explain(router_of(settings), draft, at, page_route=page_route, silences=silences)
    if output.is_json():
        output.print_json(*map(_record, answers))
    else:
        _tell(answers, settings)


async def _read(
    store: Store, alert_id: str | None, url: str | None, kind: str, outcome: str, at: Instant
) -> tuple[AlertDraft, str | None, list[Silence]]:
    """Read the alert, the route that its page's settings name, and the silences."""
    from tocsin.model import AlertDraft  # noqa: PLC0415 - the help needs no values

    silences = await store.silences(limit=_MOST_SILENCES)
    if alert_id is not None:
        alert = await store.alert(alert_id)
        if alert is None:
            raise UsageError(f"alert {alert_id}: no such alert; see: tocsin alerts list")
        page = await store.page(alert.url) if alert.url is not None else None
        draft = AlertDraft(alert.id, alert.type, alert.page_id, alert.created_at, alert.event)
    else:
        page = await store.page(url or "")
        draft = _made_up(url or "", page, kind, outcome, at)
    for_all, groups = await store.overrides()
    of_groups = dict(groups.values())
    levels = [] if page is None else [page.settings or {}, of_groups.get(page.group, {})]
    found = [level["route"] for level in (*levels, for_all) if "route" in level]
    return draft, next(iter(found), None), silences


def _made_up(url: str, page: PageRow | None, kind: str, outcome: str, at: Instant) -> AlertDraft:
    """Make up an alert about a page, with as much as is known of it."""
    from tocsin.model import AlertDraft  # noqa: PLC0415 - the help needs no values

    about: Mapping[str, Any] = {
        "url": url,
        "group": page.group if page else "main",
        "text": page.text if page else None,
    }
    data: dict[str, Any] = {"page": about}
    if kind == "changed":
        data["outcome"] = outcome
    return AlertDraft("", f"tocsin.page.{kind}.v1", page.id if page else 0, at, {"data": data})


def _when(route: RouteSettings) -> str:
    said = [f"digest: {route.digest}" if route.digest else "at once"]
    said += [f"at most {route.at_most}"] if route.at_most else []
    said += [f"not {', '.join(route.quiet)}"] if route.quiet else []
    said += [f"in {route.language}"] if route.language else []
    said += [f"by {route.template}"] if route.template else []
    return "; ".join(said)


def _record(answer: RouteAnswer) -> RouteTest:
    deliveries = [delivery_of(routed) for routed in answer.routed]
    return RouteTest(route=answer.route, takes=answer.takes, why=answer.why, deliveries=deliveries)


def _tell(answers: list[RouteAnswer], settings: Settings) -> None:
    if not settings.routes:
        output.say("No route is configured: every channel gets every alert at once.")
    rows = [
        (answer.route or "(all)", "yes" if answer.takes else "no", answer.why, _who_gets_it(answer))
        for answer in answers
    ]
    output.table(("route", "takes it", "why", "who gets it"), rows, head="route")
    if not any(answer.takes for answer in answers):
        output.say("No route takes it, so no channel gets it; it is listed by `tocsin alerts list` all the same.")


def _who_gets_it(answer: RouteAnswer) -> str:
    if answer.takes and not answer.routed:
        return "decided by a route above"
    return "; ".join(map(_gets, answer.routed))


def _gets(routed: Routed) -> str:
    if routed.silence is not None:
        return f"{routed.channel}: held back by silence {routed.silence}"
    at = "at once" if routed.due_at is None else f"at {show_time(routed.due_at)}"
    return f"{routed.channel}: {f'in a digest {at}' if routed.is_digest else at}"
