"""Settings that an older version took, or somebody wrote into the store by hand: held against their own level alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.configuration import mask, resolve_page, resolve_page_origins, resolve_readable
from tocsin.configuration.convert import PAGE_KEYS
from tocsin.configuration.pages import describe_refused, mend_of
from tocsin.errors import SettingsError
from tocsin.settings import PageSettings, unread

BASE = PageSettings(tries=7)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
LEVEL = st.dictionaries(st.sampled_from(PAGE_KEYS) | st.text(), ANYTHING, max_size=4)


def test_what_cannot_be_used_is_as_at_the_next_level_and_is_named() -> None:
    resolved = resolve_readable(BASE, {}, {"every": "6h"}, {"every": "0s", "tries": 1, "proxy": "ftp:x"})

    assert (resolved.settings.every, resolved.settings.tries) == (timedelta(hours=6), 1)
    assert [(each.level, each.key) for each in resolved.refused] == [("page", "every"), ("page", "proxy")]


def test_what_a_nearer_level_says_otherwise_is_not_in_force_and_not_refused() -> None:
    assert resolve_readable(BASE, {"tries": -1}, {"cron": "never"}, {"every": "3h", "tries": 2}).refused == ()


def test_the_mend_names_whose_settings_these_are_for_a_shell() -> None:
    refused = resolve_readable(BASE, {"tries": -1}, {"cron": 3}, {"every": "0s", "colour": "red"}).refused

    mend = mend_of(refused, url="https://example.org/?a&b", group="it's")

    assert mend.startswith("set it anew, or let it inherit: ")
    assert "tocsin watch set --all --unset tries" in mend
    assert "tocsin watch set --group 'it'\"'\"'s' --unset cron" in mend
    assert "tocsin watch set 'https://example.org/?a&b' --unset every --unset colour" in mend


def test_what_no_setting_of_this_version_is_can_only_inherit() -> None:
    (refused,) = resolve_readable(BASE, {}, {}, {"colour": "red"}).refused

    assert describe_refused([refused]) == (
        "store, settings of the page: pages.colour: this version has no such setting; "
        "let it inherit: tocsin watch set URL --unset colour"
    )


def test_a_page_is_not_asked_for_without_the_proxy_whose_file_cannot_be_read() -> None:
    base = PageSettings(tries=7, proxy=unread("tocsin.toml: pages.proxy_file: p: there is no such file; mend the name"))

    with pytest.raises(SettingsError, match=r"there is no such file; mend the name$"):
        resolve_page(base, {}, {}, None)
    assert resolve_readable(base, {}, {}, None).settings == BASE
    with pytest.raises(SettingsError, match="there is no such file"):
        resolve_page(base, {}, {"tries": 1}, {"every": "6h"})


def test_a_page_with_a_proxy_of_its_own_needs_no_file_of_the_configuration() -> None:
    base = PageSettings(proxy=unread("there is no such file"))

    resolved = resolve_readable(base, {}, {"proxy": "http://own.example:3128"}, {"tries": 1})

    assert (resolved.settings.proxy, resolved.refused) == ("http://own.example:3128", ())


def test_a_file_that_cannot_be_read_is_no_reason_to_unset_what_the_store_holds() -> None:
    base = PageSettings(auth=unread("tocsin.toml: pages.auth_file: a: the file is empty; write the secret into it"))
    refused = resolve_readable(base, {}, {}, {"colour": "red"}).refused

    assert mend_of(refused, url="https://a.example/", group="") == (
        "let it inherit: tocsin watch set https://a.example/ --unset colour"
    )
    assert mend_of(refused[:1], url="https://a.example/", group="") == ""


def test_a_secret_that_is_refused_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as caught:
        resolve_page(BASE, {}, {}, {"proxy": "ann:secret@proxy"})

    assert "pages.proxy" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_level_whose_word_cannot_be_used_is_nobody_s_origin() -> None:
    origins = resolve_page_origins({}, {"tell": "major"}, {"tell": 3}, {"every": "0s"})

    assert (origins["tell"], origins["every"]) == ("all pages", "default")


@given(LEVEL, LEVEL, LEVEL)
def test_whatever_the_store_holds_every_setting_has_a_value_of_its_type(
    for_all: dict[str, Any], group: dict[str, Any], page: dict[str, Any]
) -> None:
    settings = resolve_readable(BASE, for_all, group, page).settings

    shown = msgspec.to_builtins(settings, builtin_types=(timedelta,))
    assert msgspec.convert(shown, PageSettings, builtin_types=(timedelta,)) == settings


@given(st.sampled_from(PAGE_KEYS) | st.text(min_size=1), ANYTHING)
def test_whatever_the_store_holds_it_can_be_shown(key: str, value: object) -> None:
    mask(("pages", key), value)


@pytest.mark.parametrize(
    ("key", "value"), [("headers", "Authorization: s3cret"), ("cookies", ["s3cret"]), ("password", "s3cret")]
)
def test_what_is_no_value_of_its_setting_or_no_setting_is_hidden_whole(key: str, value: object) -> None:
    assert mask(("pages", key), value) == "***"
