"""`tocsin signals`: what each signal sees on a page, and what is muted there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import click
import msgspec
from msgspec import Struct

from tocsin.cli import output
from tocsin.cli.files import read_source
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.session import configuration, is_store_there, now, with_store
from tocsin.configuration import parse_page_settings
from tocsin.engine.judging.noise import HEARD_AT, MUTED_AT, WINDOW, muted_keys, muted_signals
from tocsin.engine.visiting.dry_run import DryRun, PageInForce, find_in_force, look
from tocsin.errors import NotWatched, UsageError
from tocsin.model.records.signals import (
    ComparedContent,
    ComparisonSettings,
    DryRunReport,
    ExpectedCheck,
    LeftOutText,
    ListedNoise,
    NoiseOfPage,
    NoiseState,
    ReadSignal,
)
from tocsin.settings import PageSettings
from tocsin.spec.signals import SIGNALS, SOURCES
from tocsin.spec.signals.fingerprint import SHORT, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.engine.visiting.dry_run import DryRun
    from tocsin.model import HostNoise, Instant, JsonObject, SignalContext
    from tocsin.ports import Store
    from tocsin.spec.signals.fingerprint import Content


class Noise(Struct, frozen=True):
    """A part or signal that changes from check to check: as it is listed, and its key in the store."""

    key: int
    since: Instant | None
    shown: ListedNoise


def places_of(beside: SignalContext | None, of_host: Iterable[HostNoise]) -> list[Noise]:
    """Number what is learnt of a page, then what is muted on its whole host, then what is heard and was quiet."""
    heard = frozenset(beside.heard) if beside is not None else frozenset()
    noise = beside.known.noise if beside is not None and beside.known is not None else ()
    found: dict[int, Noise] = {}
    for each in noise:
        state: NoiseState = "heard" if each.key in heard else "watched" if each.since is None else "muted"
        found[each.key] = _noise(len(found) + 1, each.key, each.what, state, each.since, each.changes, each.quiet)
    # What the host mutes counts for the page, unless its user said otherwise for this page.
    for common in of_host:
        own = found.get(common.key)
        if common.muted_at is None or (own is not None and own.shown.state != "watched"):
            continue
        state = "heard" if common.heard or common.key in heard else "muted-on-host"
        number = len(found) + 1 if own is None else own.shown.number
        found[common.key] = _noise(number, common.key, common.what, state, common.muted_at)
    # Unmuted, and quiet since: listed all the same, so that it can be muted again.
    for key in sorted(heard.difference(found)):
        found[key] = _noise(len(found) + 1, key, "a place that has not changed lately", "heard")
    return list(found.values())


def _noise(
    number: int, key: int, what: str, state: NoiseState, since: Instant | None = None, changes: int = 0, quiet: int = 0
) -> Noise:
    shown = ListedNoise(number=number, what=what, state=state, since=json_time(since), changes=changes, quiet=quiet)
    return Noise(key, since, shown)


def chosen_keys(places: Sequence[Noise], numbers: Sequence[str], *, option: str, url: str) -> list[int]:
    """Give the keys of the places with these numbers; `all` means all of them.

    Raises UsageError for a number that no place has.
    """
    by_number = {str(place.shown.number): place.key for place in places}
    # Before the others are judged: it includes them.
    if "all" in numbers:
        return list(by_number.values())
    for number in numbers:
        if number not in by_number:
            there_are = f"there are 1 to {len(places)}" if places else "there are none"
            raise UsageError(f"{option} {number!r}: no noise has this number; {there_are}, see: tocsin signals {url}")
    return [by_number[number] for number in numbers]


def describe_place(noise: Noise) -> str:
    """Describe the status of a noise."""
    place, since = noise.shown, show_time(noise.since)
    match place.state:
        case "heard":
            return "unmuted by you"
        case "muted-on-host":
            return f"muted on all pages of its host since {since}"
        case "watched":
            return f"changed in {place.changes} of the last {WINDOW} checks; muted after {MUTED_AT}"
    quiet = f"; quiet for {place.quiet}, heard again after {HEARD_AT}" if place.quiet else ""
    return f"muted since {since}{quiet}"


_BY_ITSELF: Final = "changing by itself: a counter, an age, today's date"
_BESIDE: Final = "beside the content: navigation, advertisements, banners, related pages"


def to_record(sight: DryRun, in_force: PageInForce, name: str, places: Sequence[Noise] = ()) -> DryRunReport:
    """Show what was read and what a check would find."""
    policy, readings = in_force.policy, sight.beheld.readings
    return DryRunReport(
        url=name,
        noise=[place.shown for place in places],
        watched=in_force.page is not None,
        settings=ComparisonSettings(
            signals=policy.signals,
            signal_rules=list(policy.signal_rules),
            look_at=policy.look_at,
            ignore=policy.ignore,
        ),
        signals=_signals_seen(sight, in_force.beside),
        content=None if readings is None or readings.content is None else _content_seen(readings.content),
        suspicion=sight.beheld.suspicion,
        check=None if in_force.page is None or sight.outcome is None else _expected(sight, sight.outcome),
        problems=list(sight.problems),
    )


def _expected(sight: DryRun, outcome: str) -> ExpectedCheck:
    return ExpectedCheck(
        outcome=outcome,
        rule=sight.rule,
        reason=sight.reason,
        basis=sight.basis,
        changed=list(sight.changed),
        heeds_signals=sight.is_read,
        begins_anew=sight.is_new,
        trace=list(sight.trace),
    )


def _signals_seen(sight: DryRun, beside: SignalContext | None) -> list[ReadSignal]:
    values = sight.beheld.readings.values if sight.beheld.readings is not None else {}
    known = beside.known.values if beside is not None and beside.known is not None else {}
    muted = muted_signals(SOURCES, muted_keys(beside))
    return [
        ReadSignal(
            signal=signal.name,
            source=signal.source,
            what=signal.what,
            value=values.get(signal.name),
            last=known.get(signal.name),
            muted=signal.name in muted,
        )
        for signal in SIGNALS
    ]


def _content_seen(content: Content) -> ComparedContent:
    """Show a content as it would be compared: the blocks that count, and the beginning of those left out."""
    unpacked = unpack(content.fingerprint)
    counted, beside = ([], []) if isinstance(unpacked, str) else (unpacked.blocks, unpacked.beside)
    blocks = content.text.split("\n") if content.text else []
    return ComparedContent(
        # What is no text is compared byte by byte, and has nothing to show.
        by_bytes=bool(counted) and not blocks,
        letters=sum(map(len, blocks)),
        blocks=blocks,
        left_out=[
            LeftOutText(text=text, why=_BY_ITSELF if each.flags & SHORT else _BESIDE)
            # Not strict: a fingerprint keeps a bounded number of blocks, the text all of them.
            for text, each in zip(content.beside, beside, strict=False)
        ],
    )


_SHOWN: Final = 20
_WIDE: Final = 160


@click.command("signals", epilog="Example: tocsin signals https://example.org/shop --look-at main")
@click.argument("source", metavar="URL|FILE")
@click.option("--look-at", metavar="SELECTORS", help="Try comparing only these elements (CSS selectors).")
@click.option("--ignore", metavar="SELECTORS", help="Try leaving these elements out.")
@click.option("--unmute", multiple=True, metavar="N|all", help="Unmute the noise with this number, or all of it.")
@click.option("--mute", multiple=True, metavar="N|all", help="Mute it again: undo --unmute.")
@click.option("--on-host", is_flag=True, help="With --mute or --unmute: on all pages of its host.")
@output.json_option
@click.pass_context
def command(
    ctx: click.Context,
    source: str,
    look_at: str | None,
    ignore: str | None,
    unmute: tuple[str, ...],
    mute: tuple[str, ...],
    *,
    on_host: bool,
) -> None:
    """Show what each signal reads on a page. This is a dry run: no state is changed.

    For a watched page, its own selectors and rules apply. Also shown are the result of the last check, the result that
    a check would have now, and the noise: what changes from check to check and is muted, or soon will be.
    """
    if unmute or mute:
        if look_at is not None or ignore is not None:
            raise UsageError("--mute and --unmute do not go with --look-at and --ignore; leave these out")
        with_store(ctx, partial(_set_heard, url=source, unmute=unmute, mute=mute, on_host=on_host))
        _tell_noise(source, with_store(ctx, partial(_places, url=source)))
        return
    if on_host:
        raise UsageError("--on-host needs --mute or --unmute")
    tried = parse_page_settings(
        {key: text for key, text in (("look_at", look_at), ("ignore", ignore)) if text is not None}
    )
    in_force = _in_force(ctx, source, tried)
    found = read_source(source, in_force.policy, in_force.page.secrets if in_force.page is not None else None)
    sight = look(found.body, found.content_type, found.headers, found.url, in_force, now())
    places = places_of(in_force.beside, in_force.of_host)
    record = to_record(sight, in_force, found.name, places)
    output.emit(record, partial(_print, record, sight, in_force, places))


def _in_force(ctx: click.Context, source: str, tried: JsonObject) -> PageInForce:
    """Find what holds for the page, and let the selectors that are tried take the place of its own."""
    settings = configuration(ctx).settings
    # A file, or a page that is not watched, is looked at as a new page would be.
    in_force = PageInForce(settings.pages)
    if _is_url(source) and is_store_there(settings):
        in_force = with_store(ctx, partial(find_in_force, url=source, base=settings.pages))
    return msgspec.structs.replace(in_force, policy=msgspec.structs.replace(in_force.policy, **tried))


def _is_url(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


async def _known_of(store: Store, url: str) -> PageInForce:
    """Find what is known of a page that is watched. Raises NotWatched, BadUrl."""
    in_force = await find_in_force(store, url, PageSettings())
    if in_force.page is None:
        raise NotWatched(
            f"{url}: not watched, so nothing is known about its noise; add it with: tocsin watch add {url}"
        )
    return in_force


async def _places(store: Store, url: str) -> list[Noise]:
    in_force = await _known_of(store, url)
    return places_of(in_force.beside, in_force.of_host)


async def _set_heard(store: Store, url: str, unmute: tuple[str, ...], mute: tuple[str, ...], *, on_host: bool) -> None:
    in_force = await _known_of(store, url)
    places = places_of(in_force.beside, in_force.of_host)
    asked = ((unmute, "--unmute", False), (mute, "--mute", True))
    # All numbers are judged before anything is changed: a wrong one leaves everything as it was.
    chosen = [
        (chosen_keys(places, numbers, option=option, url=url), muted) for numbers, option, muted in asked if numbers
    ]
    for keys, muted in chosen:
        if in_force.page is None:
            continue
        if on_host:
            await store.hear_host(in_force.page.host, keys, muted=muted)
        else:
            await store.hear(in_force.page.id, keys, muted=muted)


def _tell_noise(url: str, places: list[Noise]) -> None:
    record = NoiseOfPage(url=url, noise=[place.shown for place in places])
    output.emit(record, partial(_print_noise, places))


def _print(record: DryRunReport, sight: DryRun, in_force: PageInForce, places: Sequence[Noise]) -> None:
    _print_signals(record)
    _print_content(record.content)
    _print_settings(record.settings)
    for problem in sight.problems:
        output.say(f"Problem: {problem}", style="yellow")
    if record.suspicion:
        output.say(f"This looks like another page in its place: {record.suspicion}", style="magenta")
    if in_force.page is None:
        return
    _print_check(sight, in_force)
    _print_noise(places)


def _print_signals(record: DryRunReport) -> None:
    seen = [each for each in record.signals if each.value is not None or each.last is not None]
    columns = (
        ("signal", "value", "last check", "source", "meaning")
        if record.watched
        else ("signal", "value", "source", "meaning")
    )
    rows = []
    for each in seen:
        values = (each.value, each.last) if record.watched else (each.value,)
        rows.append((f"{each.signal}{' (muted)' if each.muted else ''}", *values, each.source, each.what))
    if rows:
        output.table(columns, rows, title=record.url, head="signal")
    else:
        output.say(record.url, style="bold", whole=True)
    if absent := [each.signal for each in record.signals if each not in seen]:
        output.say(f"Not on the page: {', '.join(absent)}")


def _print_content(content: ComparedContent | None) -> None:
    if content is None:
        output.say("It has no content to compare.")
        return
    blocks, left_out = content.blocks, content.left_out
    output.say()
    if content.by_bytes:
        output.say("Compared: the whole page, byte by byte", style="bold")
    else:
        output.say(f"Compared: {count(len(blocks), 'block')}, {content.letters:,} letters", style="bold")
    _print_lines(blocks)
    # One heading for each reason, in the order in which they occur.
    for why in dict.fromkeys(each.why for each in left_out):
        texts = [each.text for each in left_out if each.why == why]
        output.say(f"Left out: {count(len(texts), 'block')}, {why}", style="bold")
        _print_lines(texts)


def _print_lines(lines: list[str]) -> None:
    for line in lines[:_SHOWN]:
        output.say(f"  {line if len(line) <= _WIDE else f'{line[:_WIDE]}…'}")
    if len(lines) > _SHOWN:
        output.say(f"  … and {len(lines) - _SHOWN} more; --json shows them all")


def _print_settings(settings: ComparisonSettings) -> None:
    output.say()
    for selectors, words in ((settings.look_at, "Compared only"), (settings.ignore, "Left out")):
        if selectors:
            output.say(f"{words}: {selectors}")
    output.say(f"Your rules: {', '.join(settings.signal_rules) or 'none'}")


def _print_check(sight: DryRun, in_force: PageInForce) -> None:
    # With one step only, the rule says all that the basis would.
    told = [part for part in (sight.rule, sight.reason, sight.basis if len(sight.trace) > 1 else None) if part]
    how = f" ({', '.join(told)})" if told else ""
    output.say(f"A check now would find: {sight.outcome}{how}", style="bold")
    # The first is the comparison of the twelve fields, which the line above has.
    for step in sight.trace[1:]:
        output.say(f"  {step['rule']} {step['says']}: {step['why']}")
    if not sight.is_read:
        output.say(f"  Its signals would not be used: {_why_unread(in_force.policy)}")
    elif sight.is_new:
        output.say("  Its signals would become the new baseline: no earlier check read them in the same way")


def _why_unread(policy: PageSettings) -> str:
    if policy.mode != "on":
        return f"mode = {policy.mode}"
    if policy.signals == "none":
        return "signals = none"
    return (
        "the page declares its changes in topper elements, so only those count. Other changes are reported together "
        "with the next declared one; to report them at once: tocsin watch set URL --signals all"
    )


def _print_noise(places: Sequence[Noise]) -> None:
    if not places:
        output.say("No noise is known: nothing changes from check to check.")
        return
    output.table(
        ("no.", "noise", "status"),
        [(place.shown.number, place.shown.what, describe_place(place)) for place in places],
        head="noise",
    )
