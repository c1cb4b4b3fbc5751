"""Steps that a browser takes on a page before it is read, and when a page is ready: data, never code."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from tocsin.errors import BadUrl
from tocsin.spec.html.urls import watch_url

MOST_STEPS: Final = 20
LONGEST_STEP: Final = 500
# The deadlines of the browser end a visit sooner, unless they are raised.
LONGEST_WAIT_S: Final = 60.0
# The keys that are of use on a page; combinations could reach the browser itself.
KEYS: Final = (
    "Enter", "Escape", "Tab", "Space", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageDown", "PageUp",
    "Home", "End",
)  # fmt: skip

StepKind: TypeAlias = Literal["click", "fill", "press", "wait", "scroll", "hide"]
# Says what is wrong with a CSS selector; None if nothing is.
SelectorCheck: TypeAlias = Callable[[str], str | None]

_FORMS: Final[dict[str, str]] = {
    "click": "click SELECTOR",
    "fill": "fill SELECTOR NAME",
    "press": "press KEY",
    "wait": "wait SELECTOR, or wait 2s",
    "scroll": "scroll",
    "hide": "hide SELECTOR",
}
_SECRET_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,63}")
_SPAN: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|m)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0}
# `fill SELECTOR NAME at ORIGIN`; a selector may contain spaces, so it is read from its end.
_ELSEWHERE: Final = re.compile(r"\s+at\s+(?=\S+$)")
_CSS: Final = "css:"
# A comma within a selector is not followed by the first word of a step.
_BETWEEN: Final = re.compile(rf"[\r\n]+|,(?=\s*(?:{'|'.join(_FORMS)})\b)")


class Step(Struct, frozen=True):
    """One step.

    text      as the user wrote it
    selector  of the element that is clicked, filled in, waited for or hidden; "" for the others
    secret    the name of the secret that is typed into the element
    origin    where it may be typed; "" is the page's own origin
    key       that is pressed
    seconds   that are waited
    """

    text: str
    kind: StepKind
    selector: str = ""
    secret: str = ""
    origin: str = ""
    key: str = ""
    seconds: float = 0.0


class ReadyRule(Struct, frozen=True):
    """When a page is ready: no more requests, its document complete, an element there, or a time gone by."""

    kind: Literal["network", "dom", "css", "time"]
    selector: str = ""
    seconds: float = 0.0


def check_secret_name(text: str) -> str | None:
    """Say what is allowed if `text` cannot name a secret of a page."""
    return None if _SECRET_NAME.fullmatch(text) else "a name of letters, digits, _ . -"


def split_steps(text: str) -> list[str]:
    """Split steps that are written as one text: at line ends, and at commas before the first word of a step."""
    return [each.strip() for each in _BETWEEN.split(text) if each.strip()]


def read_steps(texts: Sequence[str], check_selector: SelectorCheck) -> tuple[Step, ...]:
    """Read the steps of a page; raises ValueError, which names the step, the column and the mend."""
    if len(texts) > MOST_STEPS:
        raise ValueError(f"{len(texts)} steps; at most {MOST_STEPS} are taken, leave some out")
    found = []
    for number, text in enumerate(texts, start=1):
        try:
            found.append(_read_step(text, check_selector))
        except _Fault as fault:
            raise ValueError(f"step {number}, column {fault.column}: {fault.why}") from fault
    return tuple(found)


def read_ready(text: str, check_selector: SelectorCheck) -> ReadyRule:
    """Read when a page is ready; raises ValueError, which names the mend."""
    if text in ("network", "dom"):
        return ReadyRule("network" if text == "network" else "dom")
    if text.startswith(_CSS):
        selector = text.removeprefix(_CSS).strip()
        if wrong := check_selector(selector) if selector else "no selector":
            raise ValueError(f'write a CSS selector behind "css:", such as "css: main .price" ({wrong})')
        return ReadyRule("css", selector=selector)
    if (seconds := _seconds(text)) is None:
        raise ValueError('write "network", "dom", "css: SELECTOR", or a time such as "3s"')
    if not 0 < seconds <= LONGEST_WAIT_S:
        raise ValueError(f"write a time of at most {LONGEST_WAIT_S:g}s")
    return ReadyRule("time", seconds=seconds)


def secrets_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """List the names of the secrets that steps type, each once."""
    return tuple(dict.fromkeys(step.secret for step in steps if step.secret))


def find_login(steps: Sequence[Step]) -> int:
    """Return the number of steps that belong to the login: up to the click or key that follows the last `fill`.

    Without a `fill` there is no login, and the number is 0.
    """
    last = max((at for at, step in enumerate(steps) if step.kind == "fill"), default=-1)
    if last < 0:
        return 0
    submits = (at for at, step in enumerate(steps) if at > last and step.kind in ("click", "press"))
    return next(submits, last) + 1


class _Fault(Exception):
    """A step that cannot be read. Columns count from 1."""

    def __init__(self, column: int, why: str) -> None:
        super().__init__(why)
        self.column, self.why = column, why


def _read_step(text: str, check_selector: SelectorCheck) -> Step:
    if len(text) > LONGEST_STEP:
        raise _Fault(LONGEST_STEP + 1, f"a step has at most {LONGEST_STEP} characters")
    if not text.isprintable():
        column = next(at for at, letter in enumerate(text, start=1) if not letter.isprintable())
        raise _Fault(column, "a control character; write the step in one line")
    word, _, _ = text.strip().partition(" ")
    start = text.find(word) + len(word)
    rest = text[start:].strip()
    at = text.find(rest, start) + 1 if rest else len(text.rstrip()) + 1
    written = text.strip()
    match word:
        case "click" | "hide":
            return Step(written, word, selector=_selector(word, rest, at, check_selector))
        case "fill":
            return _read_fill(written, rest, at, check_selector)
        case "press":
            if rest not in KEYS:
                raise _Fault(at, f"{_quoted(rest)} is no key; write one of {', '.join(KEYS)}")
            return Step(written, word, key=rest)
        case "wait":
            return _read_wait(written, rest, at, check_selector)
        case "scroll":
            if rest:
                raise _Fault(at, "nothing follows scroll, which goes down to the end of the page")
            return Step(written, word)
        case _:
            allowed = "; ".join(_FORMS.values())
            raise _Fault(text.find(word) + 1, f"{_quoted(word)} is no step; write one of: {allowed}")


def _read_fill(written: str, rest: str, at: int, check_selector: SelectorCheck) -> Step:
    origin = ""
    if (elsewhere := _ELSEWHERE.search(rest)) is not None:
        origin = _origin(rest[elsewhere.end() :], at + elsewhere.end())
        rest = rest[: elsewhere.start()]
    selector, _, secret = rest.rpartition(" ")
    if not selector.strip():
        raise _Fault(at + len(rest), f"the name of a secret is missing; write {_FORMS['fill']}")
    if wrong := check_secret_name(secret):
        column = at + len(rest) - len(secret)
        # Not repeated: it may be the secret itself.
        raise _Fault(column, f"this cannot name a secret, write {wrong}; its value is set with --secret NAME=VALUE")
    selector = _selector("fill", selector.strip(), at, check_selector)
    return Step(written, "fill", selector=selector, secret=secret, origin=origin)


def _read_wait(written: str, rest: str, at: int, check_selector: SelectorCheck) -> Step:
    seconds = _seconds(rest)
    # No selector begins with a digit: this is a time in another unit, or in none.
    if seconds is None and not rest[:1].isdigit():
        return Step(written, "wait", selector=_selector("wait", rest, at, check_selector))
    if seconds is None or not 0 < seconds <= LONGEST_WAIT_S:
        raise _Fault(at, f"write a time of at most {LONGEST_WAIT_S:g}s, such as 2s")
    return Step(written, "wait", seconds=seconds)


def _selector(word: str, text: str, at: int, check_selector: SelectorCheck) -> str:
    if not text:
        raise _Fault(at, f"a selector is missing; write {_FORMS[word]}")
    if wrong := check_selector(text):
        raise _Fault(at, f"{_quoted(text)} is no CSS selector ({wrong})")
    return text


def _origin(text: str, at: int) -> str:
    try:
        found = watch_url(text)
    except BadUrl as exc:
        raise _Fault(at, f"{_quoted(text)} is no origin ({exc})") from exc
    if found.url != f"{found.origin}/" or found.credentials is not None:
        raise _Fault(at, f"{_quoted(text)} is more than an origin; write {found.origin}")
    return found.origin


def _seconds(text: str) -> float | None:
    found = _SPAN.fullmatch(text)
    return None if found is None else float(found[1]) * _SECONDS[found[2]]


def _quoted(text: str) -> str:
    return f'"{text[:60]}"' if text else "nothing"
