from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from tocsin.configuration import parse_page_settings, resolve_page, resolve_page_origins
from tocsin.errors import SettingsError
from tocsin.settings import PageSettings

BASE = PageSettings(mode="auto", tries=7)


def test_the_nearest_setting_wins() -> None:
    settings = resolve_page(BASE, {"every": "6h", "tell": "major"}, {"every": "5h", "tries": 1}, {"every": "4h"})

    assert settings.every == timedelta(hours=4)
    assert settings.tries == 1
    assert settings.tell == "major"
    assert settings.mode == "auto"


def test_without_settings_of_its_own_a_page_has_the_very_settings_of_the_configuration() -> None:
    assert resolve_page(BASE, {}, {}, None) is BASE


def test_of_interval_and_cron_the_nearer_one_wins() -> None:
    base = msgspec.structs.replace(BASE, cron="0 6 * * *")

    assert resolve_page(base, {}, {"every": "6h"}, None).cron == ""
    assert resolve_page(base, {"every": "6h"}, {}, {"cron": "0 7 * * *"}).cron == "0 7 * * *"
    assert resolve_page(base, {}, {"cron": "0 8 * * *"}, {"every": "1h"}).cron == ""


def test_origins_say_which_level_decided() -> None:
    origins = resolve_page_origins(
        {"pages.mode": "/etc/tocsin.toml"}, {"tell": "major"}, {"every": "6h"}, {"minor_threshold": 1}
    )

    assert origins["mode"] == "/etc/tocsin.toml"
    assert origins["tell"] == "all pages"
    assert origins["every"] == origins["cron"] == "group"
    assert origins["minor_threshold"] == "page"
    assert origins["tries"] == "default"


def test_a_store_that_holds_what_cannot_be_is_told_of() -> None:
    with pytest.raises(SettingsError, match=r"store, settings of the group: pages\.every"):
        resolve_page(BASE, {}, {"every": "0s"}, None)


def test_settings_of_a_command_line_are_made_ready_for_the_store() -> None:
    given = {"every": "90m", "tries": "3", "report": "unchanged,too-soon", "retry_refused": "yes", "mode": "off"}

    assert parse_page_settings(given) == {
        "every": "90m",
        "tries": 3,
        "report": ["unchanged", "too-soon"],
        "retry_refused": True,
        "mode": "off",
    }


def test_what_was_made_ready_for_the_store_is_read_from_it() -> None:
    values = parse_page_settings({"every": "90m", "headers": '{"A" = "b"}', "report": "unchanged"})

    settings = resolve_page(PageSettings(), {}, {}, values)

    assert (settings.every, settings.headers, settings.report) == (timedelta(minutes=90), {"A": "b"}, ("unchanged",))


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"every": "0"}, '--every: pages.every: found "0"'),
        ({"every": "365000d"}, "--every"),
        ({"cron": "whenever"}, "--cron"),
        ({"every": "6h", "cron": "0 6 * * *"}, "exclude each other"),
        ({"min_gap": "soon"}, "--min-gap"),
        ({"mod": "on"}, "the nearest known key is pages.mode"),
    ],
)
def test_a_setting_of_a_command_line_that_cannot_be_used_names_its_option(given: dict[str, str], word: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_page_settings(given)

    assert word in str(caught.value)


def test_a_number_too_large_is_refused_with_the_largest() -> None:
    with pytest.raises(SettingsError, match=r"--minor-threshold: .*a whole number from 1 to 1000000"):
        parse_page_settings({"minor_threshold": "99999999999999999999999"})


@pytest.mark.parametrize("key", ["look_at", "ignore"])
def test_selectors_are_checked_when_they_are_set(key: str) -> None:
    assert parse_page_settings({key: "main, #price"}) == {key: "main, #price"}
    assert parse_page_settings({key: ""}) == {key: ""}
    with pytest.raises(SettingsError, match='CSS selectors such as "main, #price"'):
        parse_page_settings({key: "main >>> p["})


@pytest.mark.parametrize(
    ("key", "good", "bad", "mend"),
    [
        ("fetch", ["http", "browser", "auto"], ["chrome", ""], '"browser"'),
        ("ready", ["network", "dom", "css: main .price", "3s", "60s"], ["", "load", "61s", "0s", "3", "css:"], "css: "),
        ("ready", [], ["css: main >>> p["], 'write a CSS selector behind "css:"'),
        ("consent", ["none", "reject"], ["accept"], '"reject"'),
    ],
)
def test_how_a_page_is_read_is_checked_when_it_is_set(key: str, good: list[str], bad: list[str], mend: str) -> None:
    for text in good:
        assert parse_page_settings({key: text}) == {key: text}
    for text in bad:
        with pytest.raises(SettingsError, match=mend):
            parse_page_settings({key: text})


@pytest.mark.parametrize(
    ("steps", "mend"),
    [
        (["scroll"] * 21, "a list of at most 20"),
        (["scroll", f"click .{'a' * 500}"], "step 2, column 501: a step has at most 500 characters"),
        (["scroll", "click a["], 'step 2, column 7: "a\\[" is no CSS selector'),
        (["fill #user ada!"], "step 1, column 12: this cannot name a secret"),
    ],
)
def test_steps_are_checked_when_they_are_set(steps: list[str], mend: str) -> None:
    assert parse_page_settings({"steps": "click a, .more, wait #list"}) == {"steps": ["click a, .more", "wait #list"]}
    with pytest.raises(SettingsError, match=mend):
        parse_page_settings({"steps": "\n".join(steps)})


def test_secrets_of_a_page_have_names() -> None:
    assert parse_page_settings({"secrets": '{USER = "ada"}'}) == {"secrets": {"USER": "ada"}}
    with pytest.raises(SettingsError, match="a name of letters, digits, _") as caught:
        parse_page_settings({"secrets": '{"my password" = "p4ss"}'})
    assert "p4ss" not in str(caught.value)


def test_rules_for_signals_are_checked_when_they_are_set() -> None:
    given = "JSON-LD version: major, ignore ETag"

    assert parse_page_settings({"signal_rules": given}) == {"signal_rules": ["JSON-LD version: major", "ignore ETag"]}
    with pytest.raises(SettingsError, match=r"there is no signal 'json-ld\.colour'"):
        parse_page_settings({"signal_rules": "json-ld.colour: major"})


@pytest.mark.parametrize("fetch", ["http", "auto"])
def test_a_rule_about_the_picture_of_a_page_that_no_browser_reads_is_refused(fetch: str) -> None:
    rule = {"signal_rules": "picture by 5 %: minor"}

    assert parse_page_settings(rule | {"fetch": "browser"})["fetch"] == "browser"
    assert parse_page_settings(rule)["signal_rules"] == ["picture by 5 %: minor"]
    assert parse_page_settings({"signal_rules": "content: minor", "fetch": fetch})["fetch"] == fetch
    with pytest.raises(SettingsError, match="only a browser sees the picture; set fetch to browser"):
        parse_page_settings(rule | {"fetch": fetch})
