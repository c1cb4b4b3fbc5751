"""What the demo's pages say, and how they change."""

from __future__ import annotations

from datetime import UTC, datetime

from tocsin.demo.pages import SitePage, first_pages
from tocsin.spec.html.page import read_page
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.topper.state import PageState, read_state

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def state_of(page: SitePage) -> PageState:
    return read_state(read_page(page.html().encode(), "text/html").metas)


def event_of(page: SitePage) -> dict[str, str | None]:
    (event,) = read_items(page.html().encode(), "text/html", address="http://e.example/").items
    return {each.names[0]: each.text for each in event.properties}


def test_a_page_declares_what_its_author_wrote() -> None:
    page = SitePage("/a", 0, 'A "title" & more', refresh=5)

    page.date_major(NOW)
    page.date_minor(NOW)
    page.modify(NOW)

    state = state_of(page)
    assert state["topper-major"] == "2026-11-21T09:30:00Z"
    assert state["article:modified_time"] == "2026-11-21T09:30:00Z"
    assert state["refresh"] == "5"


def test_T06_no_date_stands_twice_on_a_page() -> None:
    page = SitePage("/a", 0, "A")

    for _ in range(3):
        page.date_minor(NOW)
    page.date_major(NOW)

    assert len({*page.minor, *page.major}) == 4


def test_each_change_is_another_version() -> None:
    page = SitePage("/a", 0, "A")
    etags = {page.etag}

    for change in (page.date_minor, page.date_major, page.modify):
        change(NOW)
        etags.add(page.etag)

    assert len(etags) == 4


def test_a_major_change_puts_off_the_event_that_a_page_announces() -> None:
    (news,) = [page for page in first_pages(NOW) if page.path == "/news"]
    before = event_of(news)

    news.date_minor(NOW)
    between = event_of(news)
    news.date_major(NOW)

    assert before == between == {"summary": "Harbour concert", "dtstart": "2027-05-05", "location": "the old pier"}
    assert event_of(news) == {**before, "dtstart": "2027-05-06"}


def test_one_page_of_the_site_declares_nothing() -> None:
    silent = [page.path for page in first_pages(NOW) if not state_of(page).declares]

    assert silent == ["/plain"]


def test_a_login_form_stands_in_the_place_of_a_page_for_a_while() -> None:
    page = SitePage("/plain", 0, "Declares nothing")
    before = (page.html(), page.etag)

    page.lock(locked=True)
    between = (page.html(), page.etag)
    page.lock(locked=False)

    assert 'type="password"' in between[0]
    assert between[1] != before[1]
    assert (page.html(), page.etag) == before


def test_an_edit_changes_what_people_read_and_nothing_that_is_declared() -> None:
    page = SitePage("/plain", 0, "Declares nothing")
    before = page.html()

    page.edit("Another sentence.")

    assert "<p>Another sentence.</p>" in page.html()
    assert "<meta name" not in page.html()
    assert page.html() != before
