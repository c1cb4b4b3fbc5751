"""What is written of a page's items as checks and renderings keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from tests.server.diary import QUIET, URL
from tocsin.engine.judging.contents import find_items
from tocsin.server.converting import Done, OfItems, Written, perform, read_wanted

if TYPE_CHECKING:
    from tocsin.model import PageItems

AT = 1_795_000_000_000_000


@pytest.fixture
def none() -> PageItems:
    """What a rendering keeps of a page whose last item has gone, with every mark of it."""
    return replace(find_items(URL, QUIET, "text/html", (), None, AT), first_at=AT)


@pytest.mark.parametrize("form", ["ical", "microdata"])
def test_a_page_whose_last_item_has_gone_is_an_empty_document(none: PageItems, form: str) -> None:
    done = msgspec.msgpack.decode(
        perform(msgspec.msgpack.encode(OfItems(read_wanted(form, None, None), none))), type=Done
    )

    assert isinstance(done, Written)
    assert (done.since, done.empty[:3]) == (AT, "no ")


def test_an_empty_calendar_is_named_though_nothing_was_kept_but_the_title(none: PageItems) -> None:
    work = OfItems(read_wanted("ical", None, None), none, "Harbour, concerts")

    done = msgspec.msgpack.decode(perform(msgspec.msgpack.encode(work)), type=Done)

    assert isinstance(done, Written)
    assert b"\r\nNAME:Harbour\\, concerts\r\nX-WR-CALNAME:Harbour\\, concerts\r\nEND:VCALENDAR\r\n" in done.body
