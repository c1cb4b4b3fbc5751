# ruff: noqa: RUF001 -- pages, as they are sent
"""What makes a gate whatever its words: where it brings back to, and that there is nothing else on it."""

from __future__ import annotations

import pytest

from tests.spec.suspicion.documents import ASKED, FOOT, FURNITURE, StandIn, document
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.suspicion.kinds import find_suspicion

_BACK = "https://id.example.net/u/1?{}=https%3A%2F%2Fwww.example.org%2Fguides%2Fgarden%2Froses"
_FIELD = '<form method=post><input type="email" name="e"><button>Next</button></form>'
_BANNER = "<p>We and our partners use cookies with your consent.</p><button>Accept all</button><button>Reject</button>"
_HARVEST = "<h1>The harvest of roses</h1><p>Pick them early in the morning, before the sun dries the dew.</p>"

_ROBOTS = "A play in two acts about roses that were made by machines, and about those who water them."


def _kind_of(title: str, body: str, *, final_url: str = ASKED) -> str | None:
    page = StandIn("", document(title, body), final_url=final_url)
    whole = parse_whole(page.body.encode(), "text/html; charset=utf-8")
    assert whole is not None
    found = find_suspicion(whole, body=b"", status=200, url=page.url, final_url=page.final_url, headers=())
    return None if found is None else found.kind


@pytest.mark.parametrize("parameter", ["return_to", "weiter", "u"])
def test_a_field_at_a_place_that_brings_back_is_a_login_whatever_it_is_called(parameter: str) -> None:
    body = f"<h1>Welcome back</h1><p>Enter your address.</p>{_FIELD}"

    assert _kind_of("Welcome back", body, final_url=_BACK.format(parameter)) == "login"


def test_a_password_at_a_place_that_brings_back_is_a_login_whatever_it_is_called() -> None:
    body = f"<h1>Fáilte</h1><p>{'Roinn Oideachais. ' * 8}</p><form method=post><input type=password name=p></form>"

    assert _kind_of("Fáilte", body, final_url=_BACK.format("r")) == "login"


def test_a_page_of_some_text_at_a_place_that_brings_back_is_no_login() -> None:
    body = f"{_HARVEST}<p>{'They keep for a week in a cool cellar. ' * 4}</p>{_FIELD}"

    assert _kind_of("The harvest of roses", body, final_url=_BACK.format("from")) is None


def test_the_same_path_in_another_language_is_no_gate() -> None:
    final_url = "https://www.example.org/en/guides/garden/roses?from=/guides/garden/roses"

    assert _kind_of("Roses", f"<h1>Roses</h1><p>Now in English.</p>{_FIELD}", final_url=final_url) is None


@pytest.mark.parametrize(
    ("heading", "text", "button"),
    [
        ("Are you of legal drinking age?", "You must be of legal drinking age to enter.", "Yes"),
        ("La tua privacy è importante per noi", "Noi e i nostri partner usiamo i cookie.", "Accetta tutto"),
        ("Mogen wij cookies plaatsen?", "Zonder cookies kun je deze site niet bekijken.", "Akkoord"),
    ],
)
def test_a_heading_that_asks_and_nothing_else_is_a_gate_with_any_title(heading: str, text: str, button: str) -> None:
    body = f'<img src="/logo.png" alt=""><h1>{heading}</h1><p>{text}</p><button>{button}</button>'

    assert _kind_of("Rose & Spade", body) == "consent"


def test_a_heading_that_asks_beside_one_of_the_page_is_a_banner() -> None:
    assert _kind_of("Rose & Spade", f"<h2>We value your privacy</h2>{_BANNER}{_HARVEST}") is None


def test_a_heading_that_asks_within_a_whole_site_is_a_banner() -> None:
    assert _kind_of("Rose & Spade", f"{FURNITURE}<h2>We value your privacy</h2>{_BANNER}<p>Roses.</p>{FOOT}") is None


def test_cookies_that_are_eaten_are_none_of_consent() -> None:
    assert _kind_of("Cookies", f"<h1>Cookies for breakfast?</h1><p>Oats, nuts, 15 minutes.</p>{_BANNER}") is None


def test_a_heading_that_says_it_in_other_words_than_the_title_is_enough_for_a_soft_404() -> None:
    body = f"{FURNITURE}<main><h1>This page doesn't exist</h1><p>{'But our roses do, in spring. ' * 5}</p></main>{FOOT}"

    assert _kind_of("Page not found", body) == "not-found"


def test_a_heading_in_the_words_of_the_title_is_none() -> None:
    body = f"{FURNITURE}<main><h1>Page not found</h1><p>{'A novel in three parts, in print. ' * 5}</p></main>{FOOT}"

    assert _kind_of("Page not found", body) is None


@pytest.mark.parametrize("said", ["isn't", "isn’t", "is not"])
def test_what_is_said_in_one_word_is_what_is_said_in_two(said: str) -> None:
    body = f"{FURNITURE}<main><h1>This content {said} available in your region</h1><p>GDPR applies.</p></main>{FOOT}"

    assert _kind_of("Unavailable", body) == "blocked"


def test_a_parked_name_without_a_heading_is_known_by_its_first_texts() -> None:
    body = "<p>example.org</p><p>This domain may be for sale!</p><a href='/o'>Make an offer</a><a href='/f'>Flights</a>"

    assert _kind_of("example.org", body) == "parked"


@pytest.mark.parametrize(
    ("title", "heading", "text"),
    [
        ("Account suspended", "Why is my account suspended?", "Because a bill is unpaid. Pay it, and it is back."),
        ("Domain expired", "What happens when a domain has expired?", "You have 30 days to renew your domain."),
        ("Shipping", "Not available in your country?", "We ship to 40 countries. A forwarder can help."),
        ("Help", "What to do when something went wrong?", "Something went wrong: try again, or write to us."),
    ],
)
def test_a_heading_that_asks_is_about_what_it_names(title: str, heading: str, text: str) -> None:
    assert _kind_of(title, f"{FURNITURE}<main><h1>{heading}</h1><p>{text}</p></main>{FOOT}") is None


def test_the_same_words_are_no_second_evidence_of_a_challenge() -> None:
    assert _kind_of("Rose & Spade", f"<h1>Verify you are human</h1><p>{_ROBOTS}</p><img src=a.png>") is None


def test_a_field_at_another_place_of_the_same_host_is_a_form() -> None:
    final_url = "https://www.example.org/ask?about=/guides/garden/roses"

    assert _kind_of("Ask us", f"<h1>Ask us</h1>{_FIELD}", final_url=final_url) is None
