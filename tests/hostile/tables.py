"""All behaviours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile.framing_table import FRAMING
from tests.hostile.interim_table import INTERIM
from tests.hostile.redirect_table import REDIRECTS
from tests.hostile.size_table import SIZES
from tests.hostile.status_table import STATUSES
from tests.hostile.time_table import TIME
from tests.hostile.validator_table import VALIDATORS

if TYPE_CHECKING:
    from tests.hostile.behaviour import Behaviour

BEHAVIOURS: tuple[Behaviour, ...] = (*TIME, *FRAMING, *INTERIM, *REDIRECTS, *STATUSES, *SIZES, *VALIDATORS)
