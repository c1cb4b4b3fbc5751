"""The mode of each page: its own, its group's, or that of all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.model.records.pages import Modes

if TYPE_CHECKING:
    from tocsin.server.parts import Parts


async def read_modes(parts: Parts) -> Modes:
    """Read the modes set for groups and for all pages."""
    return Modes(parts.service.settings().pages.mode, *await parts.store.overrides())
