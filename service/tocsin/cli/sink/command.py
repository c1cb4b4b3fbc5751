"""`tocsin sink`: who is told, and how they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tocsin.cli import output
from tocsin.cli.asking import count
from tocsin.cli.session import configuration, with_store
from tocsin.cli.sink.refusals import Refusals, find_refusals
from tocsin.cli.times import json_time, show_time
from tocsin.configuration import mask
from tocsin.model import as_configured
from tocsin.settings import why_unread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import SinkState
    from tocsin.ports import Store
    from tocsin.settings import SinkSettings


@click.group("sink", epilog="Example: tocsin sink test ops")
def command() -> None:
    """The sinks that alerts go to."""


@command.command("list", epilog="Example: tocsin sink list")
@output.json_option
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List the sinks of the configuration, and how they stand."""
    sinks = configuration(ctx).settings.sinks
    states, refusals = with_store(ctx, lambda store: _states(store, sinks)) if sinks else ([], {})
    if output.is_json():
        for state in states:
            output.print_json(to_record(state, sinks[state.name], refusals.get(state.name)))
    elif states:
        rows = [_row(state, sinks[state.name], refusals.get(state.name)) for state in states]
        output.table(("sink", "type", "to", "accepted", "waiting", "dead", "stands"), rows, head="sink")
    else:
        output.say(
            "No sink is configured: alerts stay listed (tocsin alerts list). Add [sinks.NAME] to the configuration."
        )


@command.command("test", epilog="Example: tocsin sink test ops")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def test(ctx: click.Context, name: str) -> None:
    """Send a sink a test alert; one that was disabled and takes it is enabled again."""
    from tocsin.app import execute, test_sink  # noqa: PLC0415 - listing needs no network stack

    execute(test_sink(configuration(ctx).settings, name))
    output.emit(
        {"sink": name, "accepted": True}, lambda: output.say(f"Sink {name} accepted a test alert.", style="green")
    )


def to_record(state: SinkState, settings: SinkSettings, refusals: Refusals | None) -> dict[str, Any]:
    """Tell a sink as `--json` does; secrets are masked."""
    return {
        "sink": state.name,
        "type": settings.type,
        "to": address_of(state.name, settings),
        "accepted": state.accepted,
        "waiting": state.waiting,
        "dead": state.dead,
        "failures": state.failures,
        "disabled": state.disabled,
        "next_try": json_time(state.next_at),
        "error": state.error or (refusals.error if refusals else None),
    }


def address_of(name: str, settings: SinkSettings) -> str | None:
    """Say where a sink leads, as it may be shown."""
    return mask(("sinks", name, "url"), settings.url) or settings.path or None


async def _states(store: Store, sinks: Mapping[str, SinkSettings]) -> tuple[list[SinkState], dict[str, Refusals]]:
    states = {name: as_configured(await store.sink_state(name), sink) for name, sink in sinks.items()}
    return list(states.values()), await find_refusals(store, states)


def _row(state: SinkState, settings: SinkSettings, refusals: Refusals | None) -> tuple[object, ...]:
    if state.disabled:
        stands = f"DISABLED: {state.error}; enable it with: tocsin sink test {state.name}"
    elif why := why_unread(settings.url, settings.secret):
        stands = f"its alerts wait: {why}"
    elif state.failures:
        stands = f"failed {count(state.failures, 'time')}, next try {show_time(state.next_at)}: {state.error}"
    else:
        stands = refusals.told if refusals else "well"
    where = address_of(state.name, settings)
    return (state.name, settings.type, where, state.accepted, state.waiting, state.dead, stands)
