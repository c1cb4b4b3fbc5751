"""All behaviours."""

from __future__ import annotations

from tests.hostile.behaviour import Behaviour
from tests.hostile.framing_table import FRAMING
from tests.hostile.interim_table import INTERIM
from tests.hostile.redirect_table import REDIRECTS
from tests.hostile.robots_table import ROBOTS
from tests.hostile.size_table import SIZES
from tests.hostile.status_table import STATUSES
from tests.hostile.text_table import TEXT
from tests.hostile.time_table import TIME
from tests.hostile.tls_table import TLS
from tests.hostile.tree_table import TREES
from tests.hostile.validator_table import VALIDATORS

BEHAVIOURS: tuple[Behaviour, ...] = (
    *TIME,
    *SIZES,
    *FRAMING,
    *INTERIM,
    *REDIRECTS,
    *VALIDATORS,
    *STATUSES,
    *TLS,
    *TEXT,
    *TREES,
    *ROBOTS,
)
