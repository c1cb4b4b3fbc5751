"""When and how the service dies in each round."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

WINDOWS = (
    "commit", "verdict", "rendering", "delivery", "announce", "slot", "claim", "storm", "telling",
    "sealing", "digest", "digested",
)  # fmt: skip
POINTS = ("inside", "before", "after")
OUTSIDE, STOPPING, ACCEPTED, SERVED = "outside", "stopping", "accepted", "served"

# Statements (and rows) that a transaction of this kind is likely to have, before its COMMIT.
_MOST_STEPS = {
    "commit": 3,
    "verdict": 6,
    "rendering": 12,
    "delivery": 2,
    "announce": 6,
    "slot": 2,
    "claim": 0,
    "storm": 6,
    "telling": 4,
    "sealing": 1,
    "digest": 0,
    "digested": 1,
}
_MOST = {
    "commit": 80,
    "verdict": 15,
    "rendering": 15,
    "delivery": 15,
    "announce": 1,
    "slot": 10,
    "claim": 1,
    "storm": 1,
    "telling": 1,
    "sealing": 2,
    "digest": 2,
    "digested": 2,
}


class Plan(NamedTuple):
    """How one life of the service ends.

    window    a kind of transaction, in which the service ends itself; or, where others end it: `outside` (at a random
              time), `stopping` (while it obeys SIGTERM), `accepted` (a receiver took an alert and has not answered),
              `served` (the site sent a page whole)
    point     of a transaction: `inside` before one of its statements, `before` its COMMIT, `after` it
    nth       the how manieth transaction, alert or page of this kind
    step      statements of the window to let pass, for `inside`
    patience  seconds after which it is killed from outside, whatever it did; from its start, or from its first request
              where it has yet to get to a point of its work
    note      the file in which the service says where it ended
    """

    window: str
    point: str
    nth: int
    step: int
    patience: float
    note: str = ""

    @property
    def is_from_within(self) -> bool:
        """Whether the service ends itself."""
        return self.window in WINDOWS

    @property
    def is_at_work(self) -> bool:
        """Whether it ends at a point of its work."""
        return self.is_from_within or self.window in (ACCEPTED, SERVED)

    @property
    def name(self) -> str:
        """How the table calls it."""
        return f"{self.window} {self.point}".strip()


def all_kinds() -> list[tuple[str, str]]:
    """Every window with each of its points, and the ends from outside."""
    within = [(window, point) for point in POINTS for window in WINDOWS]
    return [*within, (OUTSIDE, ""), (STOPPING, ""), (ACCEPTED, ""), (SERVED, "")]


def plans(chance: Random, rounds: int) -> list[Plan]:
    """Plan the rounds: every kind as often as every other, in an order of chance."""
    kinds: list[tuple[str, str]] = []
    while len(kinds) < rounds:
        fresh = all_kinds()
        chance.shuffle(fresh)
        kinds += fresh
    return [_plan(chance, *kind) for kind in kinds[:rounds]]


def _plan(chance: Random, window: str, point: str) -> Plan:
    patience = 8.0
    if window in (OUTSIDE, STOPPING):
        # Some of them while the service is still starting.
        patience = chance.uniform(0.3, 5.0)
    nth = chance.randint(1, _MOST.get(window, 25))
    return Plan(window, point, nth, chance.randint(0, _MOST_STEPS.get(window, 1)), patience)
