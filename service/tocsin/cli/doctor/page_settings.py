"""Settings of pages that the store holds and that cannot be used: whose they are, and the command that mends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.cli.doctor.finding import Finding
from tocsin.cli.formatting import count
from tocsin.cli.watch.choosing import batches
from tocsin.configuration import resolve_readable
from tocsin.configuration.pages import mend_of
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from tocsin.configuration.pages import Resolved
    from tocsin.ports import Store
    from tocsin.settings import PageSettings

NAMED: Final = 10
"""Of the pages with such settings of their own at most so many are named."""


async def find_refused(store: Store, base: PageSettings) -> list[Finding]:
    """Find what cannot be used of what is set for all pages, for groups, and for single pages."""
    for_all, groups = await store.overrides()
    findings = _told("All pages are", resolve_readable(base, for_all, {}, None))
    for name, own in groups.values():
        findings += _told(f"The pages of group {name} are", resolve_readable(base, {}, own, None), group=name)
    more = 0
    async for pages in batches(store, PageFilter(with_own=True)):
        for page in pages:
            told = _told(f"{page.url} is", resolve_readable(base, {}, {}, page.settings), url=page.url)
            if len(findings) < NAMED:
                findings += told
            else:
                more += len(told)
    if more:
        what = f"{count(more, 'page')} more are not checked: settings of theirs in the store cannot be used."
        findings.append(Finding(what, "Mend the ones above; these are named then: tocsin doctor"))
    return findings


def _told(whose: str, resolved: Resolved, *, url: str = "", group: str = "") -> list[Finding]:
    refused = resolved.refused
    if not refused:
        return []
    mend = mend_of(refused, url=url, group=group)
    what = f"{whose} not checked: {'; '.join(each.why for each in refused)}."
    return [Finding(what, f"{mend[:1].upper()}{mend[1:]}")]
