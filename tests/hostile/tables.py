"""All behaviours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile.time_table import TIME

if TYPE_CHECKING:
    from tests.hostile.behaviour import Behaviour

BEHAVIOURS: tuple[Behaviour, ...] = (*TIME,)
