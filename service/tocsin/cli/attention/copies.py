"""Copies of a page that watched pages name: listed, and picked as an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.cli import output
from tocsin.errors import UsageError
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import KnownCopy, QuestionRow


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
        number = int(text[:20])
        if not 1 <= number <= len(copies):
            raise UsageError(f"question {question_id}: no copy has the number {text[:20]}; {see}")
        copy = copies[number - 1]
        if only is not None and copy.of != only:
            raise UsageError(f"copy {number} is a copy of {copy.of}, not of {only}; {see}")
        return Picked(copy.url, copy.of)
    url = watch_url(text).url
    of = {copy.of for copy in copies if copy.url == url}
    return Picked(url, of.pop() if len(of) == 1 else None)
