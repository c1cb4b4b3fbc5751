"""What a behaviour is: bytes and timing of a server, and the end that a check of its page must come to."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.origin import Talk

Answer: TypeAlias = bytes | Talk
"""Bytes, in which @ORIGIN@ and @PORT@ stand for the site's own and @COUNT@ for how many requests have come, or a
function that does the talking."""

KIBI, MEBI = 2**10, 2**20
PLENTY_S = 60.0
"""A deadline that is no part of a test: a machine that is slow, or has other work, does not miss it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the check of a misbehaving page ends.

    kind    the error kind, None where the page was received
    status  of the answer that is told, where it matters
    fields  what the page declares by then, where it was received: these, and no others
    held    the least and the most seconds for which the host's gate is then closed to everybody
    problem what the report's problem says
    """

    outcome: str
    kind: str | None = None
    status: int | None = None
    fields: Mapping[str, str] | None = None
    held: tuple[float, float] | None = None
    problem: str | None = None

    @property
    def is_received(self) -> bool:
        """The page was received, and its state stored."""
        return self.kind is None and self.outcome not in {"disallowed", "deferred", "suspect", "too-soon"}


def fails(kind: str, status: int | None = None, *, held: tuple[float, float] | None = None) -> Ending:
    """The page is not received, and the error is of this kind."""
    return Ending("unreachable", kind, status, held=held)


def reads(outcome: str = "minor", **fields: str) -> Ending:
    """The page is received all the same, and declares this; `topper_major="2026"` gives the name `topper-major`."""
    return Ending(outcome, fields={name.replace("_", "-"): value for name, value in fields.items()})


def suspect(problem: str) -> Ending:
    """What came is no page: it is told, and not compared."""
    return Ending("suspect", problem=problem)


UNCHANGED = Ending("unchanged")
DISALLOWED = Ending("disallowed")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One way to misbehave, once the page had its first good state.

    page      what the page answers then
    robots    what robots.txt answers then
    paths     what other paths answer, all the time
    good      what the page answered before; None: the usual good page with both validators
    greeting  what happens on each new connection then, before a request is read
    keep      connections stay open after an answer
    tls       the context that the server shows then; until then, a good one
    total_s   the deadline of the whole set,
    phase_s   of looking a name up and of the first byte, and
    tls_s     of agreeing on encryption: short where it is missed on purpose, and nowhere else
    max_body, max_wire  the caps
    spare     how many bytes beyond its caps the check may take
    """

    name: str
    page: Answer
    ends: Ending
    robots: Answer | None = None
    paths: Mapping[str, Answer] = field(default_factory=dict)
    good: bytes | None = None
    greeting: Talk | None = None
    keep: bool = False
    tls: Callable[[], ssl.SSLContext | None] | None = None
    total_s: float = PLENTY_S
    phase_s: float = PLENTY_S
    tls_s: float = PLENTY_S
    max_body: int = 256 * KIBI
    max_wire: int = 256 * KIBI
    spare: int = 16 * MEBI
