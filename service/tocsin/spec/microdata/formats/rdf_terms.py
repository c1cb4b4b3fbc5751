"""RDF as values: terms, triples, and a collection of them within limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn, TypeAlias

from tocsin.spec.infrastructure.urls import percent

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

# A page of 10,000 events and their places has 70,000. 200,000 would cost 400 MB and five seconds.
MOST_TRIPLES: Final = 100_000
# In all triples together: a text that many items share is written for each of them.
MOST_LETTERS: Final = 32 * 1024 * 1024
# Longer ones are left out: no name is that long, and readers would have to bear it.
LONGEST_IRI: Final = 8192
_LEAST_LETTERS: Final = 1024 * 1024
# Letters of triples for a letter of the page: names may be short, and types long.
_TIMES: Final = 64
_MOST_LOOKED_AT: Final = 32 * 1024 * 1024
# The cost of each step in letters: a step that states nothing new takes time, too.
_STEP: Final = 16

# What the formats of RDF forbid in an IRI, and white space of any script, which readers take for its end.
_UNWRITABLE: Final = re.compile(r"""[\s\x00-\x1f<>"{}|^`\\\x7f-\x9f\ud800-\udfff]""")
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*+")
_LONGEST_LANGUAGE: Final = 100


class Iri(NamedTuple):
    """A URL as a name. Make it with `to_iri`, unless it is known to be writable."""

    text: str


# In place of a URL that is too long; triples with it are left out.
UNNAMED: Final = Iri("")


class Blank(NamedTuple):
    """A blank node: the nth of its graph, from 0."""

    number: int


class Literal(NamedTuple):
    """A text. Make it with `to_literal`, unless it is known to be writable.

    language  a well-formed tag; None if it is not known
    datatype  an IRI, then without a language; None for a plain text
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
    problems  sentences for the page's reader: what was left out since there was too much
    """

    triples: tuple[Triple, ...]
    problems: tuple[str, ...] = ()


def to_iri(url: str) -> Iri:
    """Convert an absolute URL to an IRI that every format can write; returns UNNAMED beyond LONGEST_IRI."""
    escaped = escape_short(_UNWRITABLE, url)
    return UNNAMED if len(escaped) > LONGEST_IRI else Iri(escaped)


def escape_short(others: re.Pattern[str], text: str) -> str:
    """Percent-encode these letters of a text; one that is too long for an IRI stays as it is."""
    return text if len(text) > LONGEST_IRI else others.sub(percent, text)


def to_literal(text: str, language: str | None = None) -> Literal:
    """Convert any text to a plain literal.

    Characters that no format can write become U+FFFD; a language that is invalid in BCP 47 is dropped.
    """
    if language is not None and (len(language) > _LONGEST_LANGUAGE or not _LANGUAGE.fullmatch(language)):
        language = None
    return Literal(_NO_TEXT.sub("\ufffd", text), language)


class Statements:
    """A collection of triples within limits."""

    class Enough(Exception):
        """There is no room for another triple."""

    def __init__(self, most: int = MOST_TRIPLES, letters: int = MOST_LETTERS) -> None:
        """Start without triples.

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
        """Add a triple, unless it is there; one with a name that is too long is left out.

        Raises Enough if there is no room for it.
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
        """Note that a name is too long, and is left out."""
        self._is_short_of_names = True

    def spend(self, letters: int = 0) -> None:
        """Count a step of work and the letters that it looked at; raises Enough if there were too many."""
        self._to_look_at -= letters + _STEP
        if self._to_look_at < 0:
            self._end("the page states the same too often")

    def _end(self, reason: str) -> NoReturn:
        self._cut = reason
        raise self.Enough

    def done(self) -> Triples:
        """Return all triples, with what was left out."""
        problems = []
        if self._is_short_of_names:
            problems.append(f"names of more than {LONGEST_IRI:,} letters are left out, and what they name")
        if self._cut is not None:
            problems.append(f"{self._cut}; what is beyond that is left out")
        return Triples(tuple(self._found), tuple(problems))


def statements_of(body: bytes) -> Statements:
    """Return a collection with the limits for a page of this length."""
    return Statements(letters=min(_LEAST_LETTERS + _TIMES * len(body), MOST_LETTERS))


Node: TypeAlias = Iri | Blank
Term: TypeAlias = Iri | Blank | Literal
