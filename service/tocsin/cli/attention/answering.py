"""A user's answer to a question: judged, its copy found, and carried out for every page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import click
from msgspec.structs import replace

from tocsin.cli import output
from tocsin.cli.arguments import Number, careful, confirm, parse_time, removal
from tocsin.cli.attention.offering import pick
from tocsin.cli.formatting import count, show_time
from tocsin.cli.progress import steps
from tocsin.cli.session import now, with_store
from tocsin.errors import UsageError
from tocsin.model import Instruction
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from tocsin.cli.attention.offering import Picked
    from tocsin.model import Instant, QuestionRow
    from tocsin.ports import Store

Kind = Literal["again", "never", "until-major", "drop", "copy"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SCOPES: Final = ("page", "host-cause", "host", "cause")


@click.command("answer", epilog="Example: tocsin attention answer 77 again --times 3 --at 6h")
@click.argument("question", type=Number("a question", "tocsin attention list"), metavar="ID")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("copy", required=False, metavar="[COPY]")
@click.option("--times", type=click.IntRange(1, 100), help="again: so many sets of requests.")
@click.option("--new-connections", is_flag=True, help="again: on connections of their own.")
@click.option("--at", metavar="TIME", help="again: then, or after this duration; without, at once.")
@click.option("--later", is_flag=True, help="again: at a time that you will set later.")
@click.option("--url", metavar="URL", help="Only for this page of the question.")
@click.option("--scope", type=click.Choice(SCOPES), help="never, until-major: what it is remembered for [host-cause].")
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
    """Answer a question.

    \b
    again        try again: --times, --new-connections, --at or --later
    never        no more, until you lift the rule (tocsin attention lift)
    until-major  silent tries, until the page has a major change
    drop         take its pages off the list
    copy COPY    take this copy in its stead, once: its number, or a URL
    """  # noqa: D301 - \b keeps click from filling the lines
    if url and scope not in (None, "page"):
        raise UsageError(f"--url means one page, --scope {scope} more; leave one of them out")
    at_instant = _judge(kind, copy, times, at, scope, now=now(), new_connections=new_connections, later=later)
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


def _judge(
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
        raise UsageError(f"--times, --at, --later and --new-connections belong to again, not to {kind}")
    if kind not in ("never", "until-major") and scope:
        raise UsageError(f"--scope belongs to never and until-major, not to {kind}")
    if (kind == "copy") != (copy is not None):
        raise UsageError("copy wants the copy's URL or number, and only copy does: tocsin attention answer ID copy 1")
    if at and later:
        raise UsageError("--at and --later exclude each other; leave one of them out")
    return parse_time(at, now=now, option="--at") if at else None


async def _question(store: Store, question_id: int, url: str | None) -> QuestionRow:
    question = await store.question(question_id)
    if question is None:
        raise UsageError(f"question {question_id}: there is none; see: tocsin attention list")
    if question.closed_at is not None:
        raise UsageError(
            f"question {question_id}: closed at {show_time(question.closed_at)}; see: tocsin attention list"
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
    return question, pick(question_id, copy, await store.question_copies(question_id), url)
