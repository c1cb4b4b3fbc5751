"""Cookies of a login, written for the next visit: those of the page's own hosts, few and short."""

from __future__ import annotations

import pytest

from tocsin.adapters.browser.cookies import MOST_BYTES, MOST_COOKIES, KeptCookie, read_cookies, write_cookies

HOSTS = ("www.example.org", "login.example.net")


def _cookie(name: str, domain: str = "www.example.org", value: str = "1", expires: float = -1) -> KeptCookie:
    return KeptCookie(
        name=name,
        value=value,
        domain=domain,
        path="/",
        expires=expires,
        httpOnly=True,
        secure=True,
        sameSite="Lax",
    )


def test_cookies_are_read_as_they_were_written() -> None:
    cookies = [_cookie("a"), _cookie("bb", domain=".example.net", expires=1.5)]

    assert read_cookies(write_cookies(cookies, HOSTS)) == cookies


@pytest.mark.parametrize("domain", ["tracker.example.com", ".example.com", "example.org", ".xample.org"])
def test_cookies_of_other_hosts_are_left_out(domain: str) -> None:
    assert write_cookies([_cookie("a", domain=domain)], HOSTS) == ""


def test_too_many_and_too_long_cookies_are_left_out() -> None:
    many = [_cookie(f"{at:03}") for at in range(MOST_COOKIES + 10)]
    long = [_cookie("a"), _cookie("b", value="x" * MOST_BYTES)]

    assert len(read_cookies(write_cookies(many, HOSTS))) == MOST_COOKIES
    assert [each["name"] for each in read_cookies(write_cookies(long, HOSTS))] == ["a"]


@pytest.mark.parametrize("text", ["", "[", "{}", '[{"name": 1}]', "[" + " " * MOST_BYTES + "]"])
def test_a_text_that_cannot_be_read_holds_no_cookies(text: str) -> None:
    assert read_cookies(text) == []
