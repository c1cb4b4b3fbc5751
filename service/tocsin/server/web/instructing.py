"""What somebody filled in as the answer to a question, as an instruction (T60); or what is wrong with it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from msgspec import Struct

from tocsin.errors import BadUrl
from tocsin.model import Instruction
from tocsin.server.decisions import STAYING
from tocsin.server.moments import read_moment
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from tocsin.model import Instant, KnownCopy, QuestionRow

Kind = Literal["again", "never", "until-major", "drop", "copy"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SCOPES: Final = {
    "page": "its pages, each by itself",
    "host-cause": "this host, failing in this way",
    "host": "this host, whatever fails",
    "cause": "every host, failing in this way",
}
WHENS: Final = {"now": "at once", "at": "at this time, or after this long:", "later": "when I say so later"}
MOST_TIMES: Final = 100
_LONGEST: Final = 4096


class Answer(Struct, frozen=True):
    """An answer that can be carried out.

    scope  what a rule is remembered for; None for what is no rule
    url    of the one page that is meant; None: all pages of the question
    """

    instruction: Instruction
    scope: str | None = None
    url: str | None = None


def read_answer(
    form: Mapping[str, str], question: QuestionRow, copies: Sequence[KnownCopy], now: Instant, zone: tzinfo
) -> tuple[Answer | None, dict[str, str]]:
    """Read a form: `kind`, for `again` `times`, `new_connections`, `when` and `at`, for rules `scope`; `copy`; `url`.

    copies  those that are offered for the question
    zone    that a time without one is meant in
    Returns the answer, or, for each field that is wrong, why and the mend.
    """
    wrong: dict[str, str] = {}
    url = form.get("url", "")[:_LONGEST].strip() or None
    kind = next((kind for kind in KINDS if kind == form.get("kind")), None)
    if kind is None:
        return None, {"kind": "choose what to do: one of the buttons"}
    scope: str | None = None
    instruction = Instruction(kind=kind)
    if kind == "again":
        instruction = _again(form, wrong, now, zone)
    elif kind in STAYING:
        scope = _scope(form, wrong, url)
    elif kind == "copy":
        chosen, of = _copy(form, wrong, copies, url)
        instruction = Instruction(kind="copy", copy_url=chosen)
        url = url or (of if question.pages > 1 else None)
        if chosen and url is None and question.pages > 1:
            wrong["url"] = "one copy cannot stand for many pages: choose the page that it is a copy of"
    return (None, wrong) if wrong else (Answer(instruction, scope, url), {})


def _again(form: Mapping[str, str], wrong: dict[str, str], now: Instant, zone: tzinfo) -> Instruction:
    written = form.get("times", "").strip() or "1"
    times = int(written) if written.isascii() and written.isdecimal() and len(written) <= len(str(MOST_TIMES)) else 0
    if not 1 <= times <= MOST_TIMES:
        wrong["times"] = f"write a whole number from 1 to {MOST_TIMES}"
    when, at = form.get("when", "now"), None
    if when not in WHENS:
        wrong["when"] = "choose when: at once, at a time, or later"
    elif when == "at":
        try:
            at = read_moment(form.get("at", "").strip(), now, zone)
        except ValueError as exc:
            wrong["at"] = str(exc)
    return Instruction(
        kind="again",
        times=times or 1,
        new_connections=bool(form.get("new_connections")),
        at=at,
        later=when == "later",
    )


def _scope(form: Mapping[str, str], wrong: dict[str, str], url: str | None) -> str:
    scope = form.get("scope") or ("page" if url else "host-cause")
    if scope not in SCOPES:
        wrong["scope"] = "choose what to remember it for"
    elif url and scope != "page":
        wrong["scope"] = "this is for one page: remember it for that page, or choose all pages"
    return scope


def _copy(
    form: Mapping[str, str], wrong: dict[str, str], copies: Sequence[KnownCopy], url: str | None
) -> tuple[str | None, str | None]:
    written = form.get("copy", "")[:_LONGEST].strip() or form.get("copy_url", "")[:_LONGEST].strip()
    if not written:
        wrong["copy"] = "choose one of the copies, or write the URL of another one"
        return None, None
    try:
        chosen = watch_url(written).url
    except BadUrl as exc:
        wrong["copy"] = str(exc)
        return None, None
    of = {copy.of for copy in copies if copy.url == chosen}
    if url is not None and of and url not in of:
        wrong["copy"] = f"this is a copy of {', '.join(sorted(of))}, not of {url}"
    return chosen, of.pop() if len(of) == 1 else None
