"""Which mode is in force for each page, as it is set now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.model.records.pages import Modes

if TYPE_CHECKING:
    from tocsin.server.parts import Parts


async def read_modes(parts: Parts) -> Modes:
    """Read what is set for groups and for all pages."""
    return Modes(parts.service.settings().pages.mode, *await parts.store.overrides())
