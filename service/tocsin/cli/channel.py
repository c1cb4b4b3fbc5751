"""`tocsin channel`: the channels that alerts go to, their state, and their secrets."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tocsin.cli import output
from tocsin.cli.arguments import parse_time
from tocsin.cli.formatting import count, show_time
from tocsin.cli.session import configuration, is_store_there, now, with_store
from tocsin.configuration.loading import shown_address
from tocsin.errors import DeliveryError, SettingsError, UsageError
from tocsin.model import ChannelState, as_configured, to_rfc3339
from tocsin.model.records.alerting import ConfiguredChannel, channel_of
from tocsin.model.saved import demand_unused, merge
from tocsin.settings import ChannelSettings, unread_in, why_unread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tocsin.configuration import Loaded
    from tocsin.ports import Store

WHO: Final = "command line"

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
    # A channel that fails as a whole says so itself; here are those that refuse single alerts.
    asked = {name for name, state in states.items() if state.waiting and not state.failures and not state.disabled}
    found: dict[str, Refusals] = {}
    before: int | None = None
    for _ in range(_PIECES if asked else 0):
        piece = await store.alerts(limit=_PIECE, before=before)
        if not piece:
            break
        before = piece[-1].position
        for channel, state, _, error, _ in (delivery for alert in piece for delivery in alert.deliveries):
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
        # Overwritten, the old one would be lost to receivers that know nothing of the new one yet.
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
    """List the channels of the configuration and those made at run time, with their status."""
    loaded = configuration(ctx)
    known: list[KnownChannel] = []
    if loaded.settings.channels or is_store_there(loaded.settings):
        known = with_store(ctx, lambda store: _known(store, loaded))
    if output.is_json():
        for each in known:
            output.print_json(each.record)
    elif known:
        titles = ("channel", "type", "to", "accepted", "waiting", "dead", "status")
        output.table(titles, [_row(each) for each in known], head="channel")
    else:
        output.say(
            "There is no channel: alerts are only listed (tocsin alerts list). Make one on the page Notifications, "
            "with tocsin channel add, or as [channels.NAME] in the configuration."
        )


@command.command("show", epilog="Example: tocsin channel show ops")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def show(ctx: click.Context, name: str) -> None:
    """Show a channel: its settings with masked secrets, its health, and where it is edited."""
    loaded = configuration(ctx)
    known = {each.record.name: each.record for each in with_store(ctx, lambda store: _known(store, loaded))}
    if name not in known:
        raise UsageError(f"channel {name}: no such channel; see: tocsin channel list")
    record = known[name]

    def tell() -> None:
        for key, value in msgspec.to_builtins(record).items():
            if value not in (None, {}, ""):
                output.say(f"{key}: {value}")

    output.emit(record, tell)


@command.command("add", epilog="Example: tocsin channel add ops --type webhook url=https://example.org/hook secret=-")
@click.argument("name", metavar="NAME")
@click.argument("given", metavar="KEY=VALUE...", nargs=-1)
@click.option("--type", "kind", required=True, metavar="TYPE", help="Such as webhook, mail or file.")
@click.option("--replace", is_flag=True, help="Replace a channel of this name that was made at run time.")
@output.json_option
@click.pass_context
def add(ctx: click.Context, name: str, given: tuple[str, ...], kind: str, *, replace: bool) -> None:
    """Make a channel in the store; a running service takes it up within a second.

    The keys are those of the configuration. A value of "-" is read from standard input, so that no secret is in the
    list of processes.
    """
    from tocsin.app.channels import OpenChannels  # noqa: PLC0415 - listing needs no network stack
    from tocsin.configuration.saved import demand_room, read_channel  # noqa: PLC0415 - as above

    settings, values = configuration(ctx).settings, _values_of(given)
    shown = {**values, "type": kind}
    section = read_channel(name, shown, settings.delivery.plugins, files=True, written=True)

    async def work(store: Store) -> None:
        saved = await store.saved()
        if name in settings.channels:
            raise UsageError(f"channel {name}: the configuration has one of this name; choose another one")
        if name not in {entry.name for entry in saved.channels}:
            demand_room("channel", len(saved.channels))
        only = OpenChannels(msgspec.structs.replace(settings, channels={}))
        async with only:
            await only.demand(name, section)
        if (
            await store.save_entry(
                "channel",
                name,
                msgspec.to_builtins({**shown, "type": kind}),
                now(),
                who=WHO,
                if_revision=None if replace else 0,
            )
            is None
        ):
            raise UsageError(f"channel {name}: there is one of this name; replace it with --replace")

    with_store(ctx, work, create=True)
    output.emit({"channel": name, "type": kind}, lambda: output.say(f"Channel {name} is saved.", style="green"))


@command.command("remove", epilog="Example: tocsin channel remove ops")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def remove(ctx: click.Context, name: str) -> None:
    """Remove a channel that was made at run time, and that no route names."""
    settings = configuration(ctx).settings

    async def work(store: Store) -> None:
        saved = await store.saved()
        if name not in {entry.name for entry in saved.channels}:
            is_there = name in settings.channels
            mend = f"remove [channels.{name}] there" if is_there else "see: tocsin channel list"
            raise UsageError(
                f"channel {name}: {'it is in the configuration' if is_there else 'no such channel'}; {mend}"
            )
        demand_unused(name, settings, saved)
        await store.remove_entry("channel", name, if_revision=None)

    with_store(ctx, work)
    output.emit({"channel": name}, lambda: output.say(f"Channel {name} is removed."))


@command.command("mute", epilog="Example: tocsin channel mute ops --until 7d")
@click.argument("name", metavar="NAME")
@click.option("--until", metavar="WHEN", help='Its end: "7d" from now, or a date; default: when you unmute it.')
@output.json_option
@click.pass_context
def mute(ctx: click.Context, name: str, until: str | None) -> None:
    """Give a channel nothing for a time; its alerts wait, and none is lost."""
    loaded, at = configuration(ctx), now()
    end = parse_time(until, now=at, option="--until") if until else None

    async def work(store: Store) -> None:
        if name not in {each.record.name for each in await _known(store, loaded)}:
            raise UsageError(f"channel {name}: no such channel; see: tocsin channel list")
        await store.mute_channel(name, at, until_at=end, who=WHO)

    with_store(ctx, work, create=True)
    told = f"Channel {name} is muted{f' until {show_time(end)}' if end else ''}; its alerts wait."
    output.emit({"channel": name, "until": to_rfc3339(end) if end else None}, lambda: output.say(told))


@command.command("unmute", epilog="Example: tocsin channel unmute ops")
@click.argument("name", metavar="NAME")
@output.json_option
@click.pass_context
def unmute(ctx: click.Context, name: str) -> None:
    """End a mute; the alerts that waited are sent."""
    if not with_store(ctx, lambda store: store.unmute_channel(name)):
        raise UsageError(f"channel {name}: it is not muted; see: tocsin channel list")
    output.emit({"channel": name}, lambda: output.say(f"Channel {name} is given its alerts again."))


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


@command.command("preview", epilog="Example: tocsin channel preview ops --part body")
@click.argument("name", metavar="NAME")
@click.option("--alert", "alert_id", metavar="ID", help="Default: the latest, or a made-up one.")
@click.option("--route", metavar="ROUTE", help="Whose template and language count; default: the one that sends it.")
@click.option(
    "--part",
    type=click.Choice(("all", "subject", "text", "html", "markdown", "short", "body")),
    default="all",
    show_default=True,
    help="body: what the channel's service is given.",
)
@output.json_option
@click.pass_context
def preview(ctx: click.Context, name: str, alert_id: str | None, route: str | None, part: str) -> None:
    """Show an alert as a channel sends it; nothing is sent."""
    from tocsin.app.channels import preview_channel  # noqa: PLC0415 - listing needs no network stack

    settings = configuration(ctx).settings
    found = with_store(ctx, lambda store: preview_channel(settings, store, name, alert_id, route), create=True)

    if found.error:
        raise UsageError(f"channel {name}: this alert could not be sent: {found.error}")
    if part != "all":
        # Also where it goes to another program: it asked for this part alone.
        click.echo(getattr(found, part).rstrip("\n"))
        return

    def show() -> None:
        for title, text in (("subject", found.subject), ("short", found.short), ("text", found.text)):
            output.say(f"{title}:\n{text.rstrip()}\n")
        if found.body:
            output.say(f"body ({found.content_type}):\n{found.body.rstrip()}")

    output.emit(found, show)


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


class KnownChannel(Struct, frozen=True):
    """A channel with its state and its settings.

    record  as surfaces show it; if it works as a whole but refuses alerts, the latest refusal is its error
    """

    state: ChannelState
    settings: ChannelSettings
    refusals: Refusals | None
    record: ConfiguredChannel


def _values_of(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for each in given:
        key, is_there, value = each.partition("=")
        if not is_there:
            raise UsageError(f"{each[:40]}: write KEY=VALUE, as in url=https://example.org/hook")
        found[key] = sys.stdin.readline().rstrip("\n") if value == "-" else value
    return found


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


async def _known(store: Store, loaded: Loaded) -> list[KnownChannel]:
    """Read the channels of the configuration and those that were saved, with their states."""
    saved = await store.saved()
    channels, muted = merge(loaded.settings, saved).settings.channels, saved.muted(now())
    states = {name: as_configured(await store.channel_state(name), channel) for name, channel in channels.items()}
    refusals = await find_refusals(store, states)
    made = {entry.name for entry in saved.channels}
    found = []
    for name, settings in channels.items():
        record = channel_of(states[name], settings, is_saved=name in made, mute=muted.get(name))
        refused = refusals.get(name)
        if refused is not None and not record.error:
            record = replace(record, error=refused.error)
        found.append(KnownChannel(states[name], settings, refused, record))
    return found


def _row(known: KnownChannel) -> tuple[object, ...]:
    state, settings, record = known.state, known.settings, known.record
    refusals = known.refusals
    if record.state == "muted":
        until = f" until {record.muted_until}" if record.muted_until else ""
        stands = f"muted by {record.muted_by}{until}; its alerts wait"
    elif state.disabled:
        stands = f"DISABLED: {state.error}; enable it with: tocsin channel test {state.name}"
    elif why := unread_in(settings):
        stands = f"alerts wait: {why}"
    elif state.failures:
        stands = f"failed {count(state.failures, 'time')}, next try {show_time(state.next_at)}: {state.error}"
    else:
        stands = refusals.told if refusals else "OK"
    where = shown_address(settings) or None
    return (state.name, settings.type, where, state.accepted, state.waiting, state.dead, stands)
