"""Which mode is in force for a page, as lists show it (T50 to T52)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.model import PageRow
    from tocsin.server.parts import Parts


class Modes:
    """The mode of each page: its own, that of its group, that of all pages, or the configuration's."""

    def __init__(self, everywhere: str, groups: dict[str, str]) -> None:
        self.everywhere, self._groups = everywhere, groups

    def of(self, page: PageRow) -> str:
        """The mode in force for a page."""
        own = page.settings.get("mode")
        return str(own) if own is not None else self._groups.get(page.group, self.everywhere)


async def read_modes(parts: Parts) -> Modes:
    """Read what is set for groups and for all pages."""
    for_all, groups = await parts.store.overrides()
    everywhere = str(for_all.get("mode", parts.service.settings().pages.mode))
    return Modes(everywhere, {name: str(settings["mode"]) for name, settings in groups.values() if "mode" in settings})
