"""The form of a signal, and the response that it is read from."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.signals.linked import NO_LINKED, Linked, read_linked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tocsin.spec.html.document import Meta
    from tocsin.spec.html.whole import Whole

Source: TypeAlias = Literal["author", "server", "list"]


def lower(name: str | None) -> str | None:
    """Return the name of a meta element in lower case."""
    return None if name is None else lower_ascii(name)


class Signal(NamedTuple):
    """Something that tells when a page changed, beside the twelve fields; compared with itself over time only.

    name    as rules of the user name it
    source  of its value: the page's author, its server, or a list that names the page
    what    it is, in one line for people
    read    gives its value, None where the page does not have it
    is_date  its value is a date, from which the time of a change can be known
    """

    name: str
    source: Source
    what: str
    read: Callable[[Seen], str | None]
    is_date: bool = True


class Seen:
    """One answer, with what several signals read of it, read once.

    whole    the page; None for a response that is not a page
    headers  of the answer, names in lower case
    listed   what feeds and sitemaps say of the page, by the signal's name
    url      the page's
    """

    def __init__(
        self, whole: Whole | None, headers: Sequence[tuple[str, str]], listed: Mapping[str, str], url: str
    ) -> None:
        """Keep the parts of a response."""
        self.whole, self.headers, self.listed, self.url = whole, headers, listed, url

    @cached_property
    def linked(self) -> Linked:
        """Its JSON-LD."""
        return NO_LINKED if self.whole is None else read_linked(self.whole, self.url)

    @property
    def metas(self) -> Sequence[Meta]:
        """Its meta elements, which are read in any case: a selector would walk the page for them."""
        return () if self.whole is None else self.whole.metas

    @cached_property
    def named(self) -> frozenset[str | None]:
        """The names of its meta elements, in lower case: few pages have one that a signal asks for."""
        return frozenset([lower(name) for each in self.metas for name in (each.name, each.http_equiv, each.property)])

    def header(self, name: str) -> str | None:
        """Return the value of the first header of a name; None without it."""
        return next((value for each, value in self.headers if each == name), None)
