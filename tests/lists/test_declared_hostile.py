"""Hostile declared lists."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.lists.declaring import declared, in_yaml
from tocsin.errors import UsageError
from tocsin.lists.declared.tree import LARGEST_BYTES, read_tree

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
