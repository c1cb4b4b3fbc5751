"""Which pages are suspected, and which are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.suspicion import innocents, plain_pages, stand_ins
from tests.spec.suspicion.documents import ASKED, FOOT, FURNITURE, StandIn, document
from tocsin.errors import TooComplex
from tocsin.spec.html.page import Kind
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.suspicion.kinds import KINDS, Suspicion, find_suspicion


def look(page: StandIn) -> Suspicion | None:
    whole = parse_whole(page.body.encode(), "text/html; charset=utf-8")
    assert whole is not None
    return find_suspicion(
        whole, body=page.body.encode(), status=page.status, url=page.url, final_url=page.final_url, headers=page.headers
    )


def plain(title: str, text: str, *, head: str = "", final_url: str = ASKED) -> StandIn:
    return StandIn("", document(title, f"<main><h1>{title}</h1><p>{text}</p></main>", head=head), final_url=final_url)


@pytest.mark.parametrize("name", stand_ins.ALL)
def test_a_page_that_stands_in_for_another_is_suspected_of_what_it_is(name: str) -> None:
    page = stand_ins.ALL[name]

    found = look(page)

    assert found is not None
    assert found.kind == page.kind


@pytest.mark.parametrize("page", plain_pages.PLAIN, ids=lambda page: str(page.kind))
def test_a_page_that_says_so_in_few_words_is_suspected(page: StandIn) -> None:
    found = look(page)

    assert found is not None
    assert found.kind == page.kind


@pytest.mark.parametrize("name", stand_ins.ALL)
def test_the_evidence_is_one_short_line(name: str) -> None:
    found = look(stand_ins.ALL[name])

    assert found is not None
    assert 0 < len(found.evidence) <= 300
    assert found.evidence.isprintable()


@pytest.mark.parametrize("name", innocents.ALL)
def test_a_page_near_the_border_is_not_suspected(name: str) -> None:
    assert look(innocents.ALL[name]) is None


def test_pages_of_all_kinds_are_tried() -> None:
    assert {page.kind for page in stand_ins.ALL.values()} == set(KINDS)


def test_every_kind_says_what_it_is() -> None:
    assert all(KINDS.values())


def test_the_evidence_names_what_was_seen() -> None:
    found = look(stand_ins.ALL["not-found: a designed one with the site around it"])

    assert found is not None
    assert found.evidence == (
        'says "page not found", tells of "looks like nothing was found", noindex, marked "class=error404"; '
        "146 letters of text"
    )


@pytest.mark.parametrize(
    "page",
    [page for page in stand_ins.ALL.values() if page.kind not in {"challenge", "empty"}],
    ids=[name for name, page in stand_ins.ALL.items() if page.kind not in {"challenge", "empty"}],
)
def test_nothing_is_suspected_that_declares_its_changes(page: StandIn) -> None:
    declares = '<meta name="topper-minor" content="2026-01-01">'

    assert look(StandIn("", declares + page.body, page.status, page.final_url, page.headers)) is None


@pytest.mark.parametrize(
    "name", [name for name, page in stand_ins.ALL.items() if not page.headers and page.kind != "binary"]
)
def test_much_text_of_its_own_clears_any_page(name: str) -> None:
    page = stand_ins.ALL[name]
    text = "<p>Roses want sun, air and a deep soil; those who give them that may forget the rest for a year.</p>" * 60

    assert look(StandIn("", page.body + text, page.status, page.final_url)) is None


def test_text_of_links_and_of_the_sites_furniture_clears_no_page() -> None:
    links = "".join(f'<li><a href="/{number}">Guide number {number}</a></li>' for number in range(300))
    page = document(
        "Page not found",
        f"{FURNITURE}<nav>{links}</nav><h1>Page not found</h1><p>Check the address.</p><footer>{links}</footer>{FOOT}",
    )

    found = look(StandIn("", page))

    assert found is not None
    assert found.kind == "not-found"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment", "Checking your browser."),
        ("Maintenance", "Try again later."),
        ("Access denied", "You don't have permission."),
        ("Page not found", "The page you are looking for is gone."),
        ("Domain for sale", "Buy this domain."),
    ],
)
def test_the_longer_a_page_the_more_it_takes(title: str, text: str) -> None:
    more = " Of the roses that we planted in the first year, seven are still there, and five of them flower." * 5

    assert look(plain(title, text)) is not None
    assert look(plain(title, text + more)) is None


def test_one_thing_that_is_said_in_longer_words_is_not_two() -> None:
    more = " Of the roses that we planted in the first year, seven are still there, and five of them flower." * 5

    assert look(plain("Something went wrong", "Please try again." + more)) is None


def test_a_hint_beside_the_words_is_a_second_thing() -> None:
    more = " Of the roses that we planted in the first year, seven are still there, and five of them flower." * 5
    page = plain("Maintenance", "Try again later." + more, head='<meta name="robots" content="noindex">')

    found = look(page)

    assert found is not None
    assert found.kind == "maintenance"


def test_a_title_about_such_pages_is_not_one_that_is_one() -> None:
    assert look(plain("How to write a page not found", "What you requested was removed.")) is None
    assert look(plain("Page not found", "What you requested was removed.")) is not None


def test_a_redirect_to_a_login_alone_makes_no_login() -> None:
    page = plain("Opening hours", "Monday to Friday.", final_url="https://accounts.example.org/hours")

    assert look(page) is None


def test_a_redirect_to_the_root_alone_makes_no_soft_404() -> None:
    assert look(plain("Rose & Spade", "Guides for gardens.", final_url="https://www.example.org/")) is None


def test_the_same_path_on_the_host_with_www_is_no_redirect() -> None:
    page = StandIn(
        "",
        document("Wiki", "<h1>Welcome</h1><form><input type=password name=p></form>"),
        final_url="https://www.accounts.example.org/a",
        url="https://accounts.example.org/a",
    )

    assert look(page) is None


def test_words_are_found_whatever_their_case_and_accents() -> None:
    assert look(plain("PAGINA NO ENCONTRADA", "LA PAGINA QUE BUSCAS YA NO EXISTE")) is not None


@pytest.mark.parametrize("url", ["", "http://[", "https://example.org:x/\x00", "not a url", "https://" + "a" * 10_000])
def test_any_url_is_looked_at(url: str) -> None:
    page = StandIn("", document("Page not found", "<h1>Page not found</h1>"), url=url, final_url=url)

    found = look(page)

    assert found is not None
    assert found.kind == "not-found"


@pytest.mark.parametrize(
    ("asked", "target"), [("http://[", "x"), ("https://example.org/", "//[::1"), ("not a url", "//")]
)
def test_a_page_that_leads_to_any_text_is_looked_at(asked: str, target: str) -> None:
    head = f'<meta http-equiv="refresh" content="0; url={target}/x">'

    found = look(StandIn("", document("Roses", "", head=head), url=asked, final_url=asked))

    assert found is not None
    assert found.kind == "redirect"


_PIECES = (
    *(
        "<h1>",
        "</h1>",
        "<a href=x>",
        "<script>",
        "</script>",
        "<form>",
        "<input type=password>",
        "404",
        "log in",
        "<nav>",
    ),
    *("<title>", "</title>", "just a moment", "<meta http-equiv=refresh content='0;", "<noscript>", "<svg>", "صيانة"),
    *("<template>", "<header>", "<select>", "\x00", "\ufdfa", "<body class=error404>", "<iframe src=x>", "'>"),
)
_MARKUP = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


@given(body=st.one_of(st.binary(max_size=400), _MARKUP.map(str.encode)), header=st.text(max_size=20), url=st.text())
def test_nothing_raises_on_any_bytes(body: bytes, header: str, url: str) -> None:
    whole = parse_whole(body, "text/html", found=(Kind.HTML, ()))
    assert whole is not None

    found = find_suspicion(whole, body=body, status=200, url=url, final_url=url[::-1], headers=[(header, header)])

    assert found is None or found.kind in KINDS


_FLOODS = {
    "deep": "<div>" * 100_000,
    "wide": "<p>" * 200_000,
    "headings": "<h1>" * 50_000 + "404 not found",
    "letters": "<title>" + "404 " * 500_000,
    "expanding letters": "<h1>" + "\ufdfa" * 300_000,
    "links": "<a href=x>log in</a>" * 50_000,
    "fields": "<input type=password name=x>" * 50_000,
    "scripts": "<script>document.cookie</script>" * 20_000,
    "buttons": "<button>accept</button>" * 20_000,
    "parts": "<title>" + " - a" * 100_000,
}


@pytest.mark.parametrize("name", _FLOODS)
def test_a_flood_of_anything_is_looked_at_quickly(name: str) -> None:
    try:
        whole = parse_whole(_FLOODS[name].encode(), "text/html; charset=utf-8")
    except TooComplex:
        return
    assert whole is not None

    found = find_suspicion(whole, body=b"", status=200, url=ASKED, final_url=ASKED, headers=[])

    assert found is None or found.kind in KINDS


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("Roses, pruned\x0b as in\x1a 1896. " + "They want sun, air and a deep soil. " * 9, "text/html; charset=utf-8"),
        ("Roses\0", "text/html"),
        (document("Roses", "<p>Roses</p>"), "text/html; charset=utf-16le"),
        ("<p>" + "バラの剪定" * 60, "text/html; charset=iso-2022-jp"),
        ('<meta name="topper-minor" content="2026">' + "\x01" * 900, "text/html"),
    ],
    ids=["old control characters", "a NUL", "UTF-16", "ISO-2022-JP", "declares its changes"],
)
def test_a_text_is_not_taken_for_binary_data(body: str, content_type: str) -> None:
    encoding = content_type.partition("charset=")[2] or "utf-8"
    sent = body.encode(encoding)
    whole = parse_whole(sent, content_type)
    assert whole is not None

    assert find_suspicion(whole, body=sent, status=200, url=ASKED, final_url=ASKED, headers=[]) is None
