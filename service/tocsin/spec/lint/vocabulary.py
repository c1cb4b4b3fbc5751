"""What is wrong with contacts and events, by the tables of their vocabularies (text 003)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple

from tocsin.spec.html.microsyntax import is_valid_nonneg
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.formats.content_lines import read_rule
from tocsin.spec.microdata.values import HCARD, Item, Property, ValueKind
from tocsin.spec.microdata.vocabulary import (
    ADDRESS_LISTS,
    ADDRESS_PARTS,
    CONTACT,
    EVENT,
    NAME_PARTS,
    TYPES,
    Term,
    ValueForm,
    is_later,
    is_valid_geo,
    is_valid_rdate,
    is_valid_tz,
    is_when,
    parse_duration,
)

# A message lists the known names only up to here.
_MOST_NAMES: Final = 8
_NO_CONTACT: Final = "is a name that no vCard can hold; an exported one is without it"
_NO_EVENT: Final = "is a name that no calendar can hold; an exported one is without it"
_DATES: Final = "write such as 2026-11-21 or 2026-11-21T08:20:00Z"
_WHEN: Final = f"is neither a date nor a date and time with a zone; {_DATES}"


class Fault(NamedTuple):
    """A rule of a vocabulary that an item breaks.

    at       the item or property that is to be mended
    rule     the requirement
    value    what is wrong there, as the page has it; None if `problem` is a sentence by itself
    problem  in words: what is wrong, and the mend
    """

    at: Item | Property
    rule: str
    value: str | None
    problem: str


def find_card_faults(card: Item) -> Iterator[Fault]:
    """Find what an author must mend in a contact (VC-01 to VC-08, VC-14, VC-15), and what no vCard can say (VC-22)."""
    for name in ("fn", "n"):
        if not card.named(name):
            problem = f"{name} missing: no vCard of this contact conforms; write an element with itemprop={name}"
            yield Fault(card, "VC-01", None, problem)
    yield from _find_repeated(card, {name: term.rule for name, term in CONTACT.items() if term.is_single}, "a contact")
    yield from _find_term_faults(card, CONTACT, "VC-01", "a contact", _NO_CONTACT)
    for way in TYPES:
        yield from _find_several_preferred(card, way)


def find_event_faults(event: Item) -> Iterator[Fault]:
    """Find what an author must mend in an event (IC-01 to IC-05), and what no calendar can say (VC-22)."""
    if not event.named("dtstart"):
        problem = (
            "dtstart missing: no calendar can show this event, and an exported one leaves it out; "
            'write a time element with itemprop="dtstart"'
        )
        yield Fault(event, "IC-01", None, problem)
    yield from _find_repeated(event, {name: "IC-01" for name, term in EVENT.items() if term.is_single}, "an event")
    yield from _find_term_faults(event, EVENT, "IC-01", "an event", _NO_EVENT)
    yield from _find_wrong_end(event)


def _find_term_faults(item: Item, terms: Mapping[str, Term], rule: str, what: str, unwritable: str) -> Iterator[Fault]:
    """Judge each property of an item by its vocabulary."""
    yield from _find_unknown(item, terms, rule, what)
    for each in item.properties:
        for name in each.names:
            if name in terms:
                yield from _find_value_faults(each, name, terms[name])
            elif ":" in name:
                yield Fault(each, "VC-22", name, unwritable)


def _find_repeated(item: Item, rules: Mapping[str, str], what: str) -> Iterator[Fault]:
    """Find properties that an item may have only once; `rules` gives the requirement for each of their names."""
    known: set[str] = set()
    for each in item.properties:
        for name in each.names:
            if name in known and name in rules:
                yield Fault(each, rules[name], None, f"{what} has one {name} at most; leave the others out")
            known.add(name)


def _find_unknown(item: Item, names: Collection[str], rule: str, what: str) -> Iterator[Fault]:
    for each in item.properties:
        for name in each.names:
            # A URL as a name is the author's own vocabulary.
            if name not in names and ":" not in name:
                known = f"one of: {', '.join(names)}" if len(names) <= _MOST_NAMES else "one that is"
                yield Fault(each, rule, name, f"is no property of {what}; write {known}; or a URL of your own")


def _find_value_faults(each: Property, name: str, term: Term) -> Iterator[Fault]:
    if term.form in _TEXT_FORMS:
        is_valid, problem = _TEXT_FORMS[term.form]
        problem = _PROBLEMS.get((name, term.form), problem)
        if not _is_text(each) or not is_valid(each.text or ""):
            yield Fault(each, term.rule, each.text or "", problem)
    elif term.form is ValueForm.WORD:
        if not _is_text(each) or each.text not in term.words:
            yield Fault(each, term.rule, each.text or "", f"is no {name}; write one of: {', '.join(term.words)}")
    elif term.form is ValueForm.URL:
        if not _is_url(each):
            yield Fault(each, term.rule, each.text or "", f"is no absolute URL; write the {name} into an href or src")
    else:
        yield from _OTHER_FORMS[term.form](each, name, term.rule)


def _find_text_faults(each: Property, name: str, rule: str) -> Iterator[Fault]:
    if each.item is not None:
        yield Fault(each, rule, None, f"{name} is text, and this is an item; take itemscope away")
    elif not _is_text(each):
        problem = (
            f'{name} is text, but this element\'s value is its link; put itemprop="{name}" on a span within instead'
        )
        yield Fault(each, rule, None, problem)


def _find_name_faults(each: Property, _: str, rule: str) -> Iterator[Fault]:
    if each.item is None:
        problem = (
            f"n is an item of the parts of a name; write itemscope, and within it such as itemprop={NAME_PARTS[0]}"
        )
        yield Fault(each, rule, None, problem)
        return
    yield from _find_part_faults(each.item, NAME_PARTS, "VC-02", "a name")


def _find_address_faults(each: Property, name: str, rule: str) -> Iterator[Fault]:
    if each.item is None:
        problem = "adr is an item of the parts of an address; write itemscope, or itemprop=label for an address as text"
        yield Fault(each, rule, None, problem)
        return
    yield from _find_repeated(each.item, dict.fromkeys(ADDRESS_PARTS, rule), "an address")
    yield from _find_part_faults(each.item, ("type", *ADDRESS_LISTS, *ADDRESS_PARTS), rule, "an address")
    yield from _find_type_faults(each.item, name)


def _find_organisation_faults(each: Property, name: str, rule: str) -> Iterator[Fault]:
    if each.item is None:
        yield from _find_text_faults(each, name, rule)
        return
    count = len(each.item.named("organization-name"))
    if count != 1:
        problem = f"org as an item has one organization-name, and this has {count}; write one"
        yield Fault(each, rule, None, problem)
    yield from _find_part_faults(each.item, ("organization-name", "organization-unit"), rule, "an organisation")


def _find_part_faults(item: Item, names: Collection[str], rule: str, what: str) -> Iterator[Fault]:
    """Judge an item whose parts are all texts."""
    yield from _find_unknown(item, names, rule, what)
    for part in item.properties:
        for name in part.names:
            if name in names:
                yield from _find_text_faults(part, name, rule)


def _find_way_faults(each: Property, way: str, rule: str) -> Iterator[Fault]:
    """Judge a phone number, email address, label or chat address: its value alone, or an item with types (VC-05)."""
    if each.item is None:
        yield from _find_way_value_faults(each, way, way, rule)
        return
    values = each.item.named("value")
    if len(values) != 1:
        yield Fault(each, rule, None, f"{way} as an item has one value, and this has {len(values)}; write one")
    yield from _find_unknown(each.item, ("type", "value"), rule, f"an item of {way}")
    for value in values:
        yield from _find_way_value_faults(value, way, "value", rule)
    yield from _find_type_faults(each.item, way)


def _find_way_value_faults(each: Property, way: str, name: str, rule: str) -> Iterator[Fault]:
    if way != "impp":
        yield from _find_text_faults(each, name, rule)
    elif not _is_url(each):
        yield Fault(each, rule, each.text, "is no absolute URL; write such as xmpp:ann@chat.example into an href")


def _find_type_faults(item: Item, way: str) -> Iterator[Fault]:
    known: set[str] = set()
    for each in item.named("type"):
        text = each.text
        if text not in TYPES[way]:
            problem = f"is no type of {way}; write one of: {', '.join(TYPES[way])}; in lower case"
            yield Fault(each, "VC-04", text or "", problem)
        elif text in known:
            yield Fault(each, "VC-04", text, "is here twice; remove one")
        known.add(text or "")


def _find_several_preferred(card: Item, way: str) -> Iterator[Fault]:
    preferred = [
        each
        for each in card.named(way)
        if each.item is not None and any(one.text == "pref" for one in each.item.named("type"))
    ]
    for each in preferred[1:]:
        yield Fault(each, "VC-04", None, f"a contact prefers one {way}; leave the type pref of the others out")


def _find_agent_faults(each: Property, _: str, rule: str) -> Iterator[Fault]:
    if each.item is not None and HCARD not in each.item.types:
        problem = f"an agent is text, a URL or a contact; write itemtype={HCARD}"
        yield Fault(each, rule, None, problem)
    elif each.item is None and not _is_text(each) and not _is_url(each):
        yield Fault(each, rule, each.text, "is no absolute URL; write one, or the agent's name as text")


def _find_wrong_end(event: Item) -> Iterator[Fault]:
    start = next((each.text for each in event.named("dtstart") if each.text is not None), None)
    for each in event.named("dtend"):
        if event.named("duration"):
            yield Fault(each, "IC-02", None, "an event ends then, or takes so long; leave dtend or duration out")
        end = each.text
        if start is None or end is None or not is_when(start) or not is_when(end):
            continue
        if is_valid_date(start) is not is_valid_date(end):
            problem = f"is not as fine as its dtstart; write {'a date' if is_valid_date(start) else 'date and time'}"
            yield Fault(each, "IC-02", end, problem)
        elif not is_later(end, start):
            problem = "is not later than its dtstart; of days, write the one behind the last"
            yield Fault(each, "IC-02", end, problem)


def _is_text(each: Property) -> bool:
    """Return whether the value is a text: neither an item nor a URL."""
    return each.kind in {ValueKind.TEXT, ValueKind.TIME}


def _is_url(each: Property) -> bool:
    return each.text is not None and is_absolute_url(each.text)


# Which texts are values of a form, and the mend of others.
_TEXT_FORMS: Final[dict[ValueForm, tuple[Callable[[str], bool], str]]] = {
    ValueForm.DATE: (is_valid_date, "is no date; write such as 1970-01-31"),
    ValueForm.MOMENT: (is_valid_global, "is no date and time with a zone; write such as 2026-11-21T08:20:00Z"),
    ValueForm.WHEN: (is_when, _WHEN),
    ValueForm.RECURRENCE: (
        is_valid_rdate,
        f"is no date on which an event may recur; {_DATES}, or a period such as 2026-11-21T08:20:00Z/PT1H",
    ),
    ValueForm.RULE: (
        lambda text: read_rule(text) is not None,
        "is no rule of iCalendar; write such as FREQ=WEEKLY;COUNT=10",
    ),
    ValueForm.DURATION: (
        lambda text: parse_duration(text) is not None,
        "is no duration; write such as P2W, P1D, PT1H30M or P1DT2H",
    ),
    ValueForm.POSITION: (is_valid_geo, "is no position; write latitude and longitude, such as 34.052339;-118.410623"),
    ValueForm.ZONE: (is_valid_tz, "is no time zone; write such as +01:00"),
    ValueForm.REVISION: (is_valid_nonneg, "is no number of a revision; write digits alone"),
}
_PROBLEMS: Final = {("exdate", ValueForm.WHEN): f"is no date on which an event may be left out; {_DATES}"}
_OTHER_FORMS: Final[dict[ValueForm, Callable[[Property, str, str], Iterator[Fault]]]] = {
    ValueForm.TEXT: _find_text_faults,
    ValueForm.NAME: _find_name_faults,
    ValueForm.ADDRESS: _find_address_faults,
    ValueForm.CONTACT_WAY: _find_way_faults,
    ValueForm.ORGANISATION: _find_organisation_faults,
    ValueForm.AGENT: _find_agent_faults,
}
