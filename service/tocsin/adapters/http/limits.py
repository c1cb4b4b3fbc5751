"""What connections that nobody uses may keep, whoever has opened them."""

from __future__ import annotations

KEPT_IDLE_S = 15.0
MOST_IDLE_BYTES = 64 * 2**20
