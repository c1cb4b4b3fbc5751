"""`tocsin route`: which alerts go where, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.arguments import match_in_words
from tocsin.cli.formatting import show_time
from tocsin.cli.session import configuration, is_store_there, now, settings_in_force, with_store
from tocsin.errors import UsageError
from tocsin.model.records.routing import RouteTest, delivery_of, routes_of
from tocsin.model.saved import Saved, merge
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.engine.alerting.routing import RouteAnswer
    from tocsin.model import AlertDraft, Instant, PageRow, Routed, Silence
    from tocsin.ports import Store
    from tocsin.settings import RouteSettings, Settings

# The kinds of alerts that are about one page; a storm and an outage are not.
_KINDS: Final = ("changed", "unreachable", "recovered", "disallowed", "suspect", "unchanged", "too-soon")
_MOST_SILENCES: Final = 1000


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
