"""What today's address books need of a vCard beyond what text 003 says: RFC 2426 kept, and a name in every card."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from tocsin.spec.infrastructure.datetimes import is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.formats.content_lines import clean, each_line, escape, fold_octets, is_name, is_passed_on
from tocsin.spec.microdata.formats.vcard_text import Cards
from tocsin.spec.microdata.formats.written_times import normalise
from tocsin.spec.microdata.hcard import NAME_PARTS, is_on_earth, is_valid_tz
from tocsin.spec.microdata.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.microdata.formats.content_lines import Sheet
    from tocsin.spec.microdata.values import Item, Property

_OURS: Final = frozenset({"BEGIN", "END", "PROFILE", "VERSION", "SOURCE", "NAME", "PRODID"})
"""What the card says of itself; a page that could say it too could end the card, or begin another."""
_ONCE: Final = frozenset({"UID", "FN", "N", "BDAY", "REV", "CLASS", "MAILER", "TZ", "GEO", "SORT-STRING"})
_MEDIA: Final = frozenset({"PHOTO", "LOGO", "SOUND", "KEY"})
"""Whose values are URLs, also of the data themselves."""
_REFERENCES: Final = _MEDIA | {"URL"}
_URI: Final = ("VALUE", "URI")
_DATA = re.compile("data:", re.IGNORECASE)
_SCHEMES: Final = {"EMAIL": "mailto:", "TEL": "tel:"}
_NOBODY: Final = "Unknown"
_LONGEST: Final = 1000
"""So much of a text can be somebody's name."""
_INITIAL = re.compile(r"\w\.?")


class ExportedCards(Cards):
    """Writes the cards of one page as today's readers take them."""

    @staticmethod
    def fold(line: str) -> str:
        """Break a long line."""
        return fold_octets(line)

    def _write_body(self, card: Item, sheet: Sheet) -> None:
        told = self._write_head(card, sheet)
        for name, each in each_line(card, self._budget):
            upper = name.upper()
            if not is_name(name) or upper in _OURS or upper in told:
                continue
            if upper == "FN" and each.kind is Kind.URL:
                continue  # a link is nobody's name, unless there is none: below
            written = self._write_value(name, each)
            if written is None or not written[0].strip(";"):
                self._budget.spend(len(each.text or ""))
                self.unfit[upper] += written is None and each.text != ""
                continue
            if upper in _ONCE:
                told.add(upper)
            sheet.add(name, *written)
        # Both are demanded by RFC 2426, 3.1; vobject refuses a card without FN, others show it without any name.
        if "FN" not in told:
            sheet.demand("FN", escape(self._infer_formatted(card)))
        if "N" not in told:
            sheet.demand("N", self._infer_name(card))

    def _write_head(self, card: Item, sheet: Sheet) -> set[str]:
        """Write whence the card is, and its identifier; give the names that stand for good."""
        source, title, identifier = (clean(text or "") for text in (self._data.address, self._data.title, card.id))
        for name, text in (("SOURCE", source if is_passed_on(source) else ""), ("NAME", title), ("UID", identifier)):
            if text:
                sheet.add(name, escape(text))
        return {"UID"} if identifier else set()

    def _write_value(self, name: str, each: Property) -> tuple[str, list[tuple[str, str]]] | None:
        upper = name.upper()
        if each.item is not None and upper in {"N", "ADR", "ORG", "AGENT"}:
            return super()._write_value(name.lower(), each)
        if each.item is None:
            text, parameters = clean(each.text or ""), self._describe(each, each.text or "")
        else:
            text, parameters = self._first_text(each.item, "value") or "", self._type_of(each.item)
        return self._write_text(upper, text, parameters)

    def _write_text(
        self, name: str, text: str, parameters: list[tuple[str, str]]
    ) -> tuple[str, list[tuple[str, str]]] | None:
        """Write a plain text as RFC 2426 wants the value of this name; None where it allows none such."""
        if (address := _read_address(name, text)) is not None:
            text, parameters = address, [pair for pair in parameters if pair != _URI]
        elif name in {"BDAY", "REV"}:
            return _write_time(text)
        elif name == "GEO":
            return (text, []) if is_on_earth(text) else None
        elif name == "TZ" and not is_valid_tz(text):
            parameters = [("VALUE", "TEXT")]
        elif name == "N":
            return _split_name(text, None), []
        elif name == "ADR":
            return f";;{escape(text)};;;;", []
        elif name in _REFERENCES or _URI in parameters:
            if not is_passed_on(text) and not (name in _MEDIA and _DATA.match(text)):
                return None
            parameters = [_URI, *(pair for pair in parameters if pair != _URI)]
        elif name == "AGENT" and not parameters:
            parameters = [("VALUE", "TEXT")]
        return escape(text), parameters

    def _first_text(self, item: Item, name: str) -> str | None:
        text = super()._first_text(item, name)
        return None if text is None else clean(text)

    def _each_text(self, item: Item, name: str) -> Iterator[str]:
        return filter(None, map(clean, super()._each_text(item, name)))

    def _infer_formatted(self, card: Item) -> str:
        """Say what to call somebody whose page does not: by the parts of the name, the organisation, or else.

        Who is not called anything is called as their name's link is, or as the page: programs refuse a card without FN,
        or show an empty line.
        """
        for each in self._named(card, "n"):
            text = self._in_words(each.item) if each.item is not None else self._plain(each, "n")
            if text:
                return text
        for name in ("org", "nickname", "email", "tel", "role", "title"):
            for each in self._named(card, name):
                if text := self._plain(each, name):
                    return text
        links = (clean((each.text or "")[:_LONGEST]) for each in self._named(card, "fn"))
        for link in filter(is_passed_on, links):
            bare = (_read_address(name, link) for name in _SCHEMES)
            if text := next((one for one in bare if one is not None), link):
                return text
        return clean((self._data.title or "")[:_LONGEST]) or _NOBODY

    def _infer_name(self, card: Item) -> str:
        """Take the name apart that somebody is called by (VC-21)."""
        organisation, formatted = (
            next(filter(None, (self._plain(each, name) for each in self._named(card, name))), None)
            for name in ("org", "fn")
        )
        return _split_name(formatted or organisation or "", organisation)

    def _plain(self, each: Property, name: str) -> str:
        """Give a property's text, or what stands for it in an item; of a link the address or number, if it is one."""
        item = each.item
        if item is None:
            text = each.text or ""
        else:
            text = self._first_text(item, "organization-name") or self._first_text(item, "value") or ""
        text = clean(text[:_LONGEST])
        if (address := _read_address(name.upper(), text)) is not None:
            return address
        if not is_absolute_url(text):
            return text
        kinds = (one.kind for one in ((each,) if item is None else item.properties))
        return "" if Kind.URL in kinds else text

    def _in_words(self, name: Item) -> str:
        family, given, additional, prefix, suffix = (
            (self._first_text(name, part) or "")[:_LONGEST] for part in NAME_PARTS
        )
        return " ".join(filter(None, (prefix, given, additional, family, suffix)))


def _read_address(name: str, text: str) -> str | None:
    """Take the address out of a mailto:, or the number out of a tel:; None where the text is neither of this name."""
    scheme = _SCHEMES.get(name)
    if scheme is None or text[: len(scheme)].lower() != scheme:
        return None
    return clean(unquote(text[len(scheme) :].partition("?")[0]))


def _split_name(formatted: str, organisation: str | None) -> str:
    """Write a name as its parts: an organisation's as a whole, two words as the vocabulary's later drafts do.

    Source  VC-21: "Ann Lee", "Lee, Ann" and "Lee A." are all of the family Lee; between the first and the last of more
            words stand additional names, behind a comma later on what honours them
    """
    words = formatted.split()
    if formatted == organisation or len(words) < 2:  # noqa: PLR2004 - one word tells no parts
        return _join_parts([formatted])
    if words[0].endswith(",") and words[0] != ",":
        return _join_parts([words[0][:-1]], words[1:2], words[2:])
    end = next((at for at, word in enumerate(words, 1) if word.endswith(",")), len(words))
    suffix = words[end:]
    words = [*words[: end - 1], words[end - 1].removesuffix(",")]
    if len(words) == 2 and _INITIAL.fullmatch(words[1]):  # noqa: PLR2004 - a family name and an initial
        return _join_parts(words[:1], words[1:], [], suffix)
    return _join_parts(words[-1:], words[:1], words[1:-1], suffix)


def _join_parts(
    family: list[str], given: Sequence[str] = (), additional: Sequence[str] = (), suffix: Sequence[str] = ()
) -> str:
    return ";".join(escape(" ".join(part)) for part in (family, given, additional, (), suffix))


def _write_time(text: str) -> tuple[str, list[tuple[str, str]]] | None:
    """Write a date, or a moment to the second, in a year of four digits (RFC 2426); None for what is neither."""
    written = normalise(text)
    if written is None or "T" not in written:
        return None if written is None else (written, [("VALUE", "DATE")])
    return (written, [("VALUE", "DATE-TIME")]) if is_valid_global(written) else None
