from __future__ import annotations

import pytest

from tests.lists.declaring import A, B, declared, in_yaml
from tocsin.errors import UsageError
from tocsin.lists.declared import read_declared

TOML = """\
    prune = true

    [all]
    every = "12h"

    [groups.news]
    tell = "major"

    [[pages]]
    url = "https://EXAMPLE.org/a#here"
    group = "news"
    text = "mine"
    every = "1h30m"
    report = ["unchanged"]
    minor_threshold = 4

    [[pages]]
    url = "https://example.org/b"
    paused = true
    """
YAML = """\
    prune: yes
    all:
      every: 12h
    groups:
      news: {tell: major}
    pages:
      - url: https://EXAMPLE.org/a#here
        group: news
        text: mine
        every: 1h30m
        report: [unchanged]
        minor_threshold: 4
      - url: https://example.org/b
        paused: on
    """


@pytest.mark.parametrize("found", [declared(TOML), in_yaml(YAML)], ids=["toml", "yaml"])
def test_a_file_says_the_same_in_toml_and_in_yaml(found: object) -> None:
    assert found == declared(TOML)


def test_what_a_file_says_is_read_as_commands_would_read_it() -> None:
    found = declared(TOML)

    first, second = found.pages.values()
    assert (found.prune, found.for_all, found.groups) == (True, {"every": "12h"}, {"news": {"tell": "major"}})
    assert (first.new.url, first.new.host, first.new.group, first.new.text) == (A, "example.org", "news", "mine")
    assert first.new.settings == {"every": "90m", "report": ["unchanged"], "minor_threshold": 4}
    assert (first.paused, second.paused, second.new.group) == (None, True, "main")


def test_a_page_may_be_its_url_alone() -> None:
    assert list(in_yaml(f"pages: [{A}, {B}]").pages) == [A, B]
    assert list(declared(f'pages = ["{A}"]').pages) == [A]


def test_on_and_off_of_yaml_are_modes_and_no_truths() -> None:
    found = in_yaml(f"all: {{mode: off}}\npages: [{{url: {A}, mode: on}}]")

    assert found.for_all == {"mode": "off"}
    assert found.pages[A].new.settings == {"mode": "on"}


def test_a_key_without_a_value_in_yaml_says_nothing() -> None:
    found = in_yaml(f"groups:\n  news:\npages:\n- url: {A}\n  text:\n  every: ~\n")

    assert (found.groups, found.pages[A].new.text, found.pages[A].new.settings) == ({"news": {}}, None, None)


def test_json_is_read_as_yaml() -> None:
    body = b'{"pages": [{"url": "https://example.org/a", "retry_refused": true, "tries": 1}]}'

    found = read_declared(body, name="pages.json")

    assert found.pages[A].new.settings == {"retry_refused": True, "tries": 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'[[pages]]\nurl = "{A}"\nevry = "1h"\n', 'pages.toml:3: "evry": unknown key; the nearest known key is every'),
        (f'[[pages]]\nurl = "{A}"\n\n[[pages]]\nurl = "ftp://x/"\n', "pages.toml:4: ftp://x/: the scheme ftp:"),
        (f'[[pages]]\nurl = "{A}"\nevery = "soon"\n', 'pages.toml:3: every: found "soon", allowed is a duration'),
        (
            f'[[pages]]\nurl = "{A}"\n[[pages]]\nurl = "{A}#x"\n',
            "pages.toml:3: https://example.org/a is listed twice",
        ),
        ('[[pages]]\ngroup = "news"\n', "pages.toml:1: this page has no url; give it"),
        ('[groups.news]\ntel = "any"\n', 'pages.toml:2: "tel": unknown key; the nearest known key is tell'),
        ('[group.news]\ntell = "any"\n', 'pages.toml:1: "group": unknown key; the nearest known key is groups'),
        ('[all]\nevery = "1h"\ncron = "0 6 * * *"\n', "pages.toml:1: they exclude each other"),
        ("[all]\ntries = 1.5\n", "pages.toml:1: found 1.5, allowed is text, a number"),
        ("all = 3\n", "pages.toml:1: not a table of settings"),
        ("pages = 3\n", "pages.toml:1: not a list"),
        ('[[pages]]\nurl = "https://me:secret@example.org/"\n', "credentials in the URL; write them as auth"),
        ("prune = true\n", "pages.toml:1: prune, but no page is named"),
        ('[[pages]]\nurl = "https://example.org/a"\ntext = """\n[[pages]]\n"""\nx = 1\n', "pages.toml:6: "),
        ("a = [1\n", "pages.toml: not TOML"),
    ],
)
def test_a_bad_file_is_refused_with_line_key_and_mend(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=r"nothing was applied|not TOML") as refused:
        declared(text)

    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pages:\n- url: https://example.org/a\n  evry: 1h\n", 'pages.yaml:3: "evry": unknown key'),
        (
            "pages:\n- url: https://example.org/a\n  url: https://example.org/b\n",
            "pages.yaml:3: 'url' is there twice",
        ),
        ("pages:\n- [https://example.org/a]\n", "pages.yaml:2: not a page"),
        ("pages: [\n", "pages.yaml:2: not YAML"),
        ("a: 1\n---\nb: 2\n", "pages.yaml:2: a second document"),
        ("- a\n", "pages.yaml:1: not a table of keys"),
        ("? [a]\n: b\n", "pages.yaml:1: a key that is no text"),
    ],
)
def test_a_bad_file_of_yaml_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        in_yaml(text)

    assert told in str(refused.value)


def test_all_complaints_are_told_at_once_and_the_first_of_very_many() -> None:
    with pytest.raises(UsageError) as refused:
        declared("".join(f'[[pages]]\nurl = "ftp://x/{number}"\n' for number in range(50)))

    lines = str(refused.value).split("\n")
    assert len(lines) == 21
    assert lines[1].startswith("pages.toml:3: ")
    assert lines[-1] == "pages.toml: 30 more; nothing was applied"


def test_a_secret_is_read_from_the_file_that_is_named() -> None:
    body = f'[[pages]]\nurl = "{A}"\nauth_file = "a.secret"\n'.encode()

    found = read_declared(body, name="pages.toml", read_secret=lambda file, key, place: f"me:{file} {key} {place}")

    assert found.pages[A].new.settings == {"auth": "me:a.secret auth_file pages.toml:3"}
    with pytest.raises(UsageError, match="command line only"):
        read_declared(body, name="pages.toml")


def test_a_file_of_neither_language_is_asked_about() -> None:
    with pytest.raises(UsageError, match="is it TOML or YAML"):
        read_declared(b"", name="pages.txt")


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    with pytest.raises(UsageError, match=r"pages\.toml:2: not UTF-8"):
        read_declared(b"[all]\n\xff", name="pages.toml")


def test_a_key_that_is_there_twice_in_JSON_is_refused() -> None:
    with pytest.raises(UsageError, match=r"pages\.json:1: 'every' is there twice"):
        read_declared(b'{"all": {"every": "1h", "every": "2h"}}', name="pages.json")


def test_the_lines_of_very_many_complaints_are_found_in_one_reading_of_the_file() -> None:
    # To look for each line from the beginning would take some hours.
    pages = "".join(f'[[pages]]\nurl = "https://example.org/{number}"\n' for number in range(20_000))

    with pytest.raises(UsageError) as refused:
        declared(pages + pages)

    lines = str(refused.value).split("\n")
    assert lines[1] == "pages.toml:40003: https://example.org/1 is listed twice, first in line 3; remove one"
    assert lines[-1] == "pages.toml: 19,980 more; nothing was applied"


def test_a_line_without_an_end_is_not_searched_for_names() -> None:
    # Of all ways to read this line as a header, one a letter, none takes the whole.
    text = f"[all]\nevery = 'soon'\n[groups{' ' * 200_000}.news]\nevery = '2h'\n"

    with pytest.raises(UsageError, match=r"pages\.toml:2: every"):
        declared(text)
