"""Addresses are told without what steps typed into them."""

from __future__ import annotations

import pytest

from tocsin.adapters.browser.addresses import hide_secrets

SECRETS = {"ada", "p w&/+ü"}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://a.example/in?user=ada", "https://a.example/in?user=***"),
        ("https://a.example/in?p=p+w%26%2F%2B%C3%BC&x=1#top", "https://a.example/in?p=***&x=1#top"),
        ("https://a.example/in?p=p%20w%26/%2B%c3%bc", "https://a.example/in?p=***"),
        # A part of an address, and of a value, is no secret by itself.
        ("https://a.example/users/ada?tab=adar&ada#ada", "https://a.example/users/ada?tab=adar&ada#ada"),
        ("https://a.example/", "https://a.example/"),
    ],
)
def test_values_of_a_query_that_are_secrets_are_hidden(url: str, told: str) -> None:
    assert hide_secrets(url, SECRETS) == told


def test_without_secrets_an_address_is_told_as_it_is() -> None:
    assert hide_secrets("https://a.example/?a=&b", ()) == "https://a.example/?a=&b"
