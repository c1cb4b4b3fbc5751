"""Which mode is in force for a page, where that is set, and what follows of it (T50 to T52). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.topper.state import PageState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model.common import JsonObject
    from tocsin.model.watching import PageRow


class Modes:
    """The mode of each page: its own, that of its group, that of all pages, or the configuration's.

    base     of the configuration
    for_all  what is set for all pages; `groups` for each of them, by number: its name, and that
    """

    def __init__(self, base: str, for_all: JsonObject, groups: Mapping[int, tuple[str, JsonObject]]) -> None:
        self._everywhere = (str(for_all["mode"]), "all pages") if "mode" in for_all else (base, "configuration")
        self._groups = {name: (str(own["mode"]), "group") for name, own in groups.values() if "mode" in own}

    def of(self, page: PageRow) -> tuple[str, str]:
        """Give the mode in force for a page, and its origin: page, group, all pages or configuration."""
        own = page.settings.get("mode")
        return (str(own), "page") if own is not None else self._groups.get(page.group, self._everywhere)


def is_subject(page: PageRow, mode: str) -> bool:
    """Say whether a page is now subject to awareness (T50, T51), by the mode in force for it."""
    return mode == "on" or (mode == "auto" and page.fields is not None and PageState(page.fields).is_subject)
