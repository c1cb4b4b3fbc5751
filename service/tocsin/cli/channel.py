"""`tocsin channel`: the channels that alerts go to, their state, and their secrets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct
from msgspec.structs import replace

from tocsin.cli import output
from tocsin.cli.formatting import count, show_time
from tocsin.cli.session import configuration, with_store
from tocsin.configuration.loading import shown_address
from tocsin.errors import DeliveryError, SettingsError, UsageError
from tocsin.model import as_configured
from tocsin.model.records.alerting import channel_of
from tocsin.settings import unread_in, why_unread

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tocsin.model import ChannelState
    from tocsin.model.records.alerting import ConfiguredChannel
    from tocsin.ports import Store
    from tocsin.settings import ChannelSettings


_PIECE: Final = 500
# Of the outbox the latest alerts are looked at: what was refused waits hours, not weeks.
_PIECES: Final = 20


class Refusals(Struct, frozen=True):
    """How many alerts of a channel wait after an error, and the latest one's error."""

    alerts: int
    error: str

    @property
    def told(self) -> str:
        """Both, in words."""
        return f"{count(self.alerts, 'alert')} rejected and waiting: {self.error}"


async def find_refusals(store: Store, states: Mapping[str, ChannelState]) -> dict[str, Refusals]:
    """Find the alerts that wait because they were refused, by channel; channels that fail as a whole are left out."""
    asked = {name for name, state in states.items() if state.waiting and not state.failures and not state.disabled}
    found: dict[str, Refusals] = {}
    before: int | None = None
    for _ in range(_PIECES if asked else 0):
        piece = await store.alerts(limit=_PIECE, before=before)
        if not piece:
            break
        before = piece[-1].position
        for channel, state, _, error in (delivery for alert in piece for delivery in alert.deliveries):
            if channel in asked and state == "waiting" and error:
                earlier = found.get(channel, Refusals(0, error))
                found[channel] = Refusals(earlier.alerts + 1, earlier.error)
    return found


# A secret is for its owner alone.
_MODE: Final = 0o600
_LONGEST_BYTES: Final = 65_536


def make_secret(name: str, file: Path | None, *, replace: bool) -> str:
    """Make a secret for a channel, and write it into its file.

    file     that the configuration names; None: it is only given back
    replace  the file holds one already: the new one comes before it, so that both sign until the old one is taken out
    Raises UsageError where the file holds a secret that is not to be replaced, SettingsError where it cannot be
    written.
    """
    from tocsin.adapters.channels.signing import new_secret  # noqa: PLC0415 - listing needs no signing

    secret = new_secret()
    if file is None:
        if replace:
            raise UsageError(
                f"channels.{name} has no secret_file; write the new secret before the old one yourself, one per line"
            )
        return secret
    try:
        before = _newest_of(file)
        if before and not replace:
            raise UsageError(f"{file}: already contains a secret; --replace puts a new one before it, and both sign")
        _write(file, f"{secret}\n{before}\n" if before else f"{secret}\n")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "not UTF-8"
        raise SettingsError(
            f"{file}: the secret cannot be written ({reason}); create the folder, make it writable, or correct "
            f"channels.{name}.secret_file"
        ) from exc
    return secret


def _newest_of(file: Path) -> str | None:
    """Give the first secret in a file; older ones are not kept any longer."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_LONGEST_BYTES).decode()
    except FileNotFoundError:
        return None
    return next((line for line in text.splitlines() if line.strip()), None)


def _write(file: Path, text: str) -> None:
    """Write a whole file beside the one that is in force, and put it in its place."""
    # A link keeps its place: what it leads to is replaced.
    file = file.resolve()
    beside = file.with_name(f".{file.name}.new")
    beside.unlink(missing_ok=True)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


_UNSIGNED: Final = frozenset({"answered 401", "answered 403"})


@click.group("channel", epilog="Example: tocsin channel test ops")
def command() -> None:
    """Channels: where alerts go."""


@command.command("list", epilog="Example: tocsin channel list")
@output.json_option
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List the configured channels and their status."""
    channels = configuration(ctx).settings.channels
    states, refusals = with_store(ctx, lambda store: _states(store, channels)) if channels else ([], {})
    if output.is_json():
        for state in states:
            output.print_json(to_record(state, channels[state.name], refusals.get(state.name)))
    elif states:
        rows = [_row(state, channels[state.name], refusals.get(state.name)) for state in states]
        output.table(("channel", "type", "to", "accepted", "waiting", "dead", "status"), rows, head="channel")
    else:
        output.say(
            "No channel is configured: alerts are only listed (tocsin alerts list). Add [channels.NAME] to send them."
        )


@command.command("test", epilog="Example: tocsin channel test ops")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def test(ctx: click.Context, name: str) -> None:
    """Send a test alert to a channel. A disabled channel that accepts it is enabled again.

    If a service runs, it sends the alert, with its own network settings, secret and state.
    """
    from tocsin.app.executing import execute  # noqa: PLC0415 - listing needs no network stack
    from tocsin.app.once import test_channel  # noqa: PLC0415 - listing needs no network stack

    settings = configuration(ctx).settings
    for doubt in _doubts_of(settings.channels.get(name)):
        output.note(f"Channel {name}: {doubt}.")
    try:
        is_service = execute(test_channel(settings, name))
    except DeliveryError as exc:
        if exc.detail in _UNSIGNED:
            output.note(
                f"A receiver that checks signatures answers this if it has another secret than channels.{name}.secret"
                ", or if its clock or ours is wrong."
            )
        raise
    output.emit(
        {"channel": name, "accepted": True, "through": "service" if is_service else "command"},
        lambda: output.say(
            f"Channel {name} accepted a test alert{' from the running service' if is_service else ''}.", style="green"
        ),
    )


@command.command("secret", epilog="Example: tocsin channel secret ops")
@click.argument("name", metavar="NAME")
@click.option("--replace", is_flag=True, help="Put the new secret before the current one; both sign.")
@output.json_option
@click.pass_context
def secret(ctx: click.Context, name: str, *, replace: bool) -> None:
    """Create a webhook secret, and print it for the receiver.

    If the configuration names a secret_file for this channel, the secret is written there, readable by this user only.
    A running service reads it on SIGHUP.
    """
    from tocsin.cli.channel import make_secret  # noqa: PLC0415 - listing needs no signing

    loaded = configuration(ctx)
    file = loaded.files.get(f"channels.{name}.secret")
    made = make_secret(name, file, replace=replace)

    def show() -> None:
        output.say(made)
        if file is not None:
            output.note(f"It is in {file}; a running service reads it on SIGHUP. Give it to the receiver, too.")
            if replace:
                output.note("Both secrets sign. Remove the second line when the receiver has the new one.")
        else:
            output.note(
                f"Write it to a file, and name the file in the configuration: secret_file under [channels.{name}]."
            )

    output.emit({"channel": name, "secret": made, "file": str(file) if file is not None else None}, show)


def to_record(state: ChannelState, settings: ChannelSettings, refusals: Refusals | None) -> ConfiguredChannel:
    """Show a channel; if it works as a whole but refuses alerts, the latest refusal is its error."""
    found = channel_of(state, settings)
    return found if found.error or refusals is None else replace(found, error=refusals.error)


def _doubts_of(settings: ChannelSettings | None) -> list[str]:
    """Say what a receiver may think of a secret that can be used."""
    from tocsin.adapters.channels.signing import doubts_of  # noqa: PLC0415 - listing needs no signing

    # Of any type: each that has a key of this name signs with it.
    key = getattr(settings, "secret", "")
    if not key or why_unread(key):
        return []
    try:
        return doubts_of(key)
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
    elif why := unread_in(settings):
        stands = f"alerts wait: {why}"
    elif state.failures:
        stands = f"failed {count(state.failures, 'time')}, next try {show_time(state.next_at)}: {state.error}"
    else:
        stands = refusals.told if refusals else "OK"
    where = shown_address(settings) or None
    return (state.name, settings.type, where, state.accepted, state.waiting, state.dead, stands)
