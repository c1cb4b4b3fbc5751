"""`tocsin watch`: the pages that are watched, how their last checks ended, and changes of their list."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from msgspec import Struct, structs

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm, parse_steps, removal
from tocsin.cli.check import check_pages, print_declared, print_report
from tocsin.cli.formatting import count, show_time
from tocsin.cli.output import steps
from tocsin.cli.selection import BATCH, demand_group, pages_named, select
from tocsin.cli.session import configuration, now, settings_in_force, with_store
from tocsin.cli.watch.exchange import export, import_
from tocsin.configuration import all_unset, check_page_keys, mask, parse_page_settings
from tocsin.configuration.convert import PAGE_KEYS
from tocsin.configuration.routes import check_page_route
from tocsin.errors import UsageError
from tocsin.lists.pages import check_group, check_words, new_page
from tocsin.model import CheckOutcome, CheckReport, PageFilter
from tocsin.model.records.pages import Modes, check_of, is_subject, page_of, why_disallowed
from tocsin.spec.html.urls import watch_url
from tocsin.spec.topper.state import FIELDS, TOPPER_FIELDS, PageState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.cli.selection import Selection
    from tocsin.model import JsonObject, NewPage, PageRow
    from tocsin.ports import Store


_Function = TypeVar("_Function", bound="Callable[..., object]")

_OPTIONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("every", "DURATION", "Interval between checks: 6h, 2d …"),
    ("cron", "EXPRESSION", 'Times of checks, instead of an interval: "0 6 * * *".'),
    ("mode", "on|auto|off", "on: check and alert; auto: alert only if the page asks for it; off: no checks."),
    ("tell", "any|major", "Alert on any change, or on major changes only."),
    ("tries", "N", "Further tries when a page cannot be read."),
    ("durational_threshold", "DURATION", "A state that stays the same for this long is a major change."),
    ("minor_threshold", "N", "This number of minor changes makes a major one."),
    ("min_gap", "DURATION", "Minimum interval between requests for the page."),
    ("refresh_cap", "DURATION", "Upper limit for the refresh interval that the page declares."),
    ("at_launch", "DURATION", "At startup, check the page if its last check is older than this."),
    ("report", "LIST", "Also report these outcomes: unchanged,too-soon."),
    ("signals", "auto|all|none", "When to read signals other than the declared dates."),
    ("signal_rules", "LIST", "Rules such as: json-ld.version: major, etag: ignore."),
    ("look_at", "SELECTORS", "Compare only these elements (CSS selectors)."),
    ("ignore", "SELECTORS", "Leave these elements out (CSS selectors)."),
    ("suspects", "hold|accept", "Hold back or accept what looks like a login or error page."),
    ("route", "NAME", "A route that takes the alerts, too, even where its match does not."),
    ("fetch", "http|browser|auto", "How checks read the page; a browser runs its scripts."),
    ("ready", "WHEN", 'In the browser, when to read: network, dom, "css: main .price", 3s.'),
    ("consent", "none|reject", "In the browser, what to do about a consent banner."),
    ("adaptive", "yes|no", "Adapt the interval to how often the page changes."),
    ("every_min", "DURATION", "With --adaptive: the shortest interval."),
    ("every_max", "DURATION", "With --adaptive: the longest interval."),
    ("retry_refused", "yes|no", "Also retry after a permanent refusal, such as 404."),
    ("auth", "USER:PASSWORD", "Credentials for the page."),
    ("proxy", "URL", "Fetch through this proxy."),
)


def page_options(function: _Function) -> _Function:
    """Give a command an option for each setting of pages; it finds them checked, as `settings`.

    Raises SettingsError for values that cannot be.
    """

    @wraps(function)
    def collected(*args: Any, **kwargs: Any) -> object:
        given = {key: text for key, _, _ in _OPTIONS if (text := kwargs.pop(key)) is not None}
        # All options of one call are judged together: an interval beside a cron expression is an error of the two.
        settings = parse_page_settings(given)
        settings.update(_pairs("headers", kwargs.pop("header"), ":"))
        settings.update(_pairs("cookies", kwargs.pop("cookie"), "="))
        settings.update(_pairs("secrets", kwargs.pop("secret"), "="))
        if steps_given := kwargs.pop("step"):
            settings.update(parse_steps(steps_given))
        if "route" in settings:
            check_page_route(settings["route"], settings_in_force(click.get_current_context()).routes, "--route")
        return function(*args, settings=settings, **kwargs)

    decorated: Any = collected
    decorated = click.option("--secret", multiple=True, metavar="NAME=VALUE", help="A secret that steps type.")(
        decorated
    )
    decorated = click.option("--step", multiple=True, metavar="STEP", help="A step in the browser: click .more.")(
        decorated
    )
    decorated = click.option("--cookie", multiple=True, metavar="NAME=VALUE", help="Send this cookie.")(decorated)
    decorated = click.option("--header", multiple=True, metavar="NAME:VALUE", help="Send this header.")(decorated)
    # As above: the help lists them in this order.
    for key, metavar, text in reversed(_OPTIONS):
        decorated = click.option(f"--{key.replace('_', '-')}", key, metavar=metavar, help=text)(decorated)
    found: _Function = decorated
    return found


def _pairs(key: str, texts: tuple[str, ...], separator: str) -> JsonObject:
    if not texts:
        return {}
    option = f"--{key.removesuffix('s')}"
    pairs: dict[str, str] = {}
    given: set[str] = set()
    for text in texts:
        name, found, value = text.partition(separator)
        if not found:
            raise UsageError(f"{option}: {text!r}: write NAME{separator}VALUE")
        name = name.strip()
        # Names of headers are the same in capitals.
        if (name.lower() if separator == ":" else name) in given:
            raise UsageError(f"{option}: {name} is given twice; leave one of them out")
        given.add(name.lower() if separator == ":" else name)
        pairs[name] = value.strip()
    # Written as TOML and read by the reader of settings, so that the same headers are refused in a file and here.
    table = ", ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in pairs.items())
    return parse_page_settings({key: f"{{{table}}}"}, source=option)


def _quoted(text: str) -> str:
    """As TOML's basic string; control characters are refused where the value is judged."""
    escaped = "".join(
        f"\\u{ord(letter):04x}" if letter in '"\\' or letter < " " or letter == "\x7f" else letter for letter in text
    )
    return f'"{escaped}"'


# Outcomes of a page just added if a running service checked it before we requested a check.
_NOT_FIRST: Final = frozenset({CheckOutcome.SKIPPED, CheckOutcome.UNCHANGED, CheckOutcome.TOO_SOON})


@click.command("add", epilog="Example: tocsin watch add https://example.org/news --every 6h")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--group", default="main", show_default=True, metavar="NAME", help="Add the pages to this group.")
@click.option("--text", metavar="WORDS", help="Your note about the page, at most 253 characters.")
@page_options
@click.option("--no-check", is_flag=True, help="Do not check the pages now.")
@output.json_option
@click.pass_context
def add(
    ctx: click.Context, urls: tuple[str, ...], group: str, text: str | None, settings: JsonObject, *, no_check: bool
) -> int:
    """Add pages, check them at once, and show what they declare.

    A page that is already watched keeps its settings; it is checked again if no check of it succeeded so far.
    """
    group, text = check_group(group), check_words(text)
    # Two spellings of one URL are one page.
    watched = list({found.url: found for found in map(watch_url, urls)}.values())
    pages = [new_page(found, group=group, text=text, settings=settings) for found in watched]
    ids, missing, request = with_store(ctx, lambda store: _add(store, pages, is_checked=not no_check), create=True)
    added = [page_id for page_id in ids if page_id is not None]
    for found, page_id in zip(watched, ids, strict=True):
        if page_id is None:
            is_tried = found.url in missing and not no_check
            tried = "; no check of it succeeded yet, so it is tried again" if is_tried else ""
            output.note(f"{found.url}: already watched; nothing was changed (see: tocsin watch set){tried}")
    reports: dict[str, CheckReport] = {}
    status = output.DONE
    # What was added is in the request that it was added with; the others need one of their own.
    for some, request_id in ((added, request), (list(missing.values()), None)):
        if some and not no_check:
            checked = check_pages(
                configuration(ctx).settings,
                some,
                request_id=request_id,
                on_report=lambda report: reports.update({report.url: report}),
                names_silent=True,
            )
            status = max(status, checked)
    # A service that runs beside us may have been faster: then our own check says nothing of what it found.
    early = [url for url, report in reports.items() if report.outcome in _NOT_FIRST]
    if early:
        with_store(ctx, lambda store: _look_up(store, early, reports))
    for found, page_id in zip(watched, ids, strict=True):
        _tell(found.url, page_id, reports.get(found.url))
    return status


async def _add(
    store: Store, pages: Sequence[NewPage], *, is_checked: bool
) -> tuple[list[int | None], dict[str, int], int | None]:
    """Add pages, to be checked by a request of ours.

    Returns their ids; the ids of pages that are watched already and were never received, by URL; and the request.
    """
    request = await store.open_request(now()) if is_checked else None
    ids = await store.add_pages(pages, now(), request=request)
    known = [await store.page(page.url) for page, page_id in zip(pages, ids, strict=True) if page_id is None]
    return ids, {row.url: row.id for row in known if row is not None and row.state.fields is None}, request


async def _look_up(store: Store, urls: Sequence[str], reports: dict[str, CheckReport]) -> None:
    """Report pages that a running service checked between our adding and our request, as it found them."""
    for url in urls:
        page = await store.page(url)
        if page is not None and page.state.fields is not None:
            output.note(f"{url}: checked by the running service")
            reports[url] = as_first(reports[url], PageState(page.state.fields).declares)


def as_first(report: CheckReport, declares: tuple[str, ...]) -> CheckReport:
    """Report a second check of a page just added as its first check; the answer to that one is not known.

    declares  as the first check found it
    """
    # Our own check met a page that is as it was a moment before, or was put aside for that: no news, and no problem.
    return CheckReport(
        report.url, CheckOutcome.FIRST, rule="T40", basis="declared" if declares else None, declares=declares
    )


def _tell(url: str, page_id: int | None, report: CheckReport | None) -> None:
    record: dict[str, Any] = {"url": url, "added": page_id is not None, "check": check_of(report) if report else None}

    def human() -> None:
        if page_id is not None:
            output.say(f"{'added':<12} {url}", style="green")
        if report is not None:
            print_report(report)
            print_declared(report)

    output.emit(record, human)


class OwnEdit(Struct, frozen=True):
    """What is to be changed.

    settings, unset  what is set from now on, and which keys inherit again
    paused           None leaves it
    move_to          another group, or None
    text             the user's own words, or None; `clear_text` takes them away
    forget_login     delete the cookies that steps keep of their login
    """

    settings: JsonObject
    unset: tuple[str, ...]
    paused: bool | None
    move_to: str | None
    text: str | None
    clear_text: bool
    forget_login: bool = False

    @property
    def is_of_pages(self) -> bool:
        """Whether something is changed that only pages have, not groups."""
        has_text = self.text is not None or self.clear_text
        return self.paused is not None or self.move_to is not None or has_text or self.forget_login

    def overwrites(self, *, everywhere: bool) -> str:
        """What of the pages' own would be lost, in words; empty if nothing is. Of a group its name is known."""
        if self.text is not None:
            return "replace your notes on"
        if self.clear_text:
            return "remove your notes on"
        return "move out of their groups" if everywhere and self.move_to is not None else ""


@click.command("set", epilog="Example: tocsin watch set --group news --every 6h --tell major")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--group", metavar="NAME", help="For this group, including pages added later.")
@click.option("--all", "everywhere", is_flag=True, help="For all pages, including pages added later.")
@page_options
@click.option("--unset", multiple=True, metavar="KEY", help="Remove this setting, so that it is inherited again.")
@click.option("--pause", is_flag=True, help="Stop checking until --resume.")
@click.option("--resume", is_flag=True, help="Resume checking.")
@click.option("--move-to", metavar="GROUP", help="Move the pages to another group.")
@click.option("--text", metavar="WORDS", help="Your note about the page, at most 253 characters.")
@click.option("--clear-text", is_flag=True, help="Remove your note.")
@click.option("--forget-login", is_flag=True, help="Delete the cookies of the login that steps made.")
@careful
@output.json_option
@click.pass_context
def set_(
    ctx: click.Context,
    urls: tuple[str, ...],
    group: str | None,
    unset: tuple[str, ...],
    move_to: str | None,
    text: str | None,
    settings: JsonObject,
    *,
    everywhere: bool,
    pause: bool,
    resume: bool,
    clear_text: bool,
    forget_login: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Change settings of pages, of a group, or of all pages; the most specific setting wins."""
    # Without any of them the command would mean all pages, which is too much to be meant by an omission.
    if bool(urls) + (group is not None) + everywhere != 1:
        raise UsageError("name pages, or give --group NAME or --all")
    if text and clear_text:
        raise UsageError("--text and --clear-text exclude each other; leave one of them out")
    if pause and resume:
        raise UsageError("--pause and --resume exclude each other; leave one of them out")
    keys = _keys_of(ctx, unset, urls, group)
    if settings.keys() & set(keys):
        both = ", ".join(sorted(settings.keys() & set(keys)))
        raise UsageError(f"--unset {both}: set and unset at the same time; leave one of them out")
    paused = pause if pause or resume else None
    group_to = check_group(move_to) if move_to else None
    edit = OwnEdit(settings, keys, paused, group_to, check_words(text), clear_text, forget_login)
    if not (settings or keys or edit.is_of_pages):
        raise UsageError("nothing to set; give an option such as --every 6h or --pause; see: tocsin watch set --help")
    # Who names pages knows which; a group may hold notes that its user has forgotten.
    lost = "" if urls else edit.overwrites(everywhere=everywhere)
    if dry_run or lost:
        changed = with_store(ctx, lambda store: _count(store, urls, group))
        if changed and not dry_run:
            confirm(f"{lost} {count(changed, 'page')}", yes=yes)
    if not dry_run:
        changed = with_store(ctx, lambda store: _set(store, urls, group, edit))
    whom = count(changed, "page") if urls or edit.is_of_pages else f"group {group}" if group else "all pages"
    record: JsonObject = {"scope": "page" if urls else "group" if group else "all", "group": group, "pages": changed}
    # The output may go into a log of CI.
    shown = {key: mask(("pages", key), value) for key, value in settings.items()}
    record.update(set=shown, unset=list(keys))
    if dry_run:
        record["dry_run"] = True
    output.emit(record, lambda: output.say(f"{'Would be set' if dry_run else 'Set'} for {whom}."))


async def _count(store: Store, urls: Sequence[str], group: str | None) -> int:
    """Count the pages that are meant."""
    return (await select(store, urls, PageFilter(group=await demand_group(store, group)))).pages


def _keys_of(ctx: click.Context, unset: Sequence[str], urls: Sequence[str], group: str | None) -> tuple[str, ...]:
    """Read the keys of `--unset`; what another version set, and this one does not know, can be unset, too.

    Raises SettingsError, NotWatched, BadUrl.
    """
    keys = tuple(key.replace("-", "_") for key in unset)
    # The usual case, without a look at the store.
    if all(key in PAGE_KEYS for key in keys):
        return keys
    # A key that this version does not know can be in a store that a newer one wrote; only then it may be unset.
    held = with_store(ctx, lambda store: _held(store, urls, group))
    keys = tuple(key if key in held else key.replace("-", "_") for key in unset)
    check_page_keys((key for key in keys if key not in held), source="--unset")
    return keys


async def _held(store: Store, urls: Sequence[str], group: str | None) -> set[str]:
    """Return the keys that are set for these pages, for the group, or for all pages."""
    if urls:
        return {key for page in await pages_named(store, urls) for key in page.settings}
    group = await demand_group(store, group)
    for_all, groups = await store.overrides()
    return set(for_all) if group is None else {key for name, own in groups.values() if name == group for key in own}


async def _set(store: Store, urls: Sequence[str], group: str | None, edit: OwnEdit) -> int:
    """Change pages, or a group; returns how many pages were changed themselves, or inherit the change."""
    group = await demand_group(store, group)
    selection = await select(store, urls, PageFilter(group=group))
    if urls:
        return await _edit(store, selection, edit)
    if edit.settings or edit.unset:
        unset = all_unset(edit.settings, edit.unset)
        with steps("Scheduling", "scheduled anew", total=selection.pages) as on_step:
            await store.edit_group(group, now(), settings=edit.settings, unset=unset, on_step=on_step)
    if not edit.is_of_pages:
        return selection.pages
    # Settings belong to the group alone: its pages inherit them.
    own = structs.replace(edit, settings={}, unset=())
    return await _edit(store, selection, own)


async def _edit(store: Store, selection: Selection, edit: OwnEdit) -> int:
    changed = 0
    unset = all_unset(edit.settings, edit.unset)
    with steps("Setting", "set", total=selection.pages) as on_step:
        async for some in selection.batches(store):
            changed += await store.edit_pages(
                some,
                now(),
                settings=edit.settings,
                unset=unset,
                paused=edit.paused,
                group=edit.move_to,
                text=edit.text,
                clear_text=edit.clear_text,
                of=selection.pages,
                on_step=on_step,
            )
            if edit.forget_login:
                await store.forget_logins(some)
    return changed


@click.command("remove", epilog="Example: tocsin watch remove https://example.org/news --yes")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--group", metavar="NAME", help="All pages of this group.")
@click.option("--host", metavar="HOST", help="All pages of this host.")
@click.option("--matching", metavar="PART", help="All pages whose URL contains this.")
@careful
@output.json_option
@click.pass_context
def remove(
    ctx: click.Context,
    urls: tuple[str, ...],
    group: str | None,
    host: str | None,
    matching: str | None,
    *,
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove pages, with everything stored about them."""
    conditions = PageFilter(group=group, host=host, matching=matching)
    # Neither would mean all pages; both, that one of the two was not meant.
    if bool(urls) == (conditions != PageFilter()):
        raise UsageError("name the pages to remove, or give --group, --host or --matching, but not both")
    selection = with_store(ctx, lambda store: _select(store, urls, conditions))
    _remove(ctx, selection, dry_run=dry_run, yes=yes)


async def _select(store: Store, urls: Sequence[str], conditions: PageFilter) -> Selection:
    group = await demand_group(store, conditions.group)
    return await select(store, urls, structs.replace(conditions, group=group))


@click.command("clear", epilog="Example: tocsin watch clear --dry-run")
@careful
@output.json_option
@click.pass_context
def clear(ctx: click.Context, *, dry_run: bool, yes: bool) -> None:
    """Remove every page, with everything stored about it."""
    selection = with_store(ctx, lambda store: select(store, (), PageFilter()))
    _remove(ctx, selection, dry_run=dry_run, yes=yes)


def _remove(ctx: click.Context, selection: Selection, *, dry_run: bool, yes: bool) -> None:
    act = removal(selection.pages)
    removed = 0
    if selection.pages and not dry_run:
        confirm(act, yes=yes)
        removed = with_store(ctx, lambda store: _remove_all(store, selection))
    record = {"pages": selection.pages, "removed": removed, "dry_run": dry_run}
    told = f"Would {act}." if dry_run else f"Removed {count(removed, 'page')}."
    output.emit(record, lambda: output.say(told))


async def _remove_all(store: Store, selection: Selection) -> int:
    removed = 0
    with steps("Removing", "removed", total=selection.pages) as on_step:
        async for some in selection.batches(store):
            removed += await store.remove_pages(some, on_step=on_step)
    return removed


_ON_TERMINAL: Final = 500
_MOST_REASONS: Final = 5


@click.command("list", epilog="Example: tocsin watch list --topper")
@click.option("--topper", is_flag=True, help="Only pages with topper elements; shows their content.")
@click.option("--subject", is_flag=True, help="Only pages whose changes are alerted now.")
@click.option("--group", metavar="NAME", help="Only pages of this group.")
@click.option("--host", metavar="HOST", help="Only pages of this host.")
@click.option("--matching", metavar="PART", help="Only pages whose URL contains this.")
@click.option(
    "--outcome",
    type=click.Choice([str(outcome) for outcome in CheckOutcome]),
    help="Only pages whose last check had this outcome.",
)
@click.option("--paused/--not-paused", default=None, help="Only pages that are (not) paused.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of pages; 500 on a terminal.")
@output.json_option
@click.pass_context
def list_(
    ctx: click.Context,
    group: str | None,
    host: str | None,
    matching: str | None,
    outcome: str | None,
    limit: int | None,
    *,
    topper: bool,
    subject: bool,
    paused: bool | None,
) -> None:
    """List the watched pages, the first added first, with the outcome of the last check and the time of the next.

    The API and the web page list the last added first.
    """
    which = PageFilter(group=group, host=host, matching=matching, outcome=outcome, topper=topper, paused=paused)
    # A person reads no million lines; a program may want them.
    if limit is None and not output.is_json():
        limit = _ON_TERMINAL
    base = configuration(ctx).settings.pages.mode
    with_store(ctx, lambda store: _print_list(store, which, base=base, limit=limit, subject=subject))


async def _print_list(store: Store, which: PageFilter, *, base: str, limit: int | None, subject: bool) -> None:
    """Print page by page to a program, one table to a person; memory stays flat in the first case."""
    kept: list[PageRow] = []
    after, printed = 0, 0
    if which.group is not None:
        which = structs.replace(which, group=await demand_group(store, which.group))
    modes = Modes(base, *await store.overrides())
    while (limit is None or printed < limit) and (pages := await store.pages(which, after_id=after, limit=BATCH)):
        after = pages[-1].id
        # Judged here and not in the query: it depends on the mode, which three levels of settings decide.
        meant = [page for page in pages if not subject or is_subject(page, modes.of(page)[0])]
        meant = meant[: None if limit is None else limit - printed]
        printed += len(meant)
        if output.is_json():
            output.print_json(*(page_of(page, modes) for page in meant))
        else:
            kept += meant
    if output.is_json():
        return
    _print(kept, modes, topper=which.topper)
    total = await store.count_pages(which)
    # How many of the others are subject is not known without reading them.
    if total > printed and not subject:
        output.note(f"{count(total - printed, 'page')} more; give --limit, or pipe the list")


def _print(pages: list[PageRow], modes: Modes, *, topper: bool) -> None:
    if not pages:
        output.say("No watched page matches; add one with: tocsin watch add URL")
        return
    if topper:
        rows = [
            (
                page.url,
                *(page.state.fields[FIELDS.index(field)] if page.state.fields else None for field in TOPPER_FIELDS),
            )
            for page in pages
        ]
        output.table(("page", *TOPPER_FIELDS), rows, head="page")
        return
    grouped = len({page.group for page in pages}) > 1
    stands = [_row(page, modes.of(page)[0], grouped=grouped) for page in pages]
    columns = ("page", "group", "mode", "last check", "outcome", "next check", "reason")
    output.table(columns if grouped else (columns[0], *columns[2:]), stands, head="page")
    _tell_disallowed(pages)
    _tell_suspects(pages)
    if shells := sum(page.flags.is_shell for page in pages):
        output.say(
            f"Built by scripts: {count(shells, 'page')}; changes of this text are not seen by HTTP; "
            "read them in a browser: tocsin watch set URL --fetch browser"
        )
    paused = sum(page.paused for page in pages)
    if paused:
        output.say(f"PAUSED: {count(paused, 'page')}; resume with: tocsin watch set --resume", style="bold red")


def _tell_disallowed(pages: list[PageRow]) -> None:
    disallowed = [why for page in pages if (why := why_disallowed(page)) is not None]
    for why in disallowed[:_MOST_REASONS]:
        output.say(f"Disallowed: {why}")
    more = len(disallowed) - _MOST_REASONS
    if more > 0:
        output.say(f"{count(more, 'page')} more disallowed; reasons: tocsin history URL")


def _tell_suspects(pages: list[PageRow]) -> None:
    suspects = [page for page in pages if (page.last.report or {}).get("outcome") == CheckOutcome.SUSPECT]
    for page in suspects[:_MOST_REASONS]:
        output.say(f"Held back: {page.url}: {(page.last.report or {}).get('problem')}")
    if suspects:
        output.say("If this is the page now: tocsin watch set URL --suspects accept")
    more = len(suspects) - _MOST_REASONS
    if more > 0:
        output.say(f"{count(more, 'page')} more held back; list them: tocsin watch list --outcome suspect --json")


def _row(page: PageRow, mode: str, *, grouped: bool) -> tuple[object, ...]:
    outcome = (page.last.report or {}).get("outcome")
    if page.flags.is_shell:
        outcome = f"{outcome}, built by scripts"
    group = (page.group,) if grouped else ()
    stands = (show_time(page.last.checked_at), outcome, show_time(page.due.at), page.due.why)
    return (page.url, *group, "PAUSED" if page.paused else mode, *stands)


@click.group("watch", epilog="Example: tocsin watch add https://example.org/news --every 6h")
def command() -> None:
    """Manage the list of watched pages."""


for subcommand in (add, remove, list_, set_, import_, export, clear):
    command.add_command(subcommand)

__all__ = ["command"]
