"""Pages that stand in for others, written as the products and sites that send them write them."""

from __future__ import annotations

from tests.spec.suspicion.challenge_pages import CHALLENGES
from tests.spec.suspicion.error_pages import BINARY, BLOCKED, EMPTY, ERRORS, MAINTENANCES, MISSING, REDIRECTS
from tests.spec.suspicion.gate_pages import CONSENTS, LOGINS, PARKED

ALL = {
    f"{group}: {name}": page
    for group, pages in (
        ("challenge", CHALLENGES),
        ("login", LOGINS),
        ("consent", CONSENTS),
        ("parked", PARKED),
        ("maintenance", MAINTENANCES),
        ("not-found", MISSING),
        ("redirect", REDIRECTS),
        ("blocked", BLOCKED),
        ("error", ERRORS),
        ("binary", BINARY),
        ("empty", EMPTY),
    )
    for name, page in pages.items()
}
