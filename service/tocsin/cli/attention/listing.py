"""What is asked: a question with its pages, its tries, and the copies that can stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.arguments import Number
from tocsin.cli.attention import offering
from tocsin.cli.attention.rules import print_rules
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.session import with_store
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import KnownCopy, QuestionRow
    from tocsin.ports import Store

_MOST_PAGES: Final = 1000
_SHOWN_PAGES: Final = 10
_ON_TERMINAL: Final = 100
_PIECE: Final = 100


@click.command("list", epilog="Example: tocsin attention list --rules")
@click.option("--closed", is_flag=True, help="Also questions that were answered, or ended by themselves.")
@click.option("--rules", is_flag=True, help="The answers that stay in force, instead.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many; on a terminal 100.")
@output.json_option
@click.pass_context
def list_(ctx: click.Context, limit: int | None, *, closed: bool, rules: bool) -> None:
    """List what you are asked: pages of one host that fail for one cause are one question."""
    if rules:
        print_rules(with_store(ctx, lambda store: store.rules()))
    else:
        with_store(ctx, lambda store: _list(store, limit, closed=closed))


@click.command("show", epilog="Example: tocsin attention show 77")
@click.argument("question", type=Number("a question", "tocsin attention list"), metavar="ID")
@output.json_option
@click.pass_context
def show(ctx: click.Context, question: int) -> None:
    """Show a question with its pages, its tries, and the copies that are known of its pages.

    Copies are named by other watched pages (mset), or by the page itself while it was there; the newest come first.
    """
    found, urls, copies = with_store(ctx, lambda store: _whole(store, question))
    record = {**to_record(found), "urls": urls, "copies": offering.to_records(copies)}
    output.emit(record, lambda: _print_whole(found, urls, copies))


async def _whole(store: Store, question_id: int) -> tuple[QuestionRow, list[str], list[KnownCopy]]:
    question = await store.question(question_id)
    if question is None:
        raise UsageError(f"question {question_id}: there is none; see: tocsin attention list")
    urls = await store.question_pages(question_id, limit=_MOST_PAGES)
    return question, urls, await store.question_copies(question_id)


def to_record(question: QuestionRow) -> dict[str, Any]:
    """Tell a question as `--json` does."""
    return {
        "id": str(question.id),
        "host": question.host,
        "cause": question.cause,
        "pages": question.pages,
        "sample": list(question.sample),
        "during": question.during,
        "opened": json_time(question.opened_at),
        "asked": json_time(question.announced_at),
        "answered": json_time(question.answered_at),
        "closed": json_time(question.closed_at),
        "instruction": None if question.instruction is None else question.instruction.kind,
        "attempts": [
            {
                "at": json_time(attempt.at),
                "kind": attempt.kind,
                "status": attempt.status,
                "message": attempt.message,
                "elapsed_ms": attempt.elapsed_ms,
            }
            for attempt in question.attempts
        ],
        "last_received": json_time(question.last_received),
        "next_occasion": json_time(question.next_occasion),
        "pending_change": question.pending_change,
        "copies": offering.to_records(question.copies),
    }


async def _list(store: Store, limit: int | None, *, closed: bool) -> None:
    """Print question by question to a program, one table to a person."""
    if not output.is_json():
        shown = limit or _ON_TERMINAL
        questions = await store.questions(closed=closed, limit=shown + 1)
        _print_questions(questions[:shown])
        if len(questions) > shown:
            output.note("There are more; give --limit, or pipe the list.")
        return
    after, left = 0, limit
    while questions := await store.questions(closed=closed, after_id=after, limit=min(_PIECE, left or _PIECE)):
        output.print_json(*map(to_record, questions))
        after = questions[-1].id
        if left is not None and not (left := left - len(questions)):
            break


def _print_questions(questions: list[QuestionRow]) -> None:
    if not questions:
        output.say("Nothing is asked: every page could be received, or was answered for.")
        return
    output.table(("id", "host", "cause", "pages", "such as", "since", "stands"), map(_row, questions), head="such as")
    offering.print_newest(questions)
    output.say("Answer with: tocsin attention answer ID again|never|until-major|drop, or copy NUMBER|URL")


def _print_whole(question: QuestionRow, urls: Sequence[str], copies: Sequence[KnownCopy]) -> None:
    *about, stands = _row(question)
    output.say(f"Question {question.id}: {question.host}, {question.cause}, since {about[-1]}, {stands}", style="bold")
    for url in urls[:_SHOWN_PAGES]:
        output.say(f"    {url}", whole=True)
    if question.pages > _SHOWN_PAGES:
        output.say(f"    and {count(question.pages - _SHOWN_PAGES, 'page')} more; see all with --json")
    for attempt in question.attempts:
        output.say(f"    tried {show_time(attempt.at)}: {attempt.kind}: {attempt.message}")
    offering.print_all(question, copies)


def _row(question: QuestionRow) -> tuple[object, ...]:
    sample = question.sample[0] if question.sample else None
    if question.closed_at is not None:
        stands = "closed"
    elif question.instruction is not None:
        stands = f"answered: {question.instruction.kind}"
    else:
        stands = "asked" if question.announced_at is not None else "gathering"
    return (question.id, question.host, question.cause, question.pages, sample, show_time(question.opened_at), stands)
