"""What RDF states, as values: triples and what they are made of, gathered within bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from tocsin.spec.infrastructure.urls import percent

if TYPE_CHECKING:
    from typing import TypeAlias

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

MOST_TRIPLES: Final = 100_000
"""Of a page of 10,000 events and their places there are 70,000. Twice as many cost 400 MB and five seconds."""
MOST_LETTERS: Final = 32 * 1024 * 1024
"""In all triples together. A text that many items share is written for each of them, whatever the page's size is."""
LONGEST_IRI: Final = 8192
"""A name of a page's that makes a longer one is nobody's name, and costs whoever reads it."""
_LEAST_LETTERS: Final = 1024 * 1024
_TIMES: Final = 64
"""So many letters are made of one of a page: where its names are short, and its types long."""
_MOST_LOOKED_AT: Final = 32 * 1024 * 1024
_STEP: Final = 16
"""Counted for looking at something, as letters: what states nothing, or the same once more, costs time too."""

_UNWRITABLE: Final = re.compile(r"""[\s\x00-\x1f<>"{}|^`\\\x7f-\x9f\ud800-\udfff]""")
"""What RDF's formats forbid in an IRI; and white space of any script, at which known readers end a word."""
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*+")
_LONGEST_LANGUAGE: Final = 100


class Iri(NamedTuple):
    """What is identified by a URL. Make it with `to_iri`, unless it is known to be writable."""

    text: str


UNNAMED: Final = Iri("")
"""What a URL is that is too long: nothing is stated of it or by it."""


class Blank(NamedTuple):
    """What has no name: the nth of its graph, from 0."""

    number: int


class Literal(NamedTuple):
    """A text. Make it with `to_literal`, unless it is known to be writable.

    language  a well-formed tag; None if none is known
    datatype  an IRI; None for a plain text. One that has a type has no language
    """

    text: str
    language: str | None = None
    datatype: str | None = None


class Triple(NamedTuple):
    """One statement."""

    subject: Node
    predicate: Iri
    object: Term


@dataclass(frozen=True, slots=True)
class Triples:
    """A page as RDF.

    triples   each once, in the order of the page
    problems  in words for the page's reader: what was left out, since there was too much of it
    """

    triples: tuple[Triple, ...]
    problems: tuple[str, ...] = ()


def to_iri(url: str) -> Iri:
    """Make an IRI that every format can hold of an absolute URL, whatever its letters are: others are %-escaped.

    UNNAMED for one that is longer than LONGEST_IRI.
    """
    escaped = escape_short(_UNWRITABLE, url)
    return UNNAMED if len(escaped) > LONGEST_IRI else Iri(escaped)


def escape_short(others: re.Pattern[str], text: str) -> str:
    """Escape these letters of a text; one that is too long to be part of an IRI stays as it is."""
    return text if len(text) > LONGEST_IRI else others.sub(percent, text)


def to_literal(text: str, language: str | None = None) -> Literal:
    """Make a plain literal of any text.

    A letter that no format can hold becomes a replacement character, a language that is none in BCP 47's form is
    unknown.
    """
    if language is not None and (len(language) > _LONGEST_LANGUAGE or not _LANGUAGE.fullmatch(language)):
        language = None
    return Literal(_NO_TEXT.sub("\ufffd", text), language)


class Statements:
    """What is stated so far, within bounds."""

    class Enough(Exception):
        """There is no room for more."""

    def __init__(self, most: int = MOST_TRIPLES, letters: int = MOST_LETTERS) -> None:
        """Start with nothing stated.

        most     triples
        letters  in all of them together
        """
        self._most = most
        self._letters = self._left = letters
        self._to_look_at = _MOST_LOOKED_AT
        self._found: dict[Triple, None] = {}
        self._is_short_of_names = False
        self._cut: str | None = None

    def add(self, subject: Node, predicate: Iri, object_: Term) -> None:
        """State something; the same twice is stated once, and what has no name that could be written is left out.

        Raises Enough where there is no room for it.
        """
        self.spend()
        triple = Triple(subject, predicate, object_)
        if UNNAMED in triple:
            self.leave_out()
        elif triple not in self._found:
            self._left -= len(str(subject[0])) + len(predicate.text) + len(str(object_[0])) + _STEP
            if len(self._found) >= self._most:
                self._end(f"the page states more than {self._most:,} triples")
            if self._left < 0:
                self._end(f"what the page states has more than {self._letters:,} letters")
            self._found[triple] = None

    def leave_out(self) -> None:
        """Note that something has a name that is too long, and has to do without."""
        self._is_short_of_names = True

    def spend(self, letters: int = 0) -> None:
        """Count a step of work, and the letters that it looked at.

        Raises Enough where that is too much.
        """
        self._to_look_at -= letters + _STEP
        if self._to_look_at < 0:
            self._end("the page states the same too often")

    def _end(self, reason: str) -> NoReturn:
        self._cut = reason
        raise self.Enough

    def done(self) -> Triples:
        """Give all that was stated, and say what was left out."""
        problems = []
        if self._is_short_of_names:
            problems.append(f"names of more than {LONGEST_IRI:,} letters are left out, and what they name")
        if self._cut is not None:
            problems.append(f"{self._cut}; what is beyond that is left out")
        return Triples(tuple(self._found), tuple(problems))


def statements_of(body: bytes) -> Statements:
    """Give room for what a page of so many bytes may state."""
    return Statements(letters=min(_LEAST_LETTERS + _TIMES * len(body), MOST_LETTERS))


if TYPE_CHECKING:
    Node: TypeAlias = Iri | Blank
    Term: TypeAlias = Iri | Blank | Literal
