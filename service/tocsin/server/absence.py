"""Why nothing is known of a page's items, or of how they changed, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.model import to_rfc3339

if TYPE_CHECKING:
    from tocsin.model import PageItems, PageRow


def why_no_items(page: PageRow, *, is_read: bool, keeps: bool) -> str:
    """Say why no items are kept of a page.

    is_read  it was read, and had none
    keeps    the service keeps items
    """
    if page.noindex:
        return "the page asks not to be indexed (noindex): none of its data is kept or given away"
    if not keeps:
        return "the service keeps none (items.keep = false); they can be had of the page as it is"
    if page.not_html:
        return "the page was neither HTML nor XHTML when it was read last"
    if is_read:
        return "the page has none"
    if page.last_received_at is None:
        return "the page was not received yet"
    asks = "the page asks that no copy is kept (noarchive), or none was read yet: that is done when it changes next"
    return f"{asks}; they can be had of the page as it is"


def why_no_changes(page: PageRow, kept: PageItems | None, *, keeps: bool) -> str:
    """Say why no change of a page's items is known.

    kept   what they are compared with
    keeps  the service keeps items
    """
    if kept is None or not kept.count:
        return why_no_items(page, is_read=kept is not None, keeps=keeps)
    if not keeps:
        return "the service keeps no items any more (items.keep = false), so that nothing can be compared"
    return f"the page's items are as they were read first, at {to_rfc3339(kept.first_at)}"
