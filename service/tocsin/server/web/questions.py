"""*Questions*: unreachable pages by host and cause, and the answers to them (T60)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Annotated, Final, Literal, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.errors import BadUrl
from tocsin.model import Instant, Instruction, JobRow, KnownCopy, QuestionRow
from tocsin.server.actions import Act
from tocsin.server.decisions import STAYING, answer_question, lift_standing_answer, missing, read_moment
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.web.formatting import ENGLISH, fitting, fitting_by, weight, zone_named
from tocsin.server.web.rendering import ask, go_on, language_of, page, say
from tocsin.spec.html.urls import LONGEST_URL_BYTES, watch_url
from tocsin.wording.words import Words, words_of

Kind = Literal["again", "never", "until-major", "drop", "copy"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SCOPES: Final = ("page", "host-cause", "host", "cause")
WHENS: Final = ("now", "at", "later")
# Each try is a set of requests to a host that failed.
MOST_TIMES: Final = 100


class TypedAnswer(Struct, frozen=True):
    """A valid answer.

    scope  of a standing answer; None for others
    url    of one page; None: all pages of the question
    """

    instruction: Instruction
    scope: str | None = None
    url: str | None = None


def read_answer(
    form: Mapping[str, str],
    question: QuestionRow,
    copies: Sequence[KnownCopy],
    now: Instant,
    zone: tzinfo,
    words: Words = ENGLISH,
) -> tuple[TypedAnswer | None, dict[str, str]]:
    """Read a form: `kind`, `times`, `new_connections`, `when`, `at`, `scope` (of standing answers), `copy`, `url`.

    copies  offered for the question
    zone    of times without an offset
    words   of the language that errors are told in
    Returns the answer, or the errors with their mends, by field.
    """
    wrong: dict[str, str] = {}
    url = form.get("url", "")[:LONGEST_URL_BYTES].strip() or None
    # Compared, and not cast: the value is from a browser.
    kind = next((kind for kind in KINDS if kind == form.get("kind")), None)
    if kind is None:
        return None, {"kind": words.say("questions.wrong_kind")}
    scope: str | None = None
    instruction = Instruction(kind=kind)
    if kind == "again":
        instruction = _again(form, wrong, now, zone, words)
    elif kind in STAYING:
        scope = _scope(form, wrong, url, words)
    elif kind == "copy":
        chosen, of = _copy(form, wrong, copies, url, words)
        instruction = Instruction(kind="copy", copy_url=chosen)
        # The copy says which page it is of, so the user need not.
        url = url or (of if question.pages > 1 else None)
        if chosen and url is None and question.pages > 1:
            wrong["url"] = words.say("questions.wrong_one_copy")
    return (None, wrong) if wrong else (TypedAnswer(instruction, scope, url), {})


def _again(form: Mapping[str, str], wrong: dict[str, str], now: Instant, zone: tzinfo, words: Words) -> Instruction:
    written = form.get("times", "").strip() or "1"
    # Looked at as text first: `int` takes digits of any script, and signs, and thousands of them.
    times = int(written) if written.isascii() and written.isdecimal() and len(written) <= len(str(MOST_TIMES)) else 0
    if not 1 <= times <= MOST_TIMES:
        wrong["times"] = words.say("questions.wrong_times", most=MOST_TIMES)
    when, at = form.get("when", "now"), None
    if when not in WHENS:
        wrong["when"] = words.say("questions.wrong_when")
    elif when == "at":
        try:
            at = read_moment(form.get("at", "").strip(), now, zone)
        except ValueError as exc:
            wrong["at"] = str(exc)
    return Instruction(
        kind="again",
        # An answer with errors is never used, but the type allows no 0.
        times=times or 1,
        new_connections=bool(form.get("new_connections")),
        at=at,
        later=when == "later",
    )


def _scope(form: Mapping[str, str], wrong: dict[str, str], url: str | None, words: Words) -> str:
    # The narrowest that fits the form: a wider one is a decision.
    scope = form.get("scope") or ("page" if url else "host-cause")
    if scope not in SCOPES:
        wrong["scope"] = words.say("questions.wrong_scope")
    elif url and scope != "page":
        wrong["scope"] = words.say("questions.wrong_scope_of_page")
    return scope


def _copy(
    form: Mapping[str, str], wrong: dict[str, str], copies: Sequence[KnownCopy], url: str | None, words: Words
) -> tuple[str | None, str | None]:
    # A chosen copy counts before a typed one, which may be left over from an earlier try.
    written = form.get("copy", "")[:LONGEST_URL_BYTES].strip() or form.get("copy_url", "")[:LONGEST_URL_BYTES].strip()
    if not written:
        wrong["copy"] = words.say("questions.wrong_copy")
        return None, None
    try:
        chosen = watch_url(written).url
    except BadUrl as exc:
        wrong["copy"] = str(exc)
        return None, None
    of = {copy.of for copy in copies if copy.url == chosen}
    if url is not None and of and url not in of:
        # Only for copies that pages named: of one that was typed, only the user knows what it is of.
        wrong["copy"] = words.say("questions.wrong_copy_of", of=", ".join(sorted(of)), url=url)
    return chosen, of.pop() if len(of) == 1 else None


router = APIRouter(include_in_schema=False)

_PART: Final = 12
_SHOWN_PAGES: Final = 50
_SHOWN_COPIES: Final = 20
_PART_OF_STANDING: Final = 50
_STANDING: Final = "/questions?show=standing"
# Bytes: URLs may be long, and the page stays below 50 KB.
_ROOM_FOR_URLS: Final = 9_000
_ROOM_FOR_COPIES: Final = 9_000


class Group(Struct, frozen=True):
    """A question for its page.

    cause   a kind of failure, and its detail after a space
    stands  asked, gathered (not asked yet), answered or ended
    """

    row: QuestionRow
    cause: str
    stands: str


@router.get("/questions")
async def questions(
    request: Request,
    _caller: Reading,
    parts: Given,
    show: str = "open",
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """List open questions, closed ones, or standing answers."""
    tally = await parts.store.tally_questions()
    known = show if show in ("closed", "standing") else "open"
    lists = [
        ("/questions", "open", tally, known == "open"),
        ("/questions?show=closed", "closed", None, known == "closed"),
        (_STANDING, "standing", None, known == "standing"),
    ]
    if known == "standing":
        kept = await parts.store.browse_standing_answers(cursor=cursor, limit=_PART_OF_STANDING)
        return await page(
            request,
            "standing_answers.html",
            lists=lists,
            answers=kept.rows,
            following=f"{_STANDING}&cursor={kept.next}" if kept.next else None,
            first=_STANDING if cursor else None,
        )
    found = await parts.store.browse_questions(closed=known == "closed", cursor=cursor, limit=_PART)
    base = "/questions?show=closed" if known == "closed" else "/questions"
    joint = "&" if "?" in base else "?"
    return await page(
        request,
        "questions.html",
        lists=lists,
        groups=[grouped(row) for row in found.rows],
        is_closed=known == "closed",
        following=f"{base}{joint}cursor={found.next}" if found.next else None,
        first=base if cursor else None,
    )


@router.get("/questions/{question_id}")
async def question(request: Request, _caller: Reading, parts: Given, question_id: int) -> Response:
    """Show one question, with all possible answers."""
    return await _show(request, parts, await _demand(parts, question_id), {}, {})


@router.post("/questions/{question_id}/answer")
async def answer(request: Request, caller: Writing, parts: Given, work: Work, question_id: int) -> Response:
    """Apply an answer to a question, for all its pages or one of them."""
    row = await _demand(parts, question_id)
    typed = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    if row.times.closed_at is not None:
        return go_on(request, f"/questions/{question_id}", "question_closed", kind="warn")
    zone = zone_named(parts.service.settings().instance.time_zone)
    copies = await parts.store.question_copies(question_id)
    words = words_of(language_of(request))
    meant, wrong = read_answer(typed, row, copies, parts.clock.now(), zone, words)
    # The page may have recovered, or moved to another question, since the form was shown.
    if meant is not None and meant.url is not None and not await _is_of(parts, question_id, meant.url):
        meant, wrong = None, {"url": words.say("questions.wrong_page")}
    if meant is None:
        return await _show(request, parts, row, typed, wrong, status=422)
    number = 1 if meant.url else row.pages
    # The one answer that cannot be taken back.
    if meant.instruction.kind == "drop" and not typed.get("confirmed"):
        return await _ask_to_drop(request, row, typed, number)
    act = Act(work, caller)
    job = await answer_question(parts, act, question_id, meant.instruction, scope=meant.scope, url=meant.url)
    return _told(request, await job.wait(PATIENCE_S), meant, number)


@router.post("/questions/standing-answers/{answer_id}/lift")
async def lift(request: Request, caller: Writing, parts: Given, work: Work, answer_id: int) -> Response:
    """Remove a standing answer; its pages are checked again."""
    path = _STANDING
    if await parts.store.standing_answer(answer_id) is None:
        return go_on(request, path, "standing_gone", kind="warn", number=answer_id)
    job = await lift_standing_answer(parts, Act(work, caller), answer_id)
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        return go_on(request, path, "standing_lifting", more=_progress(row), number=answer_id)
    return go_on(request, path, "standing_lifted", number=answer_id, n=row.done)


def grouped(row: QuestionRow) -> Group:
    """Make the view of a question."""
    times = row.times
    if times.closed_at is not None:
        return Group(row, row.cause, "ended")
    if times.answered_at is not None or row.instruction is not None:
        return Group(row, row.cause, "answered")
    return Group(row, row.cause, "gathered" if times.announced_at is None else "asked")


async def _show(
    request: Request,
    parts: Parts,
    row: QuestionRow,
    typed: Mapping[str, str],
    wrong: Mapping[str, str],
    *,
    status: int = 200,
) -> Response:
    # A closed question takes no answer, so that there is nothing to offer.
    copies = await parts.store.question_copies(row.id) if row.times.closed_at is None else []
    urls = fitting(await parts.store.question_pages(row.id, limit=_SHOWN_PAGES), _ROOM_FOR_URLS, times=2)
    return await page(
        request,
        "question.html",
        status=status,
        question=grouped(row),
        urls=urls,
        copies=_offered(copies, typed.get("copy", "")),
        more_copies=max(len(copies) - len(_offered(copies, "")), 0),
        typed=typed,
        wrong=wrong,
        complaints=[f"{say(request, f'questions.field_{field}')}: {text}" for field, text in wrong.items()],
        scopes=SCOPES,
        whens=WHENS,
        zone_name=parts.service.settings().instance.time_zone,
    )


def _offered(copies: list[KnownCopy], chosen: str) -> list[KnownCopy]:
    shown = fitting_by(copies[:_SHOWN_COPIES], _ROOM_FOR_COPIES, _weight_of)
    # What the user chose stays to be seen, also where there is no room.
    return shown + [copy for copy in copies[len(shown) :] if copy.url == chosen]


def _weight_of(copy: KnownCopy) -> int:
    # Its URL is in the value, in the link and in the label.
    return sum(weight(text[:200]) for text in (copy.of, copy.seen_on)) + 3 * weight(copy.url)


async def _is_of(parts: Parts, question_id: int, url: str) -> bool:
    found = await parts.store.page(url)
    return found is not None and found.question_id == question_id


async def _ask_to_drop(request: Request, row: QuestionRow, typed: Mapping[str, str], number: int) -> Response:
    url = typed.get("url") or (row.page.url if number == 1 else None)
    return await ask(
        request,
        "drop" if url else "drop_of_host",
        f"/questions/{row.id}/answer",
        back=f"/questions/{row.id}",
        section="questions",
        values={"kind": "drop", "url": typed.get("url", "")},
        danger=True,
        n=number,
        url=url,
        host=row.host,
    )


def _told(request: Request, job: JobRow, meant: TypedAnswer, number: int) -> Response:
    kind = meant.instruction.kind
    answer = say(request, "questions.again_later" if kind == "again" and meant.instruction.later else f"answer.{kind}")
    if job.state == "running":
        return go_on(request, "/questions", "answering", more=_progress(job), n=number, answer=answer)
    more = (_STANDING, "standing_answers") if kind in ("never", "until-major") else None
    return go_on(request, "/questions", "answered", more=more, n=number, answer=answer)


def _progress(job: JobRow) -> tuple[str, str]:
    return f"/jobs/{job.id}", "progress"


async def _demand(parts: Parts, question_id: int) -> QuestionRow:
    # SQLite has no larger numbers, and would raise.
    row = await parts.store.question(question_id) if question_id < 2**63 else None
    if row is None:
        raise missing("question", question_id, "/questions; closed ones are deleted after store.history")
    return row
