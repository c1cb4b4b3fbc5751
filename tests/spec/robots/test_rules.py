"""The rules of one robots.txt: what they allow, and which line said so (RFC 9309, LM-31 to LM-42)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.robots import TOO_COSTLY, Policy, canonical, parse_pattern, parse_robots, policy_of, robots_url

SITE = "https://a.example"
ROBOTS = b"""\
# our house rules
User-agent: *
Disallow: /private/
Allow: /private/open
Disallow: /*.pdf$   # print them yourself
Crawl-delay: 2.5

User-agent: tocsin
User-agent: other
Disallow: /bells
"""


def is_allowed(robots: str | bytes, path: str, agent: str = "tocsin") -> bool:
    body = robots.encode() if isinstance(robots, str) else robots
    return parse_robots(body).allows(agent, SITE + path).allowed


def forbids(rule: str, path: str) -> bool:
    return not is_allowed(f"User-agent: *\nDisallow: {rule}\n", path)


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("someone", "/", True),
        ("someone", "/private/", False),
        ("someone", "/private/open/a", True),
        ("someone", "/a.pdf", False),
        ("someone", "/a.pdf?x", True),
        ("someone", "/bells", True),
        ("tocsin", "/bells/1", False),
        ("Tocsin", "/bells", False),
        ("Tocsin/1.0", "/bells", False),
        ("notocsin Tocsin/1.0", "/bells", False),
        ("my-tocsin", "/bells", True),
        ("tocsin", "/private/", True),
        ("other", "/bells", False),
    ],
)
def test_LM41_the_longest_rule_of_the_agent_s_own_record_decides(agent: str, path: str, allowed: bool) -> None:  # noqa: FBT001 - a table
    assert is_allowed(ROBOTS, path, agent) is allowed


@pytest.mark.parametrize(
    ("agent", "path", "rule"),
    [
        ("tocsin", "/bells/1", 'line 10: "Disallow: /bells" for "User-agent: tocsin" (line 8)'),
        ("other", "/bells", 'line 10: "Disallow: /bells" for "User-agent: other" (line 9)'),
        ("someone", "/a.pdf", 'line 5: "Disallow: /*.pdf$" for "User-agent: *" (line 2)'),
        ("someone", "/private/open", 'line 4: "Allow: /private/open" for "User-agent: *" (line 2)'),
        ("someone", "/", None),
    ],
)
def test_LM43_a_ruling_names_the_rule_that_decided_and_its_record(agent: str, path: str, rule: str | None) -> None:
    assert parse_robots(ROBOTS).allows(agent, SITE + path).rule == rule


@pytest.mark.parametrize("rule", ["/x", "/*x", "/x$"])
def test_of_rules_that_say_the_same_the_first_is_named(rule: str) -> None:
    rules = parse_robots(f"User-agent: *\nDisallow: {rule}\nDisallow: {rule}".encode())

    assert (rules.allows("tocsin", f"{SITE}/x").rule or "").startswith("line 2:")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(ends: str) -> None:
    rules = parse_robots(ends.join(["", "User-agent: *", "", "Disallow: /x"]).encode())

    assert rules.allows("tocsin", f"{SITE}/x").rule == 'line 4: "Disallow: /x" for "User-agent: *" (line 2)'


def test_a_rule_is_shown_without_control_characters_and_without_end() -> None:
    rules = parse_robots(b"User-agent: *\nDisallow: /\x1b[31m" + b"x" * 1000)

    shown = rules.allows("tocsin", f"{SITE}/%1b[31m{'x' * 1000}").rule or ""

    assert "\x1b" not in shown
    assert len(shown) < 300


@pytest.mark.parametrize("path", ["/robots.txt", "/robots.txt?x", "/robots.txt#x"])
def test_LM41_robots_txt_itself_is_always_allowed(path: str) -> None:
    assert is_allowed("User-agent: *\nDisallow: /", path)


@pytest.mark.parametrize("path", ["/robots.txt/", "/a/robots.txt", "/Robots.txt"])
def test_LM33_what_only_looks_like_robots_txt_is_not(path: str) -> None:
    assert not is_allowed("User-agent: *\nDisallow: /", path)


def test_LM41_allow_wins_ties() -> None:
    assert is_allowed("User-agent: *\nDisallow: /a\nAllow: /a", "/a")
    assert is_allowed("User-agent: *\nAllow: /*b\nDisallow: /ab", "/ab")


def test_LM41_a_rule_is_as_long_as_its_octets_once_encoded() -> None:
    # Three letters against two of them, each of two octets.
    assert is_allowed("User-agent: *\nDisallow: /*abc\nAllow: /öö", "/%C3%B6%C3%B6abc")
    # What needed no escape counts as one octet.
    assert not is_allowed("User-agent: *\nAllow: /%61%62\nDisallow: /*bcd", "/abcd")


@pytest.mark.parametrize("lines", ["Disallow: /*b\nAllow: /*ab", "Allow: /*ab\nDisallow: /*b"])
def test_LM41_of_rules_with_wildcards_too_the_longest_decides(lines: str) -> None:
    assert is_allowed(f"User-agent: *\n{lines}", "/ab")


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/a", "/a"),
        ("/a", "/abc?d"),
        ("/a$", "/a"),
        ("/*", "/"),
        ("*", "/a"),
        ("*b", "/ab"),
        ("/a*c*e", "/abcde"),
        ("/a**e", "/abcde"),
        ("/a*$", "/ab"),
        ("/*.gif$", "/x.gif.gif"),
        ("/*a*a$", "/aa"),
        ("/a$b", "/a$b"),
        ("/a?b", "/a?b=c"),
        ("/%61b", "/ab"),
        ("/ab", "/%61b"),
        ("/%7euser", "/~user"),
        ("/%2a", "/*"),
        ("/a%24", "/a$"),
        ("/ü", "/%C3%BC"),
        ("/%c3%bc", "/%C3%BC"),
        ("/a%", "/a%25"),
        ("/a b", "/a%20b"),
        ("/a:b", "/a%3Ab"),
    ],
)
def test_LM41_a_rule_covers_paths_that_begin_as_it_says(rule: str, path: str) -> None:
    assert forbids(rule, path)


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/a", "/A"),
        ("/a", "/b/a"),
        ("/a$", "/a?"),
        ("/a/", "/a"),
        ("*b", "/a"),
        ("/a*b*a$", "/aba/"),
        ("/*aba*aba$", "/ababa"),
        ("/%2a", "/x"),
        ("/a%24", "/a"),
        ("/a%2Fb", "/a/b"),
        ("/a/b", "/a%2Fb"),
        ("/a?", "/a"),
        ("", "/a"),
        ("# /a", "/a"),
        ("a", "/a"),
    ],
)
def test_LM41_a_rule_covers_nothing_else(rule: str, path: str) -> None:
    assert not forbids(rule, path)


def test_a_path_alone_is_judged_as_one() -> None:
    assert not parse_robots(b"User-agent: *\nDisallow: /x").allows("tocsin", "/x").allowed


@pytest.mark.parametrize("url", ["https://a.example", "https://a.example?q", "https://a.example#f"])
def test_a_url_without_a_path_has_the_root_as_its_path(url: str) -> None:
    assert not parse_robots(b"User-agent: *\nDisallow: /").allows("tocsin", url).allowed


@pytest.mark.parametrize(
    "robots",
    [
        "User-agent: tocsin\n\n\nDisallow: /x",
        "User-agent: a\n\nUser-agent: tocsin\nDisallow: /x",
        "User-agent: tocsin\nNoindex: /y\nUser-agent: b\nDisallow: /x",
        "User-agent: tocsin\nSitemap: /s\nUser-agent: b\nDisallow: /x",
        "User-agent: tocsin\nDisallow: /y\nUser-agent: b\nDisallow: /z\nUser-agent: TOCSIN\nDisallow: /x",
        "User-agent: tocsin/2.0 (watcher)\nDisallow: /x",
        "User-agent: Toc\nDisallow: /x",
        "User-agent: tocsin*\nDisallow: /x",
        "User-agent: *\nDisallow: /y\nUser-agent: *\nDisallow: /x",
        "useragent: *\nDISALOW: /x",
        "user-agent *\ndisallow /x",
        " User-agent : * \n\t Disallow\t:/x",
    ],
)
def test_C06_a_record_is_found_however_it_is_written(robots: str) -> None:
    assert not is_allowed(robots, "/x")


@pytest.mark.parametrize(
    "robots",
    [
        "Disallow: /x",
        "User-agent: tocsin\nUser-agent: *\nDisallow:",
        "User-agent: *\nDisallow: /x\nUser-agent: tocsin",
        "User-agent: sin\nDisallow: /x",
        "User-agent: tocsin-images\nDisallow: /x",
        "User-agent: /1.0\nDisallow: /x",
        "User-agent:\nDisallow: /x",
        "User-agent: tocsin\nCrawl-delay: 3\nUser-agent: *\nDisallow: /x",
    ],
)
def test_LM37_what_was_said_to_others_does_not_concern_us(robots: str) -> None:
    assert is_allowed(robots, "/x")


@pytest.mark.parametrize("name", ["t", "toc", "tocsi", "toc*", "TOCS/2.0"])
@pytest.mark.parametrize(
    ("of_all", "of_the_beginning", "allowed"),
    [
        ("Disallow: /", "Allow: /x", False),
        ("Disallow: /", "Disallow:", False),
        ("Disallow: /x", "Disallow: /y", False),
        ("Allow: /x", "Disallow: /", False),
        ("Disallow:", "Disallow: /x", False),
        ("Disallow: /y", "Disallow: /y\nAllow: /x", True),
        ("Disallow: /", "Crawl-delay: 1", False),
    ],
)
def test_a_record_named_by_the_beginning_of_our_name_may_forbid_and_never_allows(
    name: str, of_all: str, of_the_beginning: str, *, allowed: bool
) -> None:
    records = [f"User-agent: *\n{of_all}\n", f"User-agent: {name}\n{of_the_beginning}\n"]

    assert is_allowed("".join(records), "/x") is allowed
    assert is_allowed("".join(reversed(records)), "/x") is allowed


@pytest.mark.parametrize("order", [1, -1])
def test_of_several_such_records_none_allows_what_another_forbids(order: int) -> None:
    records = ["User-agent: toc\nDisallow: /x\n", "User-agent: tocs\nAllow: /x\n", "User-agent: *\nAllow: /\n"]
    robots = "".join(records[::order])

    ruling = parse_robots(robots.encode()).allows("tocsin", f"{SITE}/x")

    assert (ruling.allowed, "User-agent: toc" in (ruling.rule or "")) == (False, True)


@pytest.mark.parametrize("beginning", ["Disallow: /", "Crawl-delay: 9"])
def test_where_a_record_has_our_whole_name_no_other_one_is_for_us(beginning: str) -> None:
    rules = parse_robots(f"User-agent: toc\n{beginning}\nUser-agent: Tocsin\nAllow: /\n".encode())

    assert rules.allows("tocsin", f"{SITE}/x").allowed
    assert rules.crawl_delay("tocsin") is None


def test_the_longest_crawl_delay_that_may_be_for_us_is_kept() -> None:
    rules = parse_robots(
        b"User-agent: *\nCrawl-delay: 2\nUser-agent: toc\nCrawl-delay: 5\nUser-agent: x\nCrawl-delay: 9"
    )

    assert rules.crawl_delay("tocsin") == 5


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("crawl delay: 10", 10.0),
        ("Crawl-delay:.5", 0.5),
        ("Crawl-delay: 3\nCrawl-delay: 7\nCrawl-delay: 1", 7.0),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: inf", None),
        ("Crawl-delay: 1e9", None),
        ("Crawl-delay: soon", None),
        ("Crawl-delay:", None),
    ],
)
def test_a_crawl_delay_is_read(line: str, seconds: float | None) -> None:
    assert parse_robots(f"User-agent: *\n{line}".encode()).crawl_delay("tocsin") == seconds


def test_a_crawl_delay_of_another_record_is_not_ours() -> None:
    assert parse_robots(ROBOTS).crawl_delay("tocsin") is None


def test_sitemaps_are_of_no_record_and_named_once() -> None:
    robots = b"Sitemap: https://a.example/1.xml\nUser-agent: x\nsitemap: /2.xml # two\nSitemap: https://a.example/1.xml"

    assert parse_robots(robots).sitemaps == ("https://a.example/1.xml", "/2.xml")


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /x\r\n",
        "\ufeffUser-agent: *\nDisallow: /x\n".encode("utf-16-le"),
        "\ufeffUser-agent: *\nDisallow: /x\n".encode("utf-16-be"),
        "User-agent: *\nDisallow: /x\n".encode("utf-16-le"),
        b"User-agent: *\nDis\0allow: /x\0\n",
        b"\xff\xff\nUser-agent: *\nDisallow: /x # caf\xe9",
    ],
)
def test_a_strange_encoding_is_no_obstacle(body: bytes) -> None:
    assert not is_allowed(body, "/x")


def test_an_octet_that_is_no_utf8_is_the_escape_that_urls_have_for_it() -> None:
    assert not is_allowed(b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9")


@pytest.mark.parametrize("head", ["<!DOCTYPE html>", "\n <html lang=en>", '<?xml version="1.0"?>'])
def test_a_page_that_is_sent_instead_has_no_rules(head: str) -> None:
    assert is_allowed(f"{head}\nUser-agent: *\nDisallow: /\n", "/x")


def test_a_warning_before_the_rules_does_not_hide_them() -> None:
    assert not is_allowed("<br />\n<b>Warning</b>: line 1\nUser-agent: *\nDisallow: /\n", "/x")


def test_LM42_the_first_500_kib_are_read() -> None:
    head, rule = b"User-agent: *\n", b"\nDisallow: /x\n"
    fill = 500 * 1024 - len(head) - len(rule)

    assert not is_allowed(head + b"#" * fill + rule, "/x")
    assert is_allowed(head + b"#" * (fill + len(rule)) + rule, "/x")


def test_LM42_of_exactly_500_kib_the_last_line_counts() -> None:
    head, rule = b"User-agent: *\n", b"\nDisallow: /x"
    fill = 500 * 1024 - len(head) - len(rule)

    assert not is_allowed(head + b"#" * fill + rule, "/x")


def test_LM42_a_line_that_the_cut_goes_through_is_left_out() -> None:
    head, rule = b"User-agent: *\n", b"\nDisallow: /private\n"
    fill = 500 * 1024 - len(head) - len(b"\nDisallow: /")

    assert is_allowed(head + b"#" * fill + rule, "/public")
    assert parse_robots(b"User-agent: *\nDisallow: /", cut=True).allows("tocsin", f"{SITE}/").allowed
    assert not is_allowed(b"User-agent: *\nDisallow: /", "/")


@pytest.mark.parametrize(
    "body", [b"", b"<!doctype html><p>not here", b"\xff\xfe\x00", b"Disallow: /", b"User-agent: *"]
)
def test_LM40_what_holds_no_rules_forbids_nothing(body: bytes) -> None:
    assert is_allowed(body, "/")


@pytest.mark.parametrize(
    ("rule", "path"),
    [("/" + "*a" * 200_000 + "*b", "/" + "a" * 80_000), ("/*" + "a" * 400_000 + "b", "/" + "a" * 1_000_000)],
)
def test_LM41_matching_takes_linear_time(rule: str, path: str) -> None:
    rules = parse_robots(f"User-agent: *\nDisallow: {rule}".encode()).of("tocsin")

    assert rules.allows(SITE + path).allowed


def test_a_site_whose_wildcards_would_hold_up_others_is_left_alone() -> None:
    robots = "User-agent: *\n" + "".join(f"Disallow: /*a{number}b\n" for number in range(26_000))
    rules = parse_robots(robots.encode())

    assert rules.allows("tocsin", f"{SITE}/{'a' * 8000}") is TOO_COSTLY
    assert rules.allows("tocsin", f"{SITE}/a7").allowed
    assert not rules.allows("tocsin", f"{SITE}/a25999b").allowed


LINE = st.sampled_from(
    ["User-agent: *", "User-agent: tocsin", "Disallow: /a", "Allow: /a*b", "Disallow: /*b$", "", "#"]
)


@given(st.binary() | st.text().map(str.encode), st.text(max_size=20), st.text(max_size=30))
def test_no_bytes_are_too_strange(body: bytes, agent: str, path: str) -> None:
    rules = parse_robots(b"User-agent: *\nDisallow: /*" + body)

    rules.allows(agent, f"{SITE}/{path}")
    rules.allows(agent, path)
    rules.crawl_delay(agent)


@given(st.lists(LINE), st.text("ab", max_size=6))
def test_C06_blank_lines_and_comments_change_nothing(lines: list[str], path: str) -> None:
    spaced, tight = "\n\n".join(lines), "\n".join(line for line in lines if line.startswith(("U", "D", "A")))

    assert is_allowed(spaced, f"/{path}") == is_allowed(tight, f"/{path}")


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_LM41_stars_match_as_the_plainest_matcher_says(pattern: str, path: str) -> None:
    def covers(pattern: str, path: str) -> bool:
        if not pattern:
            return True
        if pattern[0] == "*":
            return any(covers(pattern[1:], path[at:]) for at in range(len(path) + 1))
        return bool(path) and path[0] == pattern[0] and covers(pattern[1:], path[1:])

    assert forbids(f"/{pattern}", f"/{path}") is covers(pattern, path)


@pytest.mark.parametrize(
    ("value", "octets"),
    [("/", 1), ("/a?b", 4), ("/a*b$", 5), ("/ö", 7), ("/%C3%B6", 7), ("/%61%62", 3), ("/%2a", 4), ("/%", 2)],
)
def test_a_rule_is_as_long_as_it_is_once_encoded(value: str, octets: int) -> None:
    assert parse_pattern(value).octets == octets


@pytest.mark.parametrize(
    ("value", "path", "matches"),
    [("/a", "/ab", True), ("/a$", "/a", True), ("/a$", "/ab", False), ("/a", "/", False), ("*a", "a", True)],
)
def test_a_pattern_covers_what_begins_as_it_says(value: str, path: str, matches: bool) -> None:  # noqa: FBT001 - a table
    assert parse_pattern(value).is_match(path) is matches


@given(st.text())
def test_what_is_canonical_stays_so(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@given(st.binary(max_size=20))
def test_octets_are_equal_however_they_are_escaped(octets: bytes) -> None:
    bare = octets.decode("latin-1").encode().decode()
    escaped = "".join(f"%{octet:02x}" for octet in bare.encode() if octet != ord("/"))

    assert canonical(bare.replace("/", "").replace("%", "%25")) == canonical(escaped)


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
