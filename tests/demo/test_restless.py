"""Changes at random."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.fakes import SeededChance
from tocsin.demo.restless import Restless
from tocsin.demo.site import DemoSite

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def said(site: DemoSite) -> list[tuple[int, bool]]:
    return [(page.version, page.failing) for page in site.pages.values()]


async def test_at_most_one_page_changes_at_a_time_and_then_there_is_rest() -> None:
    site = DemoSite(secret="raw:s")
    restless, before = Restless(site, SeededChance()), said(site)

    restless.act(NOW)
    first = said(site)
    restless.act(NOW + timedelta(milliseconds=900))

    assert sum(old != new for old, new in zip(before, first, strict=True)) == 1
    assert said(site) == first


async def test_in_the_long_run_pages_change_fail_come_back_and_stay_small() -> None:
    site = DemoSite(secret="raw:s")
    restless, before = Restless(site, SeededChance()), said(site)
    shop = {site.pages["/shop"].failing}

    for minute in range(1000):
        restless.act(NOW + timedelta(minutes=minute))
        shop.add(site.pages["/shop"].failing)

    changed = [path for path, old, new in zip(site.pages, before, said(site), strict=True) if old[0] != new[0]]
    assert set(site.pages) - set(changed) == {"/quiet", "/plain", "/shop"}
    assert shop == {True, False}
    assert max(len(page.html()) for page in site.pages.values()) < 2000
