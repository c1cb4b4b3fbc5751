"""`tocsin attention`: pages that cannot be read, your answers, and those that stay in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import click
from msgspec.structs import replace

from tocsin.cli import output
from tocsin.cli.arguments import Number, careful, confirm, parse_time, removal
from tocsin.cli.formatting import count, show_time
from tocsin.cli.output import steps
from tocsin.cli.session import now, with_store
from tocsin.errors import UsageError
from tocsin.model import Instruction
from tocsin.model.records.alerting import question_of, standing_answer_of, whole_question
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import Instant, KnownCopy, QuestionRow, StandingAnswerRow
    from tocsin.ports import Store


class Picked(NamedTuple):
    """The copy that was picked; `of` is the page that it is a copy of, None if unknown."""

    url: str
    of: str | None


def print_question_copies(question: QuestionRow, copies: Sequence[KnownCopy]) -> None:
    """Print the known copies of the pages of a question, and how to pick one."""
    print_copies(copies, is_of_many=question.pages > 1)
    if copies:
        pick = f"tocsin attention answer {question.id} copy NUMBER"
        output.say(f"Use one: {pick} (nothing is fetched before)", whole=True)


def print_copies(copies: Sequence[KnownCopy], *, is_of_many: bool = False) -> None:
    """Print the known copies; with `is_of_many` also of which page each is."""
    if not copies:
        output.say("No copy is known: no watched page names one.")
        return
    rows = [
        (number, copy.url, copy.datetime, copy.rel or copy.kind, copy.seen_on, *([copy.of] if is_of_many else []))
        for number, copy in enumerate(copies, 1)
    ]
    columns = ("no", "copy", "copied on", "type", "named by")
    output.table((*columns, "copy of") if is_of_many else columns, rows, whole=("copy",), head="copy")


def print_newest_copies(questions: Sequence[QuestionRow]) -> None:
    """Print, for each question with copies, the newest one and the command that picks it."""
    for question in questions:
        if question.copies:
            newest = question.copies[0]
            copied = f", copied on {newest.datetime}" if newest.datetime else ""
            known = "1 copy is known" if len(question.copies) == 1 else f"{len(question.copies)} copies are known"
            of = f" of {newest.of}" if question.pages > 1 else ""
            output.say(f"Question {question.id}: {known}{of}; the first{copied}: {newest.url}", whole=True)
            pick = f"tocsin attention answer {question.id} copy 1"
            output.say(f"    use it: {pick}; see all: tocsin attention show {question.id}", whole=True)


def pick_copy(question_id: int, text: str, copies: Sequence[KnownCopy], only: str | None) -> Picked:
    """Find a copy by its number in the list, or by its URL.

    copies  as they were offered, in order
    only    the page that was named, None for whichever it is
    Raises UsageError; BadUrl.
    """
    see = f"see: tocsin attention show {question_id}"
    if text.isascii() and text.isdecimal():
        # Cut: `int` takes quadratic time for millions of digits.
        number = int(text[:20])
        if not 1 <= number <= len(copies):
            raise UsageError(f"question {question_id}: no copy has the number {text[:20]}; {see}")
        copy = copies[number - 1]
        if only is not None and copy.of != only:
            raise UsageError(f"copy {number} is a copy of {copy.of}, not of {only}; {see}")
        return Picked(copy.url, copy.of)
    url = watch_url(text).url
    # A URL that the user typed may be one of the offered ones; then it is known what it is a copy of.
    of = {copy.of for copy in copies if copy.url == url}
    return Picked(url, of.pop() if len(of) == 1 else None)


@click.command("lift", epilog="Example: tocsin attention lift 3")
@click.argument("answer", type=Number("a standing answer", "tocsin attention list --standing"), metavar="ID")
@output.json_option
@click.pass_context
def lift(ctx: click.Context, answer: int) -> None:
    """End a standing answer; its pages are checked again."""
    pages = with_store(ctx, lambda store: _lift(store, answer))
    told = f"Standing answer {answer} lifted; {count(pages, 'page')} checked again."
    output.emit({"id": str(answer), "pages": pages}, lambda: output.say(told))


async def _lift(store: Store, answer_id: int) -> int:
    # Lifting one that is not there changes nothing, and the user would be told of no page.
    if all(row.id != answer_id for row in await store.standing_answers()):
        raise UsageError(f"standing answer {answer_id}: no such answer; see: tocsin attention list --standing")
    with steps("Lifting", "checked again") as on_step:
        return await store.lift_standing_answer(answer_id, now(), on_step=on_step)


def print_standing(answers: Sequence[StandingAnswerRow]) -> None:
    """List them: a table for a person, a line each for a program."""
    if output.is_json():
        output.print_json(*map(standing_answer_of, answers))
        return
    if not answers:
        output.say("There are no standing answers.")
        return
    rows = [
        (row.id, row.instruction.kind, row.page_url or row.host, row.cause, show_time(row.created_at))
        for row in answers
    ]
    output.table(("id", "answer", "for", "cause", "since"), rows)
    output.say("Lift one with: tocsin attention lift ID")


_MOST_PAGES: Final = 1000
_SHOWN_PAGES: Final = 10
_ON_TERMINAL: Final = 100
_PIECE: Final = 100


@click.command("list", epilog="Example: tocsin attention list --standing")
@click.option("--closed", is_flag=True, help="Also list answered and closed questions.")
@click.option("--standing", is_flag=True, help="List standing answers instead.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of questions; 100 on a terminal."
)
@output.json_option
@click.pass_context
def list_(ctx: click.Context, limit: int | None, *, closed: bool, standing: bool) -> None:
    """List open questions. Pages of one host that fail for the same cause share a question."""
    if standing:
        print_standing(with_store(ctx, lambda store: store.standing_answers()))
    else:
        with_store(ctx, lambda store: _list(store, limit, closed=closed))


@click.command("show", epilog="Example: tocsin attention show 77")
@click.argument("question", type=Number("a question", "tocsin attention list"), metavar="ID")
@output.json_option
@click.pass_context
def show(ctx: click.Context, question: int) -> None:
    """Show a question with its pages, its tries, and known copies of its pages.

    Copies are found on other watched pages (mset), or on the page itself while it was reachable; newest first.
    """
    found, urls, copies = with_store(ctx, lambda store: _whole(store, question))
    record = whole_question(found, urls, copies)
    output.emit(record, lambda: _print_whole(found, urls, copies))


async def _whole(store: Store, question_id: int) -> tuple[QuestionRow, list[str], list[KnownCopy]]:
    question = await store.question(question_id)
    if question is None:
        raise UsageError(f"question {question_id}: no such question; see: tocsin attention list")
    urls = await store.question_pages(question_id, limit=_MOST_PAGES)
    return question, urls, await store.question_copies(question_id)


async def _list(store: Store, limit: int | None, *, closed: bool) -> None:
    """Print question by question to a program, one table to a person."""
    if not output.is_json():
        shown = limit or _ON_TERMINAL
        # One more than is shown tells whether there are more.
        questions = await store.questions(closed=closed, limit=shown + 1)
        _print_questions(questions[:shown])
        if len(questions) > shown:
            output.note("There are more; give --limit, or pipe the list.")
        return
    after, left = 0, limit
    while questions := await store.questions(closed=closed, after_id=after, limit=min(_PIECE, left or _PIECE)):
        output.print_json(*map(question_of, questions))
        after = questions[-1].id
        if left is not None and not (left := left - len(questions)):
            break


def _print_questions(questions: list[QuestionRow]) -> None:
    if not questions:
        output.say("No open questions: every page is reachable, or its question is answered.")
        return
    output.table(
        ("id", "host", "cause", "pages", "for example", "since", "status"), map(_row, questions), head="for example"
    )
    print_newest_copies(questions)
    output.say("Answer with: tocsin attention answer ID again|never|until-major|drop, or copy NUMBER|URL")


def _print_whole(question: QuestionRow, urls: Sequence[str], copies: Sequence[KnownCopy]) -> None:
    *about, stands = _row(question)
    output.say(f"Question {question.id}: {question.host}, {question.cause}, since {about[-1]}, {stands}", style="bold")
    for url in urls[:_SHOWN_PAGES]:
        output.say(f"    {url}", whole=True)
    if question.pages > _SHOWN_PAGES:
        output.say(f"    and {count(question.pages - _SHOWN_PAGES, 'page')} more; --json lists all")
    for attempt in question.attempts:
        output.say(f"    tried {show_time(attempt.at)}: {attempt.kind}: {attempt.message}")
    print_question_copies(question, copies)


def _row(question: QuestionRow) -> tuple[object, ...]:
    sample = question.sample[0] if question.sample else None
    if question.times.closed_at is not None:
        stands = "closed"
    elif question.instruction is not None:
        stands = f"answered: {question.instruction.kind}"
    else:
        stands = "open" if question.times.announced_at is not None else "not asked yet"
    return (
        question.id,
        question.host,
        question.cause,
        question.pages,
        sample,
        show_time(question.times.opened_at),
        stands,
    )


Kind = Literal["again", "never", "until-major", "drop", "copy"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SCOPES: Final = ("page", "host-cause", "host", "cause")


@click.command("answer", epilog="Example: tocsin attention answer 77 again --times 3 --at 6h")
@click.argument("question", type=Number("a question", "tocsin attention list"), metavar="ID")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("copy", required=False, metavar="[COPY]")
@click.option("--times", type=click.IntRange(1, 100), help="again: number of rounds of requests.")
@click.option("--new-connections", is_flag=True, help="again: use new connections.")
@click.option("--at", metavar="TIME", help="again: at this time or after this duration; default: now.")
@click.option("--later", is_flag=True, help="again: you will set the time later.")
@click.option("--url", metavar="URL", help="Answer for this page of the question only.")
@click.option(
    "--scope", type=click.Choice(SCOPES), help="never, until-major: what the answer applies to in future [host-cause]."
)
@careful
@output.json_option
@click.pass_context
def answer(
    ctx: click.Context,
    question: int,
    kind: Kind,
    copy: str | None,
    times: int | None,
    at: str | None,
    url: str | None,
    scope: str | None,
    *,
    new_connections: bool,
    later: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Answer a question about unreachable pages.

    \b
    again        try again: --times, --new-connections, --at or --later
    never        stop checking, until you lift the answer (tocsin attention lift)
    until-major  keep trying without alerts, until the page has a major change
    drop         remove its pages from the list
    copy COPY    read this copy in its place, once: its number, or a URL
    """  # noqa: D301 - \b keeps click from filling the lines
    if url and scope not in (None, "page"):
        raise UsageError(f"--url is for one page, --scope {scope} for more; leave one of them out")
    at_instant = _refuse_mismatch(kind, copy, times, at, scope, now=now(), new_connections=new_connections, later=later)
    # As it is stored: the user may write it in another way.
    only = watch_url(url).url if url else None
    instruction = Instruction(
        kind=kind,
        times=times or 1,
        new_connections=new_connections,
        at=at_instant,
        later=later,
    )
    found, picked = with_store(ctx, lambda store: _look_up(store, question, only, copy))
    if picked is not None:
        instruction = replace(instruction, copy_url=picked.url)
        only = only or (picked.of if found.pages > 1 else None)
    pages = 1 if only else found.pages
    if kind == "drop" and not dry_run:
        confirm(removal(pages), yes=yes)
    if not dry_run:
        # The narrowest that covers what was named: a wider one must be asked for.
        chosen = scope or ("page" if only else "host-cause")

        async def carry_out(store: Store) -> int:
            with steps("Answering", "answered for", total=pages) as on_step:
                return await store.answer(question, instruction, scope=chosen, url=only, now=now(), on_step=on_step)

        pages = with_store(ctx, carry_out)
    record: dict[str, Any] = {"question": str(question), "instruction": kind, "pages": pages, "dry_run": dry_run}
    if picked is not None:
        record["copy"] = picked.url
    told = "Would be answered" if dry_run else "Answered"
    then = f", at {show_time(at_instant)}" if at_instant is not None else f": {picked.url}" if picked else ""
    output.emit(record, lambda: output.say(f"{told} with {kind!r} for {count(pages, 'page')}{then}."))


def _refuse_mismatch(
    kind: Kind,
    copy: str | None,
    times: int | None,
    at: str | None,
    scope: str | None,
    *,
    now: Instant,
    new_connections: bool,
    later: bool,
) -> Instant | None:
    """Refuse what does not go together; returns the time that `at` names."""
    if kind != "again" and (times or at or later or new_connections):
        raise UsageError(f"--times, --at, --later and --new-connections are for again, not for {kind}")
    if kind not in ("never", "until-major") and scope:
        raise UsageError(f"--scope is for never and until-major, not for {kind}")
    if (kind == "copy") != (copy is not None):
        raise UsageError("only the answer copy takes a copy, by its number or URL: tocsin attention answer ID copy 1")
    if at and later:
        raise UsageError("--at and --later exclude each other; leave one of them out")
    return parse_time(at, now=now, option="--at") if at else None


async def _question(store: Store, question_id: int, url: str | None) -> QuestionRow:
    question = await store.question(question_id)
    if question is None:
        raise UsageError(f"question {question_id}: no such question; see: tocsin attention list")
    if question.times.closed_at is not None:
        raise UsageError(
            f"question {question_id}: closed at {show_time(question.times.closed_at)}; see: tocsin attention list"
        )
    page = await store.page(url) if url is not None else None
    if url is not None and (page is None or page.question_id != question_id):
        raise UsageError(f"{url}: not among the pages of question {question_id}; leave --url out, or mend it")
    return question


async def _look_up(
    store: Store, question_id: int, url: str | None, copy: str | None
) -> tuple[QuestionRow, Picked | None]:
    question = await _question(store, question_id, url)
    if copy is None:
        return question, None
    return question, pick_copy(question_id, copy, await store.question_copies(question_id), url)


@click.group("attention", epilog="Example: tocsin attention list")
def command() -> None:
    """Questions about unreachable pages, and your answers."""


for subcommand in (list_, show, answer, lift):
    command.add_command(subcommand)
