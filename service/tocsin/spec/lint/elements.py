"""The checker's rules for a document and its elements: XML, bases, languages, ids, references, dates, times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from tocsin.spec.html.content_type import extract_encoding
from tocsin.spec.html.decoding import BOMS, PRESCAN_BYTES, encoding_for, prescan
from tocsin.spec.html.microsyntax import SPACE, is_valid_hash_name, lower_ascii, read_refresh, split_tokens
from tocsin.spec.html.page import Kind, is_encoding_declared
from tocsin.spec.html.positions import FindingLevel, Found, PlacedElement
from tocsin.spec.infrastructure.datetimes import (
    is_living_datetime,
    is_living_moment,
    is_valid_date,
    is_valid_global,
    parse_datetime,
    parse_vague,
    read_http_date,
)
from tocsin.spec.lint.page import MOST_TOKENS, WrittenPage, shown
from tocsin.spec.robots import KNOWN_TERMS, ROBOTS, VALUED_TERMS, name_of
from tocsin.spec.topper.dates import is_token
from tocsin.spec.topper.state import TOPPER_FIELDS

# The checker's rules for meta elements: names and values, robots, refresh pragmas, headers, encodings.


# What meta elements ask of robots.


_TERM = re.compile("[^,]+")
_OPPOSITES = {"index": ("noindex", "none"), "follow": ("nofollow", "none"), "all": ("noindex", "nofollow", "none")}
_UNTIL = "unavailable_after"


def check_robots(page: WrittenPage) -> Iterator[Found]:
    """Judge the terms of the robots meta elements, alone and together (LM-47, LM-49)."""
    terms = [*_find_terms(page)]
    until = False
    for place, term in terms:
        name = name_of(term)
        is_known = name in VALUED_TERMS if ":" in term else name in KNOWN_TERMS
        if not is_known and not (until and term[0].isdecimal()):  # the rest of a date that holds a comma
            message = f"no robot is known to obey {shown(term)}; {_mend(term)}"
            yield Found(place, "LM-49", FindingLevel.WARNING, message)
        until = name == _UNTIL
    said = {term for _, term in terms}
    for place, term in terms:
        against = next((other for other in _OPPOSITES.get(term, ()) if other in said), None)
        if against is not None:
            message = f"{term} contradicts {against}, and the stricter one counts; remove one of them"
            yield Found(place, "LM-49", FindingLevel.WARNING, message)


def _find_terms(page: WrittenPage) -> Iterator[tuple[int, str]]:
    for element in page.named("meta"):
        if lower_ascii(element.get("name") or "") != ROBOTS:
            continue
        content = page.value_at(element, "content")
        for match in islice(_TERM.finditer(content.text), MOST_TOKENS):
            term = match[0].strip(SPACE)
            if term:
                offset = match.start() + len(match[0]) - len(match[0].lstrip(SPACE))
                yield content.at(offset), lower_ascii(term)


def _mend(term: str) -> str:
    if all(part in KNOWN_TERMS for part in term.split()):
        return "write a comma between its terms"
    return "take it out, or write index, noindex, follow, nofollow, all or none"


_NAMING = ("name", "http-equiv", "property", "itemprop", "charset")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_UNQUOTED_REST = re.compile(r"charset[\t\n\f\r ]*=", re.IGNORECASE)


def check_metas(page: WrittenPage) -> Iterator[Found]:
    """Judge each meta element alone, and refresh pragmas together (LM-16, LM-17, LM-19, ENUM-02)."""
    refreshes = 0
    for element in page.named("meta"):
        yield from _check_pair(page, element)
        equiv = element.get("http-equiv")
        if equiv is None:
            continue
        pragma = lower_ascii(equiv.strip(SPACE))
        if equiv != equiv.strip(SPACE):
            message = (
                f"http-equiv {shown(pragma)} has white space around it, so that no reader knows it; take that away"
            )
            yield Found(page.place_in(element, "http-equiv"), "ENUM-02", FindingLevel.ERROR, message)
        elif pragma == "refresh":
            refreshes += _counts(element)
            yield from _check_refresh(page, element, refreshes)
        elif pragma == "expires":
            yield from _check_expires(page, element)


def _check_pair(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    name = lower_ascii(element.get("name") or "")
    if not any(element.get(attribute) for attribute in _NAMING):
        message = "a meta element without a name, http-equiv or charset says nothing; name what its content is"
        yield Found(element.span[0], "LM-16", FindingLevel.WARNING, message)
    elif name and element.get("content") is None and name not in TOPPER_FIELDS:
        message = f"the property {shown(name)} has no value; write it into a content attribute"
        yield Found(page.place_in(element, "name"), "LM-16", FindingLevel.WARNING, message)
    if name == "refresh":
        message = "no program obeys name=refresh; write http-equiv=refresh"
        yield Found(page.place_in(element, "name"), "LM-19", FindingLevel.WARNING, message)


def _counts(element: PlacedElement) -> bool:
    return read_refresh(element.get("content") or "") is not None


def _check_refresh(page: WrittenPage, element: PlacedElement, valid_so_far: int) -> Iterator[Found]:
    content = element.get("content") or ""
    if not _counts(element):
        message = f'{shown(content)} is no refresh; write seconds, and a URL if need be, such as "30; url=next.html"'
        yield Found(page.place_in(element, "content"), "LM-19", FindingLevel.WARNING, message)
    elif valid_so_far > 1:
        message = "only the first refresh of a page counts; remove this one"
        yield Found(element.span[0], "LM-19", FindingLevel.WARNING, message)


def _check_expires(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    content = (element.get("content") or "").strip(SPACE)
    if read_http_date(content) is None:
        message = (
            f"{shown(content)} is no date of HTTP, so the page counts as expired; "
            f'write such as "Tue, 20 Aug 1996 14:25:27 GMT", or leave the element out'
        )
        yield Found(page.place_in(element, "content"), "LM-17", FindingLevel.WARNING, message)


def check_encodings(page: WrittenPage) -> Iterator[Found]:
    """Judge what the page declares its encoding to be (CT-03 to CT-05)."""
    if page.kind is not Kind.HTML:
        return
    declared = 0
    for element in page.named("meta"):
        attribute, label = _declared_label(element)
        if attribute is None:
            continue
        place = page.place_in(element, attribute)
        if label is None:
            message = "the quotation mark behind charset= is not closed, so no encoding is declared; close it"
            yield Found(place, "CT-04", FindingLevel.WARNING, message)
            continue
        declared += 1
        encoding = encoding_for(label)
        if declared > 1:
            message = "only the first declaration of an encoding counts; remove this one"
            yield Found(place, "CT-03", FindingLevel.WARNING, message)
        elif encoding is None:
            message = f'{shown(label)} is the name of no encoding; write "utf-8", and save the page so'
            yield Found(place, "CT-05", FindingLevel.WARNING, message)
        elif _as_declared(encoding) != page.encoding:
            message = (
                f"the page says {encoding}, but is read as {page.encoding}, as {_who_decides(page)} says; "
                f"let both say the same"
            )
            yield Found(place, "CT-05", FindingLevel.WARNING, message)
        elif prescan(page.body) is None:
            message = (
                f"the encoding is declared behind the first {PRESCAN_BYTES} bytes, where not every reader looks; "
                f"let it be the first element of the head"
            )
            yield Found(place, "CT-03", FindingLevel.WARNING, message)
    letter = None if declared else _BEYOND_ASCII.search(page.text)
    if letter is not None and not is_encoding_declared(page.body, page.content_type):
        message = (
            f"no encoding is declared, so this is read as {page.encoding}; "
            f'let <meta charset="utf-8"> be the first element of the head, and save the page so'
        )
        yield Found(letter.start(), "CT-03", FindingLevel.WARNING, message)


def _declared_label(element: PlacedElement) -> tuple[str | None, str | None]:
    """Return the attribute that declares an encoding, and the label in it; no label if its quotation is broken."""
    if (label := element.get("charset")) is not None:
        return "charset", label
    content = element.get("content")
    if content is None or lower_ascii(element.get("http-equiv") or "") != "content-type":
        return None, None
    label = extract_encoding(content)
    if label is None and not _UNQUOTED_REST.search(content):
        return None, None
    return "content", label


def _as_declared(encoding: str) -> str:
    """Return the encoding that a declaration names; a page whose declaration could be read is not in UTF-16."""
    if encoding.startswith("utf-16"):
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _who_decides(page: WrittenPage) -> str:
    if page.body.startswith(tuple(bom for bom, _ in BOMS)):
        return "its byte order mark"
    return "its server" if "charset" in (page.content_type or "").lower() else "an earlier declaration"


# Pages that are served as XML.


def check_xml(page: WrittenPage) -> Iterator[Found]:
    """Judge whether an XHTML page is XML, and HTML at all (CI-09)."""
    if page.kind is not Kind.XHTML:
        return
    if page.places.stop is not None:
        message = f"not well-formed XML: {page.places.stop.message}; mend it, what follows is not looked at"
        yield Found(page.places.stop.place, "CI-09", FindingLevel.ERROR, message)
    elif next(page.named("html"), None) is None:
        message = 'the page has no html element of HTML; write <html xmlns="http://www.w3.org/1999/xhtml">'
        yield Found(0, "CI-09", FindingLevel.ERROR, message)


# What base elements say: only the first one in the head counts, and only for what follows it.


_WITH_URLS = (("a", "href"), ("area", "href"), ("link", "href"), ("img", "src"), ("object", "data"))


def check_bases(page: WrittenPage) -> Iterator[Found]:
    """Judge the places of base elements (URL-07)."""
    in_force = False
    used: str | None = None
    for element in page.places.elements:
        if used is None and any(element.tag == tag and element.get(attribute) for tag, attribute in _WITH_URLS):
            used = element.tag
        if element.tag != "base" or element.get("href") is None:
            continue
        if not element.in_head:
            message = "a base element outside of the head has no effect; move it to the beginning of the head"
        elif in_force:
            message = "only the first base element with a URL counts; remove this one"
        elif used is not None:
            message = f"the base is set after the {used} element, whose URL it changes; put it before all URLs"
        else:
            message = None
        in_force = in_force or element.in_head
        if message is not None:
            yield Found(element.span[0], "URL-07", FindingLevel.WARNING, message)


# The shape of language tags.


_TAG = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})"  # language
    r"(?:-[a-z]{4})?"  # script
    r"(?:-(?:[a-z]{2}|[0-9]{3}))?"  # region
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"  # variants
    r"(?:-[0-9a-wyz](?:-[a-z0-9]{2,8})+)*"  # extensions
    r"(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+"
    r"|i-[a-z]{3,8}|en-gb-oed|sgn-(?:be-(?:fr|nl)|ch-de)|art-lojban|cel-gaulish|no-(?:bok|nyn)|zh-(?:guoyu|hakka|min|min-nan|xiang)"
)
_LONGEST = 100


def is_language_tag(text: str) -> bool:
    """Return whether a text has the shape of a language tag; whether the language exists is not checked.

    Source  BCP 47 (RFC 5646, 2.1).
    """
    return len(text) <= _LONGEST and text.isascii() and _TAG.fullmatch(text.lower()) is not None


def check_languages(page: WrittenPage) -> Iterator[Found]:
    """Judge the languages of elements and of links' targets (LM-26, LK-17)."""
    for element in page.places.elements:
        for attribute in ("lang", "xml:lang"):
            value = element.get(attribute)
            if value and not is_language_tag(value):  # an empty one says that the language is unknown
                yield Found(page.place_in(element, attribute), "LM-26", FindingLevel.WARNING, _message(value))
        value = element.get("hreflang") if element.tag in {"a", "area", "link"} else None
        if value is not None and not is_language_tag(value):
            yield Found(page.place_in(element, "hreflang"), "LK-17", FindingLevel.WARNING, _message(value))
    for element in page.named("meta"):
        if lower_ascii(element.get("http-equiv") or "") == "content-language":
            tags = (tag.strip(SPACE) for tag in (element.get("content") or "").split(","))
            wrong = next((tag for tag in tags if not is_language_tag(tag)), None)
            if wrong is not None:
                yield Found(page.place_in(element, "content"), "LM-26", FindingLevel.WARNING, _message(wrong))


def _message(value: str) -> str:
    mend = value.replace("_", "-")
    example = f'"{mend}"' if mend != value and is_language_tag(mend) else '"en", "en-GB" or "zh-Hans"'
    return f"{shown(value)} is no language tag; write such as {example}"


_PLAIN = re.compile("[A-Za-z][A-Za-z0-9.-]*")
_SPACED = re.compile(f"[{SPACE}]")


def check_names(page: WrittenPage) -> Iterator[Found]:
    """Judge identifiers and the names of anchors (LM-04, LM-05)."""
    identified = [(element, element.values["id"]) for element in page.places.elements if element.values.get("id")]
    named = [(element, element.values["name"]) for element in page.named("a") if element.values.get("name")]
    yield from _find_twins(page, identified, "id")
    yield from _find_twins(page, named, "name")
    yield from _check_shapes(page, identified)


def _find_twins(page: WrittenPage, elements: list[tuple[PlacedElement, str]], attribute: str) -> Iterator[Found]:
    exact: set[str] = set()
    folded: dict[str, str] = {}
    what = "another element has the id" if attribute == "id" else "another anchor has the name"
    for element, value in elements:
        place = page.place_in(element, attribute)
        if value in exact:
            message = f"{what} {shown(value)}, and only the first can be addressed; give this one another"
            yield Found(place, "LM-04", FindingLevel.ERROR, message)
        elif value.lower() in folded:
            other = folded[value.lower()]
            message = f"{what} {shown(other)}, which some readers take for {shown(value)}; give this one another"
            yield Found(place, "LM-04", FindingLevel.WARNING, message)
        exact.add(value)
        folded.setdefault(value.lower(), value)


def _check_shapes(page: WrittenPage, identified: list[tuple[PlacedElement, str]]) -> Iterator[Found]:
    """Report identifiers that no text allows one by one; those that only the oldest forbids together, once a page."""
    odd: list[tuple[PlacedElement, str]] = []
    for element, value in identified:
        if _SPACED.search(value):
            message = f"the id {shown(value)} holds white space, so nothing can refer to it; leave that out"
            yield Found(page.place_in(element, "id"), "LM-05", FindingLevel.WARNING, message)
        elif not _PLAIN.fullmatch(value):
            odd.append((element, value))
    if odd:
        element, value = odd[0]
        others = f" (as are {len(odd) - 1} more)" if len(odd) > 1 else ""
        message = (
            f'the id {shown(value)} is not a letter followed by letters, digits, "-" or "."{others}; '
            f"old readers cannot address it"
        )
        yield Found(page.place_in(element, "id"), "LM-05", FindingLevel.WARNING, message)


def check_references(page: WrittenPage) -> Iterator[Found]:
    """Judge references within the page (LM-03, REF-02)."""
    targets = {element.values["id"] for element in page.places.elements if element.values.get("id")}
    targets |= {element.values["name"] for element in page.named("a") if element.values.get("name")}
    folded = {target.lower(): target for target in targets}
    for element in page.named("a", "area"):
        href = element.values.get("href", "")
        name = href.strip(SPACE)[1:]
        if not href.strip(SPACE).startswith("#") or name in targets or name.lower() not in folded:
            continue
        message = f"the page has no {shown(name)}, only {shown(folded[name.lower()])}; write it alike"
        yield Found(page.place_in(element, "href"), "LM-03", FindingLevel.WARNING, message)
    maps = {element.values["name"] for element in page.named("map") if element.values.get("name")}
    for element in page.named("img", "object"):
        usemap = element.values.get("usemap")
        if usemap is None or is_valid_hash_name(usemap, maps):
            continue
        message = (
            f'{shown(usemap)} is no reference to a map of this page; write "#" and the map\'s name, letter by letter'
        )
        yield Found(page.place_in(element, "usemap"), "REF-02", FindingLevel.ERROR, message)


_NAMES = frozenset({"created", "dc.created", "dcterms.created", "dc.modified", "dcterms.modified"})
_PROPERTIES = frozenset({"article:published_time", "article:modified_time"})


def check_fields(page: WrittenPage) -> Iterator[Found]:
    """Judge the dates among the fields of a page's state; no text requires them to be dates (DT-09)."""
    for element in page.named("meta"):
        content = (element.get("content") or "").strip(SPACE)
        if not content or is_token(content) or is_valid_date(content) or is_valid_global(content):
            continue
        field = _field_of(element)
        if field is None:
            continue
        message = (
            f"{shown(content)} is no date that every reader knows; write {field} such as 2026-11-21 or "
            f"2026-11-21T08:20:00Z"
        )
        yield Found(page.place_in(element, "content"), "DT-09", FindingLevel.WARNING, message)


def check_times(page: WrittenPage) -> Iterator[Found]:
    """Judge the dates and times of time elements (DT-06), and of ins and del elements (DT-02).

    Forms that only today's HTML has are reported together, once a page.
    """
    yield from _told_once("DT-06", _judge_times(page))
    yield from _told_once("DT-02", _judge_changes(page))


def _judge_times(page: WrittenPage) -> Iterator[Found]:
    for element in page.named("time"):
        written = element.get("datetime")
        if written is not None:
            if parse_vague(written, "attribute").valid:
                continue
            place, value = page.place_in(element, "datetime"), written
            is_living = is_living_datetime(written)
        elif element.text is not None:
            if parse_vague(element.text, "content").valid:
                continue
            place, value = element.span[0], element.text.strip()
            is_living = is_living_datetime(value)
        else:
            continue
        if is_living:
            yield Found(
                place, "DT-06", FindingLevel.WARNING, f"{shown(value)} is a form that only readers of today know"
            )
            continue
        mend = "write it" if written is not None else "write a datetime attribute"
        message = f"{shown(value)} is no date or time; {mend} such as 2026-11-21, 08:20 or 2026-11-21T08:20:00Z"
        yield Found(place, "DT-06", FindingLevel.ERROR, message)


def _judge_changes(page: WrittenPage) -> Iterator[Found]:
    for element in page.named("ins", "del"):
        value = element.get("datetime")
        if value is None or is_valid_date(value) or is_valid_global(value) or parse_datetime(value) is not None:
            continue
        place = page.place_in(element, "datetime")
        if is_living_moment(value):
            yield Found(
                place, "DT-02", FindingLevel.WARNING, f"{shown(value)} is a form that only readers of today know"
            )
            continue
        message = f"{shown(value)} is no moment; write such as 2026-11-21 or 2026-11-21T08:20:00Z"
        yield Found(place, "DT-02", FindingLevel.ERROR, message)


def _told_once(rule: str, found: Iterable[Found]) -> Iterator[Found]:
    """Return the errors, and of the warnings the first one, with how many more there are."""
    living: list[Found] = []
    for at in found:
        if at.level is FindingLevel.ERROR:
            yield at
        else:
            living.append(at)
    if living:
        others = f", as are {len(living) - 1} more" if len(living) > 1 else ""
        message = f"{living[0].message}{others}; older ones expect such as 2026-11-21 or 2026-11-21T08:20:00Z"
        yield Found(living[0].place, rule, FindingLevel.WARNING, message)


def _field_of(element: PlacedElement) -> str | None:
    name = lower_ascii(element.get("name") or "")
    if name in _NAMES:
        return name
    return next((word for word in split_tokens(element.get("property") or "") if word in _PROPERTIES), None)
