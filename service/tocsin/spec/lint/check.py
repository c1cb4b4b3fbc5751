"""The checker: a page in, all findings for its author out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import nsmallest
from typing import Final, NamedTuple

from tocsin.spec.html.document import to_meta
from tocsin.spec.html.positions import FindingLevel, Found, Lines, PageFinding, PlacedMeta
from tocsin.spec.lint.elements import (
    check_bases,
    check_encodings,
    check_fields,
    check_languages,
    check_metas,
    check_names,
    check_references,
    check_robots,
    check_times,
    check_xml,
)
from tocsin.spec.lint.links import check_links, check_msets, check_relations, check_urls
from tocsin.spec.lint.microdata import check_microdata
from tocsin.spec.lint.page import WrittenPage, open_page
from tocsin.spec.topper.lint import find_topper_faults

# The number of findings of a page that are listed; the others are counted.
MOST_FINDINGS: Final = 1000

_CHECKS: Final[tuple[Callable[[WrittenPage], Iterator[Found]], ...]] = (
    check_xml,
    check_metas,
    check_encodings,
    check_robots,
    check_bases,
    check_names,
    check_references,
    check_links,
    check_relations,
    check_urls,
    check_languages,
    check_msets,
    check_microdata,
    check_fields,
    check_times,
)


def lint(body: bytes, content_type: str | None = None) -> tuple[PageFinding, ...]:
    """Find every rule that a page breaks, in the order of its text; `RULES` tells what they are.

    content_type  the value of the HTTP header, None if there was none
    Returns at most MOST_FINDINGS findings, and then one, of rule CI-08, that says how many more there are.
    Raises TooComplex for a page that is too complex to parse.
    """
    page = open_page(body, content_type)
    if page is None:
        return ()
    # A set: two checks may find the same fault at the same place.
    found = set(_find_all(page))
    lines = Lines(page.text)
    # The first of the page, in its order: a generated page may have a million, and sorting all of them would take
    # seconds.
    first = nsmallest(MOST_FINDINGS, found)
    told = [PageFinding(*lines.position_of(at.place), at.rule, at.level, at.message) for at in first]
    if len(found) > len(first):
        told.append(_more(told, len(found), sum(at.level is FindingLevel.ERROR for at in found)))
    return tuple(told)


def _find_all(page: WrittenPage) -> Iterator[Found]:
    metas = [
        PlacedMeta(to_meta(element.get), element.span, element.spans, in_head=element.in_head)
        for element in page.named("meta")
    ]
    yield from find_topper_faults(page.text, metas)
    for check in _CHECKS:
        yield from check(page)


def _more(told: list[PageFinding], count: int, errors: int) -> PageFinding:
    """Report the number of findings that are not listed, at the place of the last listed one.

    count, errors  of all there are
    """
    untold = errors - sum(finding.level is FindingLevel.ERROR for finding in told)
    level = FindingLevel.ERROR if untold else FindingLevel.WARNING
    message = f"{count - len(told)} more findings, {untold} of them errors, are not shown; mend these, then look again"
    return PageFinding(told[-1].line, told[-1].column, "CI-08", level, message)


# The table of all rules of the checker, for its documentation and for programs that show its findings.


_AWARENESS: Final = "awareness specification, 2.1"
_META: Final = "LINK, META and PROFILE"
_LINKS: Final = "links and link types"
_MICRODATA: Final = "microdata and its vocabularies"
_MSET: Final = "the mset attribute"
_COMMON: Final = "HTML's common infrastructure"


class Rule(NamedTuple):
    """A rule, by the requirement that it checks.

    level    of most of its findings; some may be milder
    promise  what a page does that keeps the rule
    help     why, and how to keep it
    source   the text that asks for it
    """

    level: FindingLevel
    promise: str
    help: str
    source: str


def _error(promise: str, why: str, source: str) -> Rule:
    return Rule(FindingLevel.ERROR, promise, why, source)


def _warning(promise: str, why: str, source: str) -> Rule:
    return Rule(FindingLevel.WARNING, promise, why, source)


# By id, which is that of the requirement.
RULES: Final[dict[str, Rule]] = {
    "T01": _error(
        "A topper element says true, false, or dates.",
        "What else it says tells no reader anything.",
        _AWARENESS,
    ),
    "T05": _error(
        "Dates of topper elements are those of the W3C note on dates and times.",
        "Write 2026, 2026-11, 2026-11-21 or 2026-11-21T08:20Z, down to fractions of a second.",
        _AWARENESS,
    ),
    "T06": _error("A value has each date once.", "Twice counts as once; remove one.", _AWARENESS),
    "T07": _error(
        "A page does not say topper false beside topper true or dates.",
        "Either its author wants readers to be told of changes, or not.",
        _AWARENESS,
    ),
    "T08": _error(
        "topper-major and topper-minor hold dates alone.",
        "true and false belong into a topper element.",
        _AWARENESS,
    ),
    "T10": _warning(
        "The dates of a value are all as fine.",
        "A day beside a month leaves open which of them is later.",
        _AWARENESS,
    ),
    "T11": _warning(
        "The date of a major change is in topper-major alone.",
        "A reader who looks for minor changes would take it for one.",
        _AWARENESS,
    ),
    "T12": _error(
        "A topper element has a value.",
        "Without one it counts as absent.",
        _AWARENESS,
    ),
    "LM-03": _warning(
        "A reference within the page is written as its target is.",
        "Only some readers ignore case when they look for the target.",
        _META,
    ),
    "LM-04": _error(
        "No two elements share an id, no two anchors a name.",
        "A link leads to the first of them. That two differ in case alone is only unwise.",
        _META,
    ),
    "LM-05": _warning(
        'An id is a letter, then letters, digits, "-" or ".".',
        "Readers of today take any text without white space; older ones do not.",
        _META,
    ),
    "LM-16": _warning(
        "A meta element names its property, and says its value.",
        "With one of them missing it says nothing.",
        _META,
    ),
    "LM-17": _warning(
        "Expires holds a date of HTTP.",
        "Anything else says that the page has expired already.",
        _META,
    ),
    "LM-19": _warning(
        "A page has one refresh at most, in http-equiv, with a number of seconds.",
        'Write <meta http-equiv="refresh" content="30; url=next.html">. Further ones are ignored, as is name=refresh.',
        _META,
    ),
    "LM-24": _error("A profile is named by an absolute URL.", "It is compared, never fetched.", _META),
    "LM-25": _warning("A page names one profile.", "Only the first of several counts.", _META),
    "LM-26": _warning(
        "A language is given by its tag.",
        "Write such as en, en-GB or zh-Hans, with hyphens.",
        _META,
    ),
    "LM-49": _warning(
        "Robots are told what they know, and one thing.",
        "Unknown terms are ignored; of contradicting ones the strictest counts.",
        _META,
    ),
    "LK-01": _warning("A link element has rel and href.", "Without one of them it links to nothing.", _LINKS),
    "LK-03": _warning(
        "Only an element with href has a rel.",
        "An a or area element without href is no link.",
        _LINKS,
    ),
    "LK-04": _error(
        "The href of a link is a valid URL, perhaps with white space around it.",
        "Percent-encode characters that a URL must not contain: readers repair them in different ways.",
        _LINKS,
    ),
    "LK-09": _warning("What a link pings is a valid URL.", "Others are skipped.", _LINKS),
    "LK-13": _error("A rel has each link type once, except for up.", "Remove the others.", _LINKS),
    "LK-14": _error(
        "A link type is called by its own name.",
        "Readers know the synonyms, but a page must not use them.",
        _LINKS,
    ),
    "LK-17": _warning(
        "hreflang is a language tag.",
        "Write such as en, en-GB or zh-Hans, with hyphens.",
        _LINKS,
    ),
    "LK-25": _error(
        "The sizes of an icon are WIDTHxHEIGHT or any.",
        "Write such as 16x16, without leading zeros; a capital X is not read by all.",
        _LINKS,
    ),
    "LK-33": _error("An alternate stylesheet has a title.", "It is chosen by that.", _LINKS),
    "LK-40": _error(
        "A link type is known, and is on an element that it is meant for.",
        "An unknown one is only unwise: register it at microformats.org/wiki/existing-rel-values, or use a URL.",
        _LINKS,
    ),
    "LK-42": _error("A link type with a colon is an absolute URL.", "Write the URL that defines it.", _LINKS),
    "LK-44": _warning(
        "Link types are those of today.",
        "HTML has given up first, last, index, up, archives, sidebar and rev; they are still read here.",
        "HTML, link types",
    ),
    "MS-01": _error(
        "mset is on a elements with an href alone.",
        "It says when a link was made, and where copies of its target are.",
        _MSET,
    ),
    "MS-02": _error(
        "Commas separate the candidates of an mset value.",
        "Write %2C for a comma within a URL.",
        _MSET,
    ),
    "MS-03": _error(
        "A candidate is a date of reference or a copy, never both.",
        "The date of a copy follows its URL.",
        _MSET,
    ),
    "MS-04": _warning(
        "A date of reference is a whole date, or a date and time with its zone.",
        "Anything else is read as the URL of a copy.",
        _MSET,
    ),
    "MS-05": _error("A copy is its URL, then a date, then one link type.", "The latter two may be missing.", _MSET),
    "MS-07": _error("The URL of a copy is valid, and leads somewhere.", "Write it whole.", _MSET),
    "MS-08": _warning("The link type of a copy is known.", "Write memento for a copy in an archive.", _MSET),
    "MS-16": _warning("mset is left out where nothing is known.", "An empty one says nothing.", _MSET),
    "MD-01": _error("itemscope is written bare.", "It is true with any value.", _MICRODATA),
    "MD-02": _error("itemtype is on an element with itemscope.", "Alone it says nothing.", _MICRODATA),
    "MD-03": _error(
        "A type is an absolute URL, with nothing around it.",
        "It is compared, letter by letter, never fetched.",
        _MICRODATA,
    ),
    "MD-05": _error(
        "itemid is a valid URL.", "It says what the item is everywhere, not only on this page.", _MICRODATA
    ),
    "MD-06": _error(
        "itemid is on an element with itemscope and an itemtype whose items have identifiers.",
        "Without a type it says nothing; works have none.",
        _MICRODATA,
    ),
    "MD-07": _error(
        "itemref is on an element with itemscope, and names elements of the page.",
        "It adds properties that are elsewhere in the page.",
        _MICRODATA,
    ),
    "MD-08": _error(
        "The name of a property is a word of the item's type, or an absolute URL.",
        "An item without a type has words without points and colons.",
        _MICRODATA,
    ),
    "MD-11": _warning(
        "URLs are in elements with URLs, dates in time elements.",
        "Elsewhere, readers take them for text.",
        _MICRODATA,
    ),
    "MD-12": _warning(
        "No item holds one that holds it.",
        "Let itemref lead one way only: readers leave out what leads back.",
        "HTML, microdata",
    ),
    "MD-13": _error(
        "An item reaches each of its properties once, and never itself.",
        "Let itemref name only elements outside of the item.",
        _MICRODATA,
    ),
    "MD-15": _error(
        "Each property belongs to an item, each item to the page.",
        "What nothing leads to, no reader finds.",
        _MICRODATA,
    ),
    "MD-18": _warning(
        "An item has one type.",
        "Only readers of today know several.",
        "HTML, microdata",
    ),
    "WK-01": _error(
        "A licensed work says what it is, once, and no title but one.",
        "The work and its licences are URLs, its authors texts or contacts.",
        _MICRODATA,
    ),
    "VC-01": _error(
        "A contact has its name once as text (fn) and once in parts (n), and no property but those of the vocabulary.",
        "A vCard without them does not conform: exported ones infer what is missing.",
        _MICRODATA,
    ),
    "VC-02": _error(
        "The parts of a name are texts: family-name, given-name, additional-name, honorific-prefix, honorific-suffix.",
        "Others reach no vCard, and of each the first alone does.",
        _MICRODATA,
    ),
    "VC-03": _error(
        "An address is an item of its parts, with one locality, region, postal-code and country-name.",
        "An address as text is a label.",
        _MICRODATA,
    ),
    "VC-04": _error(
        "Types of addresses, numbers and messengers are those of the vocabulary, each once, one of a kind preferred.",
        "They are written in lower case.",
        _MICRODATA,
    ),
    "VC-05": _error(
        "A label, number, e-mail address or messenger is its value alone, or an item of types and one value.",
        "A messenger is a URL, the others are text.",
        _MICRODATA,
    ),
    "VC-06": _error("The time zone of a contact is an offset.", "Write such as +01:00.", _MICRODATA),
    "VC-07": _error("The position of a contact is latitude and longitude.", "Write such as 34.05;-118.41.", _MICRODATA),
    "VC-08": _error(
        "Of a contact, bday is a date, rev a moment, class one of three words; photo, logo, sound and url are URLs.",
        "Address books leave out what is not.",
        _MICRODATA,
    ),
    "VC-14": _error(
        "An organisation is text, or an item of one organization-name and its units.",
        "They are texts.",
        _MICRODATA,
    ),
    "VC-15": _error("An agent is text, a URL or a contact.", "Another item reaches no vCard.", _MICRODATA),
    "VC-22": _warning(
        "The names of properties are allowed in a vCard or a calendar.",
        "URLs cannot be names there; exports leave such properties out.",
        _MICRODATA,
    ),
    "IC-01": _error(
        "An event starts once, and has its other properties as often, and with such values, as the vocabulary says.",
        "What calendars cannot read is left out of those that are exported.",
        _MICRODATA,
    ),
    "IC-02": _error(
        "An event starts at a date or a moment with its zone, and ends later, at the like, or after a duration.",
        "The end of days is the day behind the last.",
        _MICRODATA,
    ),
    "IC-03": _error("A duration is of weeks, or of days and a time.", "Write such as P2W or P1DT2H30M.", _MICRODATA),
    "IC-04": _error(
        "Events recur by rules of iCalendar, at dates, moments, or spans of time.",
        "Write such as FREQ=WEEKLY;COUNT=10 or 2026-11-21T08:20:00Z/PT1H.",
        _MICRODATA,
    ),
    "IC-05": _error(
        "class, status and transp of an event are words of the vocabulary, in lower case.",
        "Calendars know no others.",
        _MICRODATA,
    ),
    "CT-03": _warning(
        "The encoding is declared once, within the first 1,024 bytes.",
        "Let it be the first element of the head.",
        _COMMON,
    ),
    "CT-04": _warning("The encoding's name is quoted whole, or not at all.", "Close the quotation.", _COMMON),
    "CT-05": _warning(
        "The declared encoding exists, and is the one that the page is in.",
        "The byte order mark and the server's header override the page's own declaration.",
        _COMMON,
    ),
    "CI-09": _error(
        "A page that is served as XML is well-formed.",
        "Readers stop at the first error, or show it instead of the page.",
        _COMMON,
    ),
    "CI-11": _error(
        "media holds media queries.",
        "An invalid one counts as none that ever applies.",
        "Media Queries, as HTML uses them",
    ),
    "DT-02": _error(
        "The datetime of ins and del is a moment, or a date.",
        "Write 2026-11-21 or 2026-11-21T08:20:00Z.",
        _COMMON,
    ),
    "DT-06": _error(
        "A time element gives a date, a time, or both.",
        "Write 2026-11-21, 08:20 or 2026-11-21T08:20:00Z. Forms that HTML added later are told once a page.",
        _COMMON,
    ),
    "DT-09": _warning(
        "The dates that a page declares for its readers are valid.",
        "They are compared as text, but shown to people as dates.",
        _COMMON,
    ),
    "ENUM-02": _error(
        "Where an attribute knows certain words, its value is one of them, with nothing around it.",
        "Others are ignored.",
        _COMMON,
    ),
    "NUM-03": _error("A boolean attribute has no value but its own name.", "Write it bare.", _COMMON),
    "REF-02": _error(
        "usemap is # and the name of a map of the page, letter by letter.",
        "Only some readers ignore case.",
        _COMMON,
    ),
    "TOK-02": _error("A value in which order means nothing has each token once.", "Remove the others.", _COMMON),
    "URL-01": _error("The href of link and base elements is a valid URL.", "See LK-04.", _COMMON),
    "URL-07": _warning(
        "A page has one base element, in its head, before all URLs.",
        "Later ones have no effect. It also changes the URLs before it.",
        _COMMON,
    ),
    "URL-13": _warning("A URL is as its scheme wants it.", "Readers repair it, not all in one way.", _COMMON),
    "CI-08": _error(
        "A page breaks few rules.",
        "Of very many findings only the first are told; this one says how many more there are.",
        _COMMON,
    ),
}

# What of a page is checked; the rest of it is not.
AREAS: Final = (
    "topper elements",
    "meta",
    "base",
    "identifiers",
    "links and link types",
    "mset",
    "microdata",
    "dates and times",
)

# What a conformance checker should look at too, and this one does not (CI-06).
NOT_CHECKED: Final = "the page as scripts would leave it"
