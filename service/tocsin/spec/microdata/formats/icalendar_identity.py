"""What an exported event is known by, so that programs tell an event that was put off from another one (IC-13)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

if TYPE_CHECKING:
    from tocsin.spec.microdata.formats.times import When

_LONGEST: Final = 1000


class Known(NamedTuple):
    """What there is to know an event by.

    start  when it is
    own    the identifier that its page gives it, or ""
    key    without one, what makes it that event and no other, as far as the page tells; not its date
    """

    start: When
    own: str
    key: str

    @property
    def name(self) -> str:
        """What an identifier is made of."""
        return self.own or self.key


class Identifiers:
    """Gives each event of a page an identifier: its own, or one that is the same on every run.

    An event whose name no other one has keeps it when it is put off. Those of one name that begin at several times are
    told apart by these, so that where one of them goes or comes the others stay the same; by number only those that
    begin at the same time.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address or ""
        self._starts: defaultdict[str, set[str]] = defaultdict(set)
        self._made: Counter[str] = Counter()
        self._given: set[str] = set()

    def meet(self, event: Known) -> None:
        """Notice an event, before any is given its identifier."""
        self._starts[event.name].add(event.start.basic)

    def give(self, event: Known) -> str:
        """Give an identifier that no other event has had; those are asked for in the order of the page."""
        uid = event.own
        while not uid or len(uid) > _LONGEST or uid in self._given:
            uid = self._make(event)
        self._given.add(uid)
        return uid

    def _make(self, event: Known) -> str:
        several = f"\n{event.start.basic}" if len(self._starts[event.name]) > 1 else ""
        known = f"{self._address}\n{event.name}{several}"
        self._made[known] += 1
        known = f"{known}\n{self._made[known]}"
        return str(uuid5(NAMESPACE_URL, known.encode("utf-8", "replace").decode()))
