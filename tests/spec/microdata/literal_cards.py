"""The text's own way to a vCard and a calendar (003, both conversions), step by step: what ours must agree with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata, Property, ValueKind

_DATE: Final = r"([0-9]{4,})-([0-9]{2})-([0-9]{2})"
_TIME: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
_ZONE: Final = r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FEBRUARY: Final = 2


def vcard(nodes: Sequence[Item], data: Microdata, around: tuple[Item, ...] = ()) -> str | None:
    """Extract the first vCard; the agent that is one of the cards around it is dropped (C-14)."""
    node = next((node for node in nodes if HCARD in node.types), None)
    if node is None:
        return None
    output = _vcard_line("BEGIN", "VCARD") + _vcard_line("PROFILE", "VCARD") + _vcard_line("VERSION", "3.0")
    output += _vcard_line("SOURCE", _escape(data.address or ""))
    if data.title is not None:
        output += _vcard_line("NAME", _escape(data.title))
    if node.id is not None:
        output += _vcard_line("UID", _escape(node.id))
    for element in node.properties:
        for name in element.names:
            parameters: list[tuple[str, str]] = []
            value = element.value
            if isinstance(value, Item) and name == "agent" and HCARD in value.types:
                if value in (*around, node):
                    continue
                value = _escape(vcard([value], data, (*around, node)) or "")
                parameters.append(("VALUE", "VCARD"))
            elif isinstance(value, Item):
                value = _of_item(name, value, parameters)
            else:
                value = _of_text(name, element.kind, value, parameters)
            output += _vcard_line(name, value, parameters)
    return output + _vcard_line("END", "VCARD")


def _of_item(name: str, subitem: Item, parameters: list[tuple[str, str]]) -> str:
    if name == "n":
        value = _collect_first("family-name", subitem)
        value += ";" + _collect_first("given-name", subitem)
        value += ";" + _collect_first("additional-name", subitem)
        value += ";" + _collect_first("honorific-prefix", subitem)
        value += ";" + _collect_first("honorific-suffix", subitem)
        return value
    if name == "org":
        value = _collect_first("organization-name", subitem)
        for unit in _named("organization-unit", subitem):
            if not isinstance(unit.value, Item):
                value += ";" + _escape(unit.value)
        return value
    if name == "adr":
        value = _collect("post-office-box", subitem)
        value += ";" + _collect("extended-address", subitem)
        value += ";" + _collect("street-address", subitem)
        value += ";" + _collect_first("locality", subitem)
        value += ";" + _collect_first("region", subitem)
        value += ";" + _collect_first("postal-code", subitem)
        value += ";" + _collect_first("country-name", subitem)
    else:
        value = _collect_first("value", subitem)
    types = _named("type", subitem)
    if types and isinstance(types[0].value, str) and re.fullmatch("[0-9A-Za-z]+", types[0].value):
        parameters.append(("TYPE", types[0].value))
    return value


def _of_text(name: str, kind: ValueKind, value: str, parameters: list[tuple[str, str]]) -> str:
    if kind is ValueKind.URL:
        parameters.append(("VALUE", "URI"))
    elif kind is ValueKind.TIME and _is_date(value):
        parameters.append(("VALUE", "DATE"))
    elif kind is ValueKind.TIME and _is_global(value):
        parameters.append(("VALUE", "DATE-TIME"))
    return _escape(value, is_geo=name == "geo")


def icalendar(data: Microdata, product: str, now: str) -> str | None:
    """Extract the vEvents, known to be so at a time that is written as iCalendar writes it."""
    nodes = [node for node in data.all if VEVENT in node.types]
    if not nodes:
        return None
    output = _icalendar_line("BEGIN", "VCALENDAR")
    output += _icalendar_line("PRODID", product)
    output += _icalendar_line("VERSION", "2.0")
    for node in nodes:
        output += _icalendar_line("BEGIN", "VEVENT")
        output += _icalendar_line("DTSTAMP", now, "VALUE=DATE-TIME")
        if node.id is not None:
            output += _icalendar_line("UID", node.id)
        for element in node.properties:
            for name in element.names:
                value = element.value
                if isinstance(value, Item):
                    continue
                if element.kind is not ValueKind.TIME:
                    output += _icalendar_line(name, value)
                elif _is_date(value):
                    output += _icalendar_line(name, re.sub("[-:]", "", value), "VALUE=DATE")
                elif _is_global(value):
                    output += _icalendar_line(name, re.sub("[-:]", "", value), "VALUE=DATE-TIME")
        output += _icalendar_line("END", "VEVENT")
    return output + _icalendar_line("END", "VCALENDAR")


def _vcard_line(type_: str, value: str, parameters: Iterable[tuple[str, str]] = ()) -> str:
    line = _to_upper(type_)
    for name, chosen in parameters:
        line += f";{name}={chosen}"
    return _fold(f"{line}:{value}")


def _icalendar_line(type_: str, value: str, annotation: str | None = None) -> str:
    line = _to_upper(type_)
    if annotation is not None:
        line += f";{annotation}"
    return _fold(f"{line}:{_escape(value)}")


def _fold(line: str) -> str:
    output, longest = "", 75
    while len(line) > longest:
        output += line[:longest]
        line = line[longest:]
        output += "\r\n "
        longest = 74
    return f"{output}{line}\r\n"


def _to_upper(text: str) -> str:
    return "".join(letter.upper() if letter.isascii() else letter for letter in text)


def _escape(value: str, *, is_geo: bool = False) -> str:
    value = value.replace("\\", "\\\\")
    value = value.replace(",", "\\,")
    if not is_geo:
        value = value.replace(";", "\\;")
    value = value.replace("\r\n", "\\n")
    return value.replace("\r", "\\n").replace("\n", "\\n")


def _named(name: str, subitem: Item) -> list[Property]:
    return [each for each in subitem.properties if name in each.names]


def _collect(name: str, subitem: Item) -> str:
    value, is_first = "", True
    for each in _named(name, subitem):
        if isinstance(each.value, Item):
            continue
        if not is_first:
            value += ","
        value += _escape(each.value)
        is_first = False
    return value


def _collect_first(name: str, subitem: Item) -> str:
    found = _named(name, subitem)
    return _escape(found[0].value) if found and isinstance(found[0].value, str) else ""


def _is_date(text: str) -> bool:
    match = re.fullmatch(_DATE, text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    if year < 1 or not 1 <= month <= len(_DAYS):
        return False
    is_leap = month == _FEBRUARY and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _DAYS[month - 1] + is_leap


def _is_global(text: str) -> bool:
    date, mark, rest = text.partition("T")
    return bool(mark) and _is_date(date) and re.fullmatch(_TIME + _ZONE, rest) is not None
