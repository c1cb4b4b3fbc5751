"""One bound for the memory of all bodies in flight, beside the cap of each."""

from __future__ import annotations

from typing import Final

from tocsin.adapters.http.deadlines import InFlight
from tocsin.settings import FetchSettings

LONGEST_BODIES: Final = 16
# The bound is the larger of LONGEST_BODIES of the greatest length and one usual body for each request in flight.
USUAL_BODY_BYTES: Final = 128 * 1024


class BodiesTooLarge(Exception):
    """All bodies together take more than their bound, and this is the longest of them."""


class BodyBudget:
    """Counts the bytes of the bodies that are being received; over the bound it gives up the longest one."""

    # No request waits for room: a server that sends without end would hold the room that others wait for.

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held: dict[InFlight, int] = {}
        self._held_bytes = 0

    def hold(self, watch: InFlight, body_bytes: int) -> None:
        """Note the length of the body of this request so far; raises BodiesTooLarge if this one is given up."""
        self._held_bytes += body_bytes - self._held.get(watch, 0)
        self._held[watch] = body_bytes
        if self._held_bytes > self._most_bytes:
            count, longest = len(self._held), max(self._held, key=self._held.__getitem__)
            self.release(longest)
            no_room = BodiesTooLarge(
                f"the longest of {count} answers in flight that took more than {self._most_bytes} bytes together; "
                "lower fetch.in_flight or fetch.max_body"
            )
            if longest is watch:
                # A task that cancels itself continues until its next await, which may belong to its next request.
                raise no_room
            longest.interrupt(no_room)

    def has_room(self, body_bytes: int) -> bool:
        """Tell whether a body of this length fits beside those that are held."""
        return self._held_bytes + body_bytes <= self._most_bytes

    def release(self, watch: InFlight) -> None:
        """Forget the body of this request, if it has one."""
        self._held_bytes -= self._held.pop(watch, 0)

    @property
    def held_bytes(self) -> int:
        """The length of all bodies in flight so far."""
        return self._held_bytes


def room_for_bodies(settings: FetchSettings, *, fetchers: int = 1) -> int:
    """Give the bound in bytes that the settings imply for each fetcher; at least one body of the greatest length."""
    together = max(LONGEST_BODIES * settings.max_body, USUAL_BODY_BYTES * settings.in_flight)
    return max(together // fetchers, settings.max_body)
