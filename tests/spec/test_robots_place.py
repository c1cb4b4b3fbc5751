"""Where robots.txt stands, and what its status means (LM-32, LM-42)."""

from __future__ import annotations

import pytest

from tocsin.spec.robots.rules import Policy, policy_of, robots_url


@pytest.mark.parametrize(
    ("status", "policy"),
    [
        (200, Policy.PARSE),
        (204, Policy.PARSE),
        (400, Policy.ALLOW_ALL),
        (401, Policy.ALLOW_ALL),
        (403, Policy.ALLOW_ALL),
        (404, Policy.ALLOW_ALL),
        (410, Policy.ALLOW_ALL),
        (429, Policy.DISALLOW_ALL),
        (500, Policy.DISALLOW_ALL),
        (503, Policy.DISALLOW_ALL),
        (599, Policy.DISALLOW_ALL),
        (304, None),
        (101, None),
    ],
)
def test_LM42_a_status_says_whether_there_are_rules(status: int, policy: Policy | None) -> None:
    assert policy_of(status) == policy


@pytest.mark.parametrize(
    ("url", "robots"),
    [
        ("http://www.a.example/x/y?z#q", "http://www.a.example/robots.txt"),
        ("http://www.a.example:80/", "http://www.a.example/robots.txt"),
        ("HTTPS://A.Example:8443", "https://a.example:8443/robots.txt"),
        ("https://user:word@a.example/", "https://a.example/robots.txt"),
        ("ftp://a.example/", None),
        ("no url", None),
    ],
)
def test_LM32_robots_txt_stands_at_the_root_of_scheme_host_and_port(url: str, robots: str | None) -> None:
    assert robots_url(url) == robots
