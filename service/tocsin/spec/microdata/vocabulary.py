"""The vocabularies of text 003 for contacts (hcard) and events (vevent), a table each.

The checker judges pages by these tables, and the writers of vCard and iCalendar take the same properties from them.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final, NamedTuple

from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global, parse_datetime


class ValueForm(Enum):
    """What the value of a property is; where nothing else is said, a text of that form."""

    TEXT = auto()
    URL = auto()
    DATE = auto()
    MOMENT = auto()
    """Date and time with a zone."""
    WHEN = auto()
    """A date, or a moment."""
    RECURRENCE = auto()
    """A date, a moment, or a moment with its end or duration."""
    RULE = auto()
    """A recurrence rule of iCalendar."""
    DURATION = auto()
    POSITION = auto()
    ZONE = auto()
    REVISION = auto()
    """A number that is not negative."""
    WORD = auto()
    """One of the words of the term."""
    NAME = auto()
    """An item of the parts of a name."""
    ADDRESS = auto()
    """An item of the parts of an address."""
    CONTACT_WAY = auto()
    """A text, or an item of a value and its types; of `impp` the value is a URL."""
    ORGANISATION = auto()
    """A text, or an item of the name and its units."""
    AGENT = auto()
    """A text, a URL, or a contact."""


class Term(NamedTuple):
    """A property of a vocabulary.

    rule       the requirement that a wrong value breaks
    is_single  an item has it once at most
    words      that are allowed
    """

    form: ValueForm
    rule: str
    is_single: bool = False
    words: tuple[str, ...] = ()


_CLASSES: Final = ("public", "private", "confidential")

# The properties of a contact, in the text's order.
CONTACT: Final[dict[str, Term]] = {
    "fn": Term(ValueForm.TEXT, "VC-01", is_single=True),
    "n": Term(ValueForm.NAME, "VC-01", is_single=True),
    "nickname": Term(ValueForm.TEXT, "VC-01"),
    "photo": Term(ValueForm.URL, "VC-08"),
    "bday": Term(ValueForm.DATE, "VC-08", is_single=True),
    "adr": Term(ValueForm.ADDRESS, "VC-03"),
    "label": Term(ValueForm.CONTACT_WAY, "VC-05"),
    "tel": Term(ValueForm.CONTACT_WAY, "VC-05"),
    "email": Term(ValueForm.CONTACT_WAY, "VC-05"),
    "mailer": Term(ValueForm.TEXT, "VC-01"),
    "tz": Term(ValueForm.ZONE, "VC-06"),
    "geo": Term(ValueForm.POSITION, "VC-07"),
    "title": Term(ValueForm.TEXT, "VC-01"),
    "role": Term(ValueForm.TEXT, "VC-01"),
    "logo": Term(ValueForm.URL, "VC-08"),
    "agent": Term(ValueForm.AGENT, "VC-15"),
    "org": Term(ValueForm.ORGANISATION, "VC-14"),
    "categories": Term(ValueForm.TEXT, "VC-01"),
    "note": Term(ValueForm.TEXT, "VC-01"),
    "rev": Term(ValueForm.MOMENT, "VC-08"),
    "sort-string": Term(ValueForm.TEXT, "VC-01"),
    "sound": Term(ValueForm.URL, "VC-08"),
    "url": Term(ValueForm.URL, "VC-08"),
    "class": Term(ValueForm.WORD, "VC-08", words=_CLASSES),
    "impp": Term(ValueForm.CONTACT_WAY, "VC-05"),
}

# The properties of an event, in the text's order.
EVENT: Final[dict[str, Term]] = {
    "attach": Term(ValueForm.URL, "IC-01"),
    "categories": Term(ValueForm.TEXT, "IC-01"),
    "class": Term(ValueForm.WORD, "IC-05", is_single=True, words=_CLASSES),
    "comment": Term(ValueForm.TEXT, "IC-01"),
    "description": Term(ValueForm.TEXT, "IC-01", is_single=True),
    "geo": Term(ValueForm.POSITION, "IC-01", is_single=True),
    "location": Term(ValueForm.TEXT, "IC-01", is_single=True),
    "resources": Term(ValueForm.TEXT, "IC-01"),
    "status": Term(ValueForm.WORD, "IC-05", is_single=True, words=("tentative", "confirmed", "cancelled")),
    "summary": Term(ValueForm.TEXT, "IC-01", is_single=True),
    "dtend": Term(ValueForm.WHEN, "IC-02", is_single=True),
    "dtstart": Term(ValueForm.WHEN, "IC-02", is_single=True),
    "duration": Term(ValueForm.DURATION, "IC-03", is_single=True),
    "transp": Term(ValueForm.WORD, "IC-05", is_single=True, words=("opaque", "transparent")),
    "contact": Term(ValueForm.TEXT, "IC-01"),
    "url": Term(ValueForm.URL, "IC-01", is_single=True),
    "exdate": Term(ValueForm.WHEN, "IC-04"),
    "exrule": Term(ValueForm.RULE, "IC-04"),
    "rdate": Term(ValueForm.RECURRENCE, "IC-04"),
    "rrule": Term(ValueForm.RULE, "IC-04"),
    "created": Term(ValueForm.MOMENT, "IC-01", is_single=True),
    "last-modified": Term(ValueForm.MOMENT, "IC-01", is_single=True),
    "sequence": Term(ValueForm.REVISION, "IC-01", is_single=True),
}

# Of a name, as vCard orders them (VC-12).
NAME_PARTS: Final = ("family-name", "given-name", "additional-name", "honorific-prefix", "honorific-suffix")

# Parts of an address that may be repeated, as vCard orders them (VC-13).
ADDRESS_LISTS: Final = ("post-office-box", "extended-address", "street-address")

# The parts after them, each of which an address has once.
ADDRESS_PARTS: Final = ("locality", "region", "postal-code", "country-name")

_ADDRESS_TYPES: Final = ("dom", "intl", "postal", "parcel", "home", "work", "pref")
# The type strings of each way to reach a contact (VC-04).
TYPES: Final[dict[str, tuple[str, ...]]] = {
    "adr": _ADDRESS_TYPES,
    "label": _ADDRESS_TYPES,
    "tel": (
        *("home", "msg", "work", "voice", "fax", "cell", "video", "pager", "bbs", "modem", "car", "isdn", "pcs"),
        "pref",
    ),
    "email": ("internet", "x400", "pref"),
    "impp": ("personal", "business", "home", "work", "mobile", "pref"),
}

_TZ = re.compile(r"[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]")
_GEO = re.compile(r"[+-]?[0-9]++(?:\.[0-9]++)?;[+-]?[0-9]++(?:\.[0-9]++)?")
_POLE, _DATE_LINE = 90, 180
# Two decimal numbers; longer texts are no positions.
_LONGEST_POSITION = 40
_WEEK, _DAY, _HOUR, _MINUTE = 604_800, 86_400, 3_600, 60
_DURATION = re.compile(
    r"P(?:(?P<weeks>[0-9]++)W"
    r"|(?=[0-9T])(?:(?P<days>[0-9]++)D)?"
    r"(?:T(?:(?P<hours>[0-9]++)H(?:(?P<minutes>[0-9]++)M(?:(?P<seconds>[0-9]++)S)?)?"
    r"|(?P<only_minutes>[0-9]++)M(?:(?P<their_seconds>[0-9]++)S)?"
    r"|(?P<only_seconds>[0-9]++)S))?)"
)
_UNITS: Final = {
    "weeks": _WEEK,
    "days": _DAY,
    "hours": _HOUR,
    "minutes": _MINUTE,
    "seconds": 1,
    "only_minutes": _MINUTE,
    "their_seconds": 1,
    "only_seconds": 1,
}
# Python refuses to read longer digit strings as numbers, so a longer duration is invalid.
_MOST_DIGITS = 4000


def is_valid_tz(text: str) -> bool:
    """Say whether the text is a time zone of the vocabulary, such as +01:00 (VC-06)."""
    return _TZ.fullmatch(text) is not None


def is_valid_geo(text: str) -> bool:
    """Say whether the text is a position of the vocabulary: latitude and longitude, such as 34.05;-118.4 (VC-07)."""
    return _GEO.fullmatch(text) is not None


def is_on_earth(text: str) -> bool:
    """Say whether the text is a position that programs can show.

    Source  RFC 5545, 3.8.1.6: latitudes to 90 degrees, longitudes to 180
    """
    if len(text) > _LONGEST_POSITION or not is_valid_geo(text):
        return False
    latitude, longitude = map(float, text.split(";"))
    return abs(latitude) <= _POLE and abs(longitude) <= _DATE_LINE


def is_when(text: str) -> bool:
    """Say whether the text is a date, or a date and time with a zone."""
    return is_valid_date(text) or is_valid_global(text)


def parse_duration(text: str) -> int | None:
    """Return the seconds of a duration as the vocabulary writes them; None if it is invalid.

    Source  text 003, valid vevent duration string: P, then weeks, or days and contiguous parts of a time (IC-03)
    """
    match = _DURATION.fullmatch(text) if len(text) <= _MOST_DIGITS else None
    if match is None:
        return None
    return sum(int(match[part]) * unit for part, unit in _UNITS.items() if match[part] is not None)


def is_valid_rdate(text: str) -> bool:
    """Say whether an event may recur then: a date, a moment, or a moment with a later one or a duration (IC-04)."""
    start, mark, end = text.partition("/")
    if not mark:
        return is_when(text)
    if not is_valid_global(start):
        return False
    return parse_duration(end) is not None or (is_valid_global(end) and is_later(end, start))


def is_later(text: str, than: str) -> bool:
    """Compare two dates, or two moments."""
    return _sort_key(text) > _sort_key(than)


def _sort_key(text: str) -> tuple[int, str]:
    # Years have any number of digits, so dates do not sort as texts.
    moment = parse_datetime(text)
    year, _, rest = (text if moment is None else moment.utc).partition("-")
    return int(year[-_MOST_DIGITS:] or 0), rest.rstrip("Z")
