"""What RDF states, as values: triples and what they are made of, gathered within bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

MOST_TRIPLES: Final = 100_000
"""Of a page of 10,000 events and their places there are 70,000. Twice as many cost 400 MB and five seconds."""
MOST_LETTERS: Final = 32 * 1024 * 1024
"""In all triples together. A text that many items share is written for each of them, whatever the page's size is."""
_STEP: Final = 16
"""Counted for looking at something, as letters: what states nothing costs time too."""

_UNWRITABLE: Final = re.compile(r"""[\s\x00-\x1f<>"{}|^`\\\x7f-\x9f\ud800-\udfff]""")
"""What RDF's formats forbid in an IRI; and white space of any script, at which known readers end a word."""
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*+")
_LONGEST_LANGUAGE: Final = 100


class Iri(NamedTuple):
    """What is identified by a URL. Make it with `to_iri`, unless it is known to be writable."""

    text: str


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
    """Make an IRI that every format can hold of an absolute URL, whatever its letters are: others are %-escaped."""
    return Iri(_UNWRITABLE.sub(percent, url))


def to_literal(text: str, language: str | None = None) -> Literal:
    """Make a plain literal of any text.

    A letter that no format can hold becomes a replacement character, a language that is none in BCP 47's form is
    unknown.
    """
    if language is not None and (len(language) > _LONGEST_LANGUAGE or not _LANGUAGE.fullmatch(language)):
        language = None
    return Literal(_NO_TEXT.sub("\ufffd", text), language)


def percent(match: re.Match[str]) -> str:
    """Write a letter that was found as the octets of its UTF-8; half of a surrogate pair as a replacement character."""
    letter = match[0]
    return "%EF%BF%BD" if "\ud800" <= letter <= "\udfff" else "".join(f"%{octet:02X}" for octet in letter.encode())


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
        self._letters = letters
        self._left = letters
        self._found: dict[Triple, None] = {}

    def add(self, subject: Node, predicate: Iri, object_: Term) -> None:
        """State something; the same twice is stated once.

        Raises Enough where there is no room for it.
        """
        self.spend(len(str(subject[0])) + len(predicate.text) + len(str(object_[0])))
        triple = Triple(subject, predicate, object_)
        if len(self._found) >= self._most and triple not in self._found:
            raise self.Enough
        self._found[triple] = None

    def spend(self, letters: int = 0) -> None:
        """Count a step of work, and the letters that it looked at.

        Raises Enough where that is too much.
        """
        self._left -= letters + _STEP
        if self._left < 0:
            raise self.Enough

    def done(self, *, cut: bool) -> Triples:
        """Give all that was stated; `cut` if there was more."""
        left_out = (
            f"the page states more than {self._most} triples, or more than {self._letters} letters in them; "
            "what is beyond them is left out"
        )
        return Triples(tuple(self._found), (left_out,) if cut else ())


if TYPE_CHECKING:
    Node: TypeAlias = Iri | Blank
    Term: TypeAlias = Iri | Blank | Literal
