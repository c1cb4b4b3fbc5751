"""Where requests come from, and what links are made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from tocsin.server.parts import WebOrigin, base_url, parse_origin, sender_of
from tocsin.settings import HttpSettings

PROXIES = HttpSettings(trusted_proxies=("10.0.0.0/8", "fd00::/8"))


def scope_of(client: str, **headers: str) -> Scope:
    raw = [(name.replace("_", "-").encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    return {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "scheme": "http",
        "client": (client, 1),
        "server": ("10.1.2.3", 8330),
        "headers": raw,
    }


def sender(client: str, settings: HttpSettings = PROXIES, **headers: str) -> str:
    scope = scope_of(client, **headers)
    return str(sender_of(scope, Headers(scope=scope), settings).address)


def test_the_client_behind_trusted_proxies_is_the_last_that_is_none_of_them() -> None:
    assert sender("10.0.0.1", x_forwarded_for="203.0.113.9, 198.51.100.1, 10.0.0.2") == "198.51.100.1"


def test_headers_from_anybody_else_are_not_believed() -> None:
    """CVE-2023-27591."""
    assert sender("192.0.2.1", x_forwarded_for="127.0.0.1") == "192.0.2.1"


def test_what_is_no_address_ends_the_way_back() -> None:
    assert sender("10.0.0.1", x_forwarded_for="127.0.0.1, unknown, 10.0.0.2") == "10.0.0.2"


def test_ipv4_within_ipv6_is_ipv4() -> None:
    assert sender("::ffff:10.0.0.1", x_forwarded_for="::ffff:198.51.100.1") == "198.51.100.1"


@given(st.text(max_size=60))
def test_whatever_a_proxy_says_an_address_is_found(said: str) -> None:
    assert sender("10.0.0.1", x_forwarded_for=said)


@given(st.text(max_size=80))
def test_whatever_host_says_links_lead_here(host: str) -> None:
    """GHSA-hp8h-jqfm-v7x5: links that leave the service are not made of what a stranger says."""
    request = Request(scope_of("192.0.2.1", host=host))

    found = parse_origin(base_url(request, HttpSettings(public_url="https://tocsin.example")))

    assert found == WebOrigin("https", "tocsin.example", 443)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:8330", "http://localhost:8330"),
        ("192.0.2.4:8330", "http://192.0.2.4:8330"),
        ("[::1]:8330", "http://[::1]:8330"),
        ("evil.example", "http://10.1.2.3:8330"),
        ("evil.example/x", "http://10.1.2.3:8330"),
        ("user@evil.example", "http://10.1.2.3:8330"),
        ("", "http://10.1.2.3:8330"),
    ],
)
def test_without_a_public_address_only_names_of_machines_make_links(host: str, expected: str) -> None:
    assert base_url(Request(scope_of("192.0.2.1", host=host)), HttpSettings()) == expected


@pytest.mark.parametrize(
    "text",
    ["null", "", "file:///x", "http://", "http://a@b", "http://a b", "http://a/x", "http://a?x", "http://a:99999"],
)
def test_what_is_no_origin_is_none(text: str) -> None:
    assert parse_origin(text) is None
