"""Settings of pages as somebody filled them in: what is to be set, what inherits again, or what is wrong. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.configuration import parse_page_settings
from tocsin.configuration.convert import NotAllowed, to_json, to_setting
from tocsin.errors import SettingsError
from tocsin.server.web.in_force import FORM_KEYS, LABELS, as_typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import JsonObject

_LONGEST: Final = 4000
_MOST_DIGITS: Final = 18
"""Of an integer of the store."""


class Filled(Struct, frozen=True):
    """A form as it was filled in.

    typed     what stands in each field, to be shown again
    settings  what is set from now on, ready to be stored; `unset` inherits again
    wrong     by field, why it cannot be used; `clashes` is what does not go together
    """

    typed: dict[str, str]
    settings: JsonObject
    unset: tuple[str, ...]
    wrong: dict[str, str]
    clashes: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """All of it can be used."""
        return not self.wrong and not self.clashes

    @property
    def changes(self) -> list[str]:
        """The labels of what it changes."""
        return [LABELS[key] for key in FORM_KEYS if key in self.settings or key in self.unset]


def read_revision(typed: str) -> int:
    """Read what a form stands on; what is made up, or left out, is older than anything."""
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) <= _MOST_DIGITS else -1


def read_settings_form(form: Mapping[str, str], stored: JsonObject) -> Filled:
    """Read a form that has fields for some of FORM_KEYS: an empty one inherits, one that is not there stays as it is.

    stored  what is set at this level now: what is typed as it stands there changes nothing
    """
    before = as_typed(stored)
    typed = {key: form.get(key, before.get(key, "")).strip()[:_LONGEST] for key in FORM_KEYS}
    given = {key: text for key, text in typed.items() if text}
    wrong, values = {}, {}
    for key, text in given.items():
        try:
            values[key] = to_json(("pages", key), to_setting(("pages", key), text, written=True))
        except NotAllowed as exc:
            wrong[key] = f"allowed is {exc}"
    clashes: tuple[str, ...] = ()
    if not wrong:
        try:
            parse_page_settings(given, source="Together")
        except SettingsError as exc:
            clashes = tuple(str(exc).splitlines())
    return Filled(
        typed,
        {key: value for key, value in values.items() if stored.get(key) != value},
        tuple(key for key in before if not typed[key]),
        wrong,
        clashes,
    )
