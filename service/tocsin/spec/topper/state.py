"""A page's state: the twelve fields that one storing records."""

from __future__ import annotations

from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.spec.html.microsyntax import fold_space, lower_ascii, read_refresh, split_tokens
from tocsin.spec.topper.dates import is_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tocsin.spec.html.document import Meta

# The fields of a state in the order of the spec's table, without the URL, the time and the user's text.
FIELDS: tuple[str, ...] = (
    "created",
    "dc.created",
    "dcterms.created",
    "article:published_time",
    "dc.modified",
    "dcterms.modified",
    "article:modified_time",
    "page-version",
    "refresh",
    "topper",
    "topper-major",
    "topper-minor",
)

# Words, one of which is in the name, property or pragma of every element that feeds a field.
SIGNS: tuple[bytes, ...] = (b"article:", b"created", b"modified", b"page-version", b"refresh", b"topper")

TOPPER_FIELDS: tuple[str, ...] = ("topper", "topper-major", "topper-minor")

_PLACE = {field: place for place, field in enumerate(FIELDS)}
_BY_PROPERTY = frozenset(field for field in FIELDS if ":" in field)
_PROPERTY_PREFIX = "article:"
_BY_NAME = frozenset(FIELDS) - _BY_PROPERTY - {"refresh"}
# A longer refresh is beyond any cap; clamping keeps timedelta, and int() of a hostile number, out of trouble.
_LONGEST_REFRESH_DIGITS = 12


class PageState(Struct, frozen=True, gc=False):
    """The declarations of a page: one canonical value a field, None where it is absent.

    values  in the order of `FIELDS`; canonical, so that equal states are equal strings
    Source  awareness spec 2.2.2.
    """

    values: tuple[str | None, ...]

    def __post_init__(self) -> None:
        if len(self.values) != len(FIELDS):
            raise ValueError(f"a state has {len(FIELDS)} values, not {len(self.values)}")

    def __getitem__(self, field: str) -> str | None:
        return self.values[_PLACE[field]]

    @property
    def declares(self) -> tuple[str, ...]:
        """The names of the fields that are present, in order."""
        # Asked for with each check: a third faster than a comprehension.
        return tuple(compress(FIELDS, map(is_not, self.values, EMPTY.values)))

    @property
    def is_subject(self) -> bool:
        """Whether the page itself asks for awareness: a topper field is left after `false` was dropped (T51)."""
        return any(self[field] is not None for field in TOPPER_FIELDS)

    @property
    def refresh_s(self) -> int | None:
        """The page's refresh in seconds, at most 10^12; None if it has none."""
        digits = self["refresh"]
        if digits is None:
            return None
        return int(digits) if len(digits) <= _LONGEST_REFRESH_DIGITS else 10**_LONGEST_REFRESH_DIGITS

    def to_dict(self) -> dict[str, str | None]:
        """Return all twelve fields by name, in order."""
        return dict(zip(FIELDS, self.values, strict=True))

    @classmethod
    def from_dict(cls, fields: Mapping[str, str | None]) -> PageState:
        """Make a state of fields by name; those left out are absent. Values are taken as canonical.

        Raises ValueError for a name that is no field.
        """
        unknown = sorted(set(fields) - set(FIELDS))
        if unknown:
            raise ValueError(f"no field of a state: {', '.join(unknown)}")
        return cls(tuple(fields.get(field) for field in FIELDS))


# The state of a page that declares nothing.
EMPTY = PageState((None,) * len(FIELDS))


class Dates(Struct, frozen=True, gc=False):
    """Valid date-time tokens as written, unique, in code point order."""

    major: tuple[str, ...]
    minor: tuple[str, ...]


def read_state(metas: Iterable[Meta]) -> PageState:
    """Read a page's state from its meta elements, given in tree order.

    Source  awareness spec 2.1 and 2.2.2 (T01-T15), HTML on names, properties and pragmas.
    """
    contents: dict[str, list[str]] = {}
    for meta in metas:
        content, name = meta.content, meta.name
        if content is None:
            continue
        # Nearly no element says anything that is asked for, so the cheapest questions come first.
        if (
            (name is None or name.lower() not in _BY_NAME)
            and meta.http_equiv is None
            and ((tokens := meta.property) is None or _PROPERTY_PREFIX not in tokens)
        ):
            continue
        for field in fields_of(meta):
            contents.setdefault(field, []).append(content)
    if not contents:
        return EMPTY
    values: list[str | None] = [None] * len(FIELDS)
    for field, said in contents.items():
        values[_PLACE[field]] = canonical_value(field, said)
    return PageState(tuple(values))


def fields_of(meta: Meta) -> tuple[str, ...]:
    """Return the fields that an element feeds: one for each of its name, http-equiv and property (T14)."""
    found: list[str] = []
    # `lower` turns two other letters into ASCII ones, so the original letters are checked, too.
    if (name := meta.name) is not None and (lowered := name.lower()) in _BY_NAME and name.isascii():
        found.append(lowered)
    if (pragma := meta.http_equiv) is not None and pragma.lower() == "refresh" and pragma.isascii():
        found.append("refresh")
    if (tokens := meta.property) is not None and _PROPERTY_PREFIX in tokens:
        found.extend(dict.fromkeys(token for token in split_tokens(tokens) if token in _BY_PROPERTY))
    return tuple(found)


def canonical_value(field: str, contents: Sequence[str]) -> str | None:
    """Fold the contents of a field's elements into its canonical value, None if nothing is left.

    contents  in tree order, which only `refresh` heeds
    Source    T06, T12, T13, T14.
    """
    if field == "refresh":
        return next((seconds for content in contents if (seconds := read_refresh(content)) is not None), None)
    if field not in TOPPER_FIELDS:
        if len(contents) == 1:
            return fold_space(contents[0]) or None
        return " ".join(sorted(value for content in contents if (value := fold_space(content)))) or None
    tokens: set[str] = set()
    for content in contents:
        element = split_tokens(content)
        # T03: an element that only says false is absent.
        if field != "topper" or any(lower_ascii(token) != "false" for token in element):
            tokens.update(map(_fold_true, element))
    return " ".join(sorted(tokens)) or None


def tokens_of(state: PageState, field: str) -> tuple[str, ...]:
    """Return the valid date-time tokens of one of the topper fields, in code point order."""
    value = state[field]
    return () if value is None else tuple(token for token in value.split(" ") if is_token(token))


def read_dates(state: PageState) -> Dates:
    """Return the dates of a state's changes: major from `topper-major`, minor from the other two together."""
    minor = {*tokens_of(state, "topper"), *tokens_of(state, "topper-minor")}
    return Dates(major=tokens_of(state, "topper-major"), minor=tuple(sorted(minor)))


def _fold_true(token: str) -> str:
    return "true" if len(token) == len("true") and lower_ascii(token) == "true" else token
