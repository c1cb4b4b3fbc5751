"""Declared lists: reading, schema, laws, hostile files."""

from __future__ import annotations

import json
import tomllib
import tracemalloc
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.house.sources import ROOT
from tests.lists.declaring import A, B, declared, in_yaml, page_row
from tocsin.errors import UsageError
from tocsin.lists.declared import TomlWriter, YamlWriter, compare_group, compare_page, edit_of, read_declared, to_schema
from tocsin.lists.declared.tree import LARGEST_BYTES, read_tree
from tocsin.model import PageRow
from tocsin.settings import PageSettings

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


SHIPPED = ROOT / "config" / "pages.schema.json"
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("pages.*"))
CHECKER = jsonschema.Draft202012Validator(to_schema())


def loaded(name: str, text: str) -> Any:
    return tomllib.loads(text) if name.endswith("toml") else yaml.safe_load(text)


def test_the_shipped_schema_is_made_from_the_settings() -> None:
    assert json.loads(SHIPPED.read_text("utf-8")) == to_schema()


def test_the_schema_is_one_and_knows_every_setting_of_pages() -> None:
    jsonschema.Draft202012Validator.check_schema(to_schema())

    assert set(PageSettings.__struct_fields__) <= to_schema()["$defs"]["settings"]["properties"].keys()


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_is_valid_and_is_read(file: Any) -> None:
    text = file.read_text("utf-8")

    CHECKER.validate(loaded(file.name, text))
    found = read_declared(text.encode(), name=file.name, read_secret=lambda *_: "secret")

    assert found.pages


def test_there_are_examples_of_both_languages() -> None:
    assert [file.name for file in EXAMPLES] == ["pages.toml", "pages.yaml"]


@pytest.mark.parametrize("kind", ["toml", "yaml"])
def test_what_the_store_is_written_as_is_valid(kind: str) -> None:
    settings = {"every": "6h", "tries": 3, "retry_refused": True, "report": ["unchanged"], "headers": {"X-A": "b"}}
    page = page_row(A, group="news", text="mine", paused=True, settings={**settings, "mode": "off"})
    writer = (TomlWriter if kind == "toml" else YamlWriter)(with_secrets=True)

    CHECKER.validate(loaded(kind, writer.head({"every": "1h"}, {"news": settings}) + writer.pages([page])))


@pytest.mark.parametrize(
    "tree",
    [
        {"page": []},
        {"all": {"evry": "1h"}},
        {"all": {"every": "soon"}},
        {"all": {"mode": "maybe"}},
        {"all": {"minor_threshold": 0}},
        {"pages": [{"group": "news"}]},
        {"pages": ["ftp://example.org/"]},
        {"pages": [{"url": A, "paused": "perhaps"}]},
        {"groups": {"": {}}},
    ],
    ids=str,
)
def test_what_the_schema_refuses_the_program_refuses(tree: Any) -> None:
    with pytest.raises(UsageError):
        read_declared(json.dumps(tree).encode(), name="pages.json")

    assert not CHECKER.is_valid(tree)


SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "every": st.sampled_from(["90m", "24h", "80d"]),
        "mode": st.sampled_from(["on", "auto", "off"]),
        "minor_threshold": st.integers(1, 1000),
        "retry_refused": st.booleans(),
        "report": st.lists(st.sampled_from(["unchanged", "too-soon"]), unique=True),
        "ignore": st.sampled_from([".a, #b", "[data-x='\"']", ""]),
        "headers": st.dictionaries(
            st.sampled_from(["Accept-Language", "X-A"]), st.sampled_from(["de", 'a "b" \\ c', ""])
        ),
        "auth": st.sampled_from(["me:secret", "Bearer x"]),
    },
)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="\0"), min_size=1, max_size=60)
GROUPS = st.sampled_from(["main", "news", "a b", 'q"\\', "été", "1"])
PAGES = st.lists(
    st.builds(
        page_row,
        st.integers(1, 5).map("https://example.org/{}".format),
        group=GROUPS,
        text=st.none() | TEXTS,
        settings=SETTINGS,
        paused=st.booleans(),
    ),
    unique_by=lambda page: page.url,
    max_size=4,
)
WRITERS: dict[str, type[TomlWriter | YamlWriter]] = {"toml": TomlWriter, "yaml": YamlWriter}


def written(kind: str, for_all: Any, groups: Any, pages: list[PageRow], *, with_secrets: bool) -> bytes:
    writer = WRITERS[kind](with_secrets=with_secrets)
    return (writer.head(for_all, groups) + writer.pages(pages) + writer.pages([])).encode()


@pytest.mark.parametrize("kind", WRITERS)
@given(SETTINGS, st.dictionaries(GROUPS, SETTINGS, max_size=2), PAGES, st.booleans())
def test_a_store_that_is_written_out_is_planned_without_a_change(
    kind: str,
    for_all: Any,
    groups: Any,
    pages: list[PageRow],
    with_secrets: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    body = written(kind, for_all, groups, pages, with_secrets=with_secrets)

    declared = read_declared(body, name="pages", kind=kind)

    assert [compare_page(page, declared) for page in pages] == [None] * len(pages)
    assert declared.for_all is not None
    assert compare_group(None, for_all, declared.for_all) is None
    assert all(compare_group(name, groups[name], given) is None for name, given in declared.groups.items())


@given(SETTINGS, SETTINGS)
def test_after_its_edit_a_group_is_as_the_file_says(stored: dict[str, Any], said: dict[str, Any]) -> None:
    change = compare_group("news", stored, said)

    edit = edit_of(change) if change else None
    after = {**stored, **(edit.settings if edit else {})}
    after = {key: value for key, value in after.items() if edit is None or key not in edit.unset}

    assert compare_group("news", after, said) is None
    kept = {key: value for key, value in stored.items() if key in {"headers", "auth"} and key not in said}
    assert after == {**kept, **said}


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(["toml", "yaml"]))
def test_no_bytes_end_in_anything_but_a_list_or_a_complaint(body: bytes, kind: str) -> None:
    try:
        read_declared(body, name="pages", kind=kind)
    except UsageError as refused:
        assert str(refused).startswith("pages")  # noqa: PT017 - whether it is refused is not the question


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_GHSA_83jp_rww3_57rr_a_few_lines_of_yaml_never_stand_for_billions() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=r"pages\.yaml:2: the alias \*a; write out its value"):
            in_yaml(LAUGHS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 2**20


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system [true]", "!!python/name:os.system x", "!x y", "!!int 3"]
)
def test_a_tag_of_yaml_makes_nothing(tag: str) -> None:
    with pytest.raises(UsageError, match="the tag"):
        in_yaml(f"all:\n  auth: {tag}\n")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_what_is_nested_without_end_is_refused_where_it_gets_too_deep(opening: str) -> None:
    with pytest.raises(UsageError, match="nested deeper than 8"):
        in_yaml("pages: " + ("\n" if opening == "- " else "") + opening * 100_000)


def test_toml_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="nested too deep"):
        declared(f"a = {'[' * 100_000}")


def test_a_long_dotted_key_of_toml_is_refused_as_the_unknown_key_that_it_is() -> None:
    with pytest.raises(UsageError, match="unknown key"):
        declared(f"all.{'a.' * 2000}b = 1")


def test_a_file_beyond_the_bound_is_refused_unread() -> None:
    with pytest.raises(UsageError, match="larger than 64 MiB; split it"):
        read_tree(b"#" * (LARGEST_BYTES + 1), name="pages.toml")


@pytest.mark.parametrize("name", ["\u202enews", "a\nb", "", "x" * 64])
def test_a_group_by_a_name_that_none_can_have_is_refused(name: str) -> None:
    escaped = name.replace("\n", "\\n")

    with pytest.raises(UsageError, match="a group's name has 1 to 63 printable characters"):
        declared(f'[groups."{escaped}"]\n')


def test_control_characters_of_a_key_do_not_reach_the_terminal() -> None:
    with pytest.raises(UsageError) as refused:
        declared('"\\u001b[31mred" = 1\n')

    assert "\x1b" not in str(refused.value)
