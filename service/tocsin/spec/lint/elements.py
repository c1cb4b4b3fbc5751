"""The checker's rules for a document and its elements: XML, bases, languages, ids, references, dates, times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tocsin.spec.html.microsyntax import SPACE, is_valid_hash_name, lower_ascii, split_tokens
from tocsin.spec.html.page import Kind
from tocsin.spec.html.positions import FindingLevel, Found, PlacedElement
from tocsin.spec.infrastructure.datetimes import (
    is_living_datetime,
    is_living_moment,
    is_valid_date,
    is_valid_global,
    parse_datetime,
    parse_vague,
)
from tocsin.spec.lint.page import WrittenPage, shown
from tocsin.spec.topper.dates import is_token

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
            message = f"the base is set behind the {used} element whose URL it changes; let it stand before all URLs"
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
    """Return whether a text has the shape of a language tag; which languages there are is not asked.

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

    Those in forms of today that the older text does not know are told together, once a page.
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
