"""`tocsin channel`: who is told, and how they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.channel.refusals import Refusals, find_refusals
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.session import configuration, with_store
from tocsin.configuration import mask
from tocsin.errors import DeliveryError
from tocsin.model import as_configured
from tocsin.settings import why_unread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import ChannelState
    from tocsin.ports import Store
    from tocsin.settings import ChannelSettings


_UNSIGNED: Final = frozenset({"answered 401", "answered 403"})


@click.group("channel", epilog="Example: tocsin channel test ops")
def command() -> None:
    """The channels that alerts go to."""


@command.command("list", epilog="Example: tocsin channel list")
@output.json_option
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List the channels of the configuration, and how they stand."""
    channels = configuration(ctx).settings.channels
    states, refusals = with_store(ctx, lambda store: _states(store, channels)) if channels else ([], {})
    if output.is_json():
        for state in states:
            output.print_json(to_record(state, channels[state.name], refusals.get(state.name)))
    elif states:
        rows = [_row(state, channels[state.name], refusals.get(state.name)) for state in states]
        output.table(("channel", "type", "to", "accepted", "waiting", "dead", "stands"), rows, head="channel")
    else:
        output.say(
            "No channel is configured: alerts stay listed (tocsin alerts list). To add one, configure [channels.NAME]."
        )


@command.command("test", epilog="Example: tocsin channel test ops")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def test(ctx: click.Context, name: str) -> None:
    """Send a channel a test alert; one that was disabled and takes it is enabled again.

    A running service sends it, where there is one, with the network, the secret and the state that it has in force.
    """
    from tocsin.app import execute, test_channel  # noqa: PLC0415 - listing needs no network stack

    settings = configuration(ctx).settings
    for doubt in _doubts_of(settings.channels.get(name)):
        output.note(f"Channel {name}: {doubt}.")
    try:
        is_service = execute(test_channel(settings, name))
    except DeliveryError as exc:
        if exc.detail in _UNSIGNED:
            output.note(
                f"A receiver that checks signatures answers so where it has another secret than channels.{name}.secret"
                ", or where its clock or ours is wrong."
            )
        raise
    output.emit(
        {"channel": name, "accepted": True, "through": "service" if is_service else "command"},
        lambda: output.say(
            f"Channel {name} accepted a test alert{' of the running service' if is_service else ''}.", style="green"
        ),
    )


@command.command("secret", epilog="Example: tocsin channel secret ops")
@click.argument("name", metavar="NAME")
@click.option("--replace", is_flag=True, help="Put the new secret before the one in force; both sign.")
@output.json_option
@click.pass_context
def secret(ctx: click.Context, name: str, *, replace: bool) -> None:
    """Make a secret for a webhook, and print it for the receiver.

    Where the configuration names a secret_file for this channel, it is written there, for this user alone. A running
    service takes it up at SIGHUP.
    """
    from tocsin.cli.channel.secret import make_secret  # noqa: PLC0415 - listing needs no signing

    loaded = configuration(ctx)
    file = loaded.files.get(f"channels.{name}.secret")
    made = make_secret(name, file, replace=replace)

    def show() -> None:
        output.say(made)
        if file is not None:
            output.note(f"It is in {file}. A service that runs takes it up at SIGHUP. Give it to the receiver, too.")
            if replace:
                output.note("Both secrets sign. Take the second line out when the receiver has the new one.")
        else:
            output.note(
                f"Write it into a file, and name that in the configuration: secret_file under [channels.{name}]."
            )

    output.emit({"channel": name, "secret": made, "file": str(file) if file is not None else None}, show)


def to_record(state: ChannelState, settings: ChannelSettings, refusals: Refusals | None) -> dict[str, Any]:
    """Tell a channel as `--json` does; secrets are masked."""
    return {
        "channel": state.name,
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


def address_of(name: str, settings: ChannelSettings) -> str | None:
    """Say where a channel leads, as it may be shown."""
    return mask(("channels", name, "url"), settings.url) or settings.path or None


def _doubts_of(settings: ChannelSettings | None) -> list[str]:
    """Say what a receiver may think of a secret that can be used."""
    from tocsin.adapters.channels.signing import doubts_of  # noqa: PLC0415 - listing needs no signing

    if settings is None or settings.type != "webhook" or why_unread(settings.secret):
        return []
    try:
        return doubts_of(settings.secret)
    except ValueError:
        # What cannot be used is refused where the channel is opened.
        return []


async def _states(
    store: Store, channels: Mapping[str, ChannelSettings]
) -> tuple[list[ChannelState], dict[str, Refusals]]:
    states = {name: as_configured(await store.channel_state(name), channel) for name, channel in channels.items()}
    return list(states.values()), await find_refusals(store, states)


def _row(state: ChannelState, settings: ChannelSettings, refusals: Refusals | None) -> tuple[object, ...]:
    if state.disabled:
        stands = f"DISABLED: {state.error}; enable it with: tocsin channel test {state.name}"
    elif why := why_unread(settings.url, settings.secret):
        stands = f"its alerts wait: {why}"
    elif state.failures:
        stands = f"failed {count(state.failures, 'time')}, next try {show_time(state.next_at)}: {state.error}"
    else:
        stands = refusals.told if refusals else "well"
    where = address_of(state.name, settings)
    return (state.name, settings.type, where, state.accepted, state.waiting, state.dead, stands)
