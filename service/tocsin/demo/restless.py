"""Changes at random, for as long as somebody looks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.demo.pages import SitePage
    from tocsin.demo.site import DemoSite
    from tocsin.ports import Chance

_SHORTEST_REST = timedelta(seconds=1)
_LONGER_REST_S = 4.0
_MOST_DATES = 20
_STILL = frozenset({"/quiet", "/plain"})
_FAILS = "/shop"


class Restless:
    """Lets one page of the site change now and then."""

    def __init__(self, site: DemoSite, chance: Chance) -> None:
        self._pages = [page for path, page in site.pages.items() if path not in _STILL]
        self._chance = chance
        self._next: datetime | None = None

    def act(self, now: datetime) -> None:
        """Change a page if it is time to."""
        if self._next is not None and now < self._next:
            return
        self._next = now + _SHORTEST_REST + timedelta(seconds=_LONGER_REST_S * self._chance.fraction())
        page = self._pages[int(self._chance.fraction() * len(self._pages))]
        if page.path == _FAILS:
            page.failing = not page.failing
        else:
            self._change(page, now)

    def _change(self, page: SitePage, now: datetime) -> None:
        if len(page.major) + len(page.minor) > _MOST_DATES:
            # Authors tidy up; the dates that are left out are a change like another.
            page.major, page.minor = page.major[-1:], []
        kinds = (page.modify, page.date_minor, page.date_minor, page.date_major)
        kinds[int(self._chance.fraction() * len(kinds))](now)
