"""Settings of pages as forms show and read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.configuration.convert import to_json, to_setting
from tocsin.server.web.settings import (
    FORM_KEYS,
    STEPS,
    as_typed,
    choices_of,
    fields,
    read_settings_form,
    sections,
    written,
)
from tocsin.settings import PageSettings, Settings
from tocsin.wording.words import LANGUAGES, words_of


def test_what_is_typed_is_set() -> None:
    filled = read_settings_form({"every": "6h", "tell": "major", "report": "unchanged, too-soon"}, {})

    assert filled.settings == {"every": "6h", "tell": "major", "report": ["unchanged", "too-soon"]}
    assert filled.is_good


def test_an_empty_field_inherits_again() -> None:
    filled = read_settings_form({"every": ""}, {"every": "6h", "tries": 4})

    assert (filled.settings, filled.unset) == ({}, ("every",))


def test_a_field_that_a_form_does_not_have_stays() -> None:
    filled = read_settings_form({"tries": "3"}, {"mode": "off"})

    assert (filled.settings, filled.unset) == ({"tries": 3}, ())


def test_what_stands_there_already_changes_nothing() -> None:
    stored = {"every": "6h", "minor_threshold": 5, "report": ["unchanged"]}

    filled = read_settings_form(as_typed(stored), stored)

    assert (filled.settings, filled.unset, filled.changes) == ({}, (), [])


def test_a_value_that_cannot_be_is_refused_beside_its_field_and_kept() -> None:
    filled = read_settings_form({"every": "now and then", "tries": "3"}, {})

    assert filled.wrong.keys() == {"every"}
    assert "such as" in filled.wrong["every"]
    assert filled.typed["every"] == "now and then"


@pytest.mark.parametrize(
    "form",
    [
        {"every": "6h", "cron": "0 6 * * *"},
        {"adaptive": "true", "cron": "0 6 * * *"},
        {"every_min": "2d", "every_max": "1d"},
    ],
)
def test_what_does_not_go_together_is_refused(form: dict[str, str]) -> None:
    assert read_settings_form(form, {}).clashes


def test_a_secret_is_never_a_field() -> None:
    assert not {"auth", "proxy", "headers", "cookies", "secrets"} & set(FORM_KEYS)
    assert as_typed({"auth": "me:secret", "every": "1h"}) == {"every": "1h"}


def test_GHSA_mh42_m7cg_49fr_what_is_no_setting_of_a_form_is_not_set() -> None:
    assert read_settings_form({"processor": "../../x", "auth": "me:secret", "id": "1"}, {}).settings == {}


def test_the_form_has_every_setting_that_can_be_shown_once() -> None:
    keys = [key for _, step in STEPS for key in step]

    assert sorted(keys) == sorted(FORM_KEYS)


@pytest.mark.parametrize("key", FORM_KEYS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_setting_of_a_form_has_a_label_and_a_hint(key: str, language: str) -> None:
    words = words_of(language)

    assert f"page_setting.{key}" in words
    assert f"page_setting_hint.{key}" in words


@pytest.mark.parametrize("key", FORM_KEYS)
def test_what_a_form_shows_it_reads_again(key: str) -> None:
    value = getattr(PageSettings(), key)
    shown = written(("pages", key), value)

    assert not shown or to_setting(("pages", key), shown, written=True) == value


@pytest.mark.parametrize("rules", [["etag: ignore"], ["content by 30 %: major", "etag: ignore"]])
def test_lists_are_read_as_they_are_shown(rules: list[str]) -> None:
    shown = written(("pages", "signal_rules"), rules)

    assert to_json(("pages", "signal_rules"), to_setting(("pages", "signal_rules"), shown, written=True)) == rules


@given(st.dictionaries(st.sampled_from(FORM_KEYS), st.text(max_size=40)))
def test_whatever_is_typed_is_judged(form: dict[str, str]) -> None:
    filled = read_settings_form(form, {})

    assert filled.is_good or not (filled.wrong.keys() - form.keys())


def test_each_field_says_what_holds_without_it_and_where_that_comes_from() -> None:
    inherited = {key: getattr(PageSettings(), key) for key in FORM_KEYS}

    every = fields({"every": "6h"}, inherited, {"every": "tocsin.toml"})["every"]

    assert (every.own, every.inherited, every.origin) == ("6h", "24h", "tocsin.toml")
    assert choices_of("mode") == ("on", "auto", "off") or set(choices_of("mode")) == {"on", "auto", "off"}


def test_every_setting_is_listed_with_its_meaning() -> None:
    listed = [line for section in sections(Settings(), {}) for line in section.lines]

    assert len(listed) > 60
    assert all(line.meaning for line in listed)


def test_secrets_are_masked_where_settings_are_listed() -> None:
    channel = WebhookSettings(
        type="webhook", url="https://u:p@hooks.example/a/b?c", secret="whsec_1", headers={"X-Key": "k-1"}
    )

    listed = sections(Settings(channels={"ops": channel}, pages=PageSettings(auth="me:s-1", cookies={"a": "c-1"})), {})

    told = " ".join(line.value for section in listed for line in section.lines)
    assert not any(secret in told for secret in ("whsec_1", "u:p", "/a/b", "k-1", "s-1", "c-1"))
