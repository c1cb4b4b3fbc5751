"""Channels and routes that were made at run time: what is read, what is shown of them, and how they join the others."""

from __future__ import annotations

from typing import Any

import pytest

from tocsin.adapters.channels.stdout import StdoutSettings
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.configuration.routes import MOST_ROUTES
from tocsin.configuration.saved import (
    demand_room,
    fields_of,
    plain_settings,
    read_channel,
    read_route,
    shown_settings,
    with_secrets,
)
from tocsin.errors import FieldErrors, SettingsError
from tocsin.model import Saved, SavedEntry
from tocsin.model.saved import merge
from tocsin.settings import RouteSettings, Settings, unread_channels

HOOK = {
    "type": "webhook",
    "url": "https://hooks.example/T0",
    "secret": "raw:a-key",
    "headers": {"X-Team": "web"},
}
SHOWN = {"type": "webhook", "url": "https://hooks.example/***", "secret": "***", "headers": {"X-Team": "***"}}


def entry(kind: Any, name: str, **settings: Any) -> SavedEntry:
    return SavedEntry(kind, name, settings, 1, 0, "kim")


def refused(name: str, given: dict[str, Any], *, files: bool = False) -> tuple[tuple[str, str], ...]:
    with pytest.raises(FieldErrors) as found:
        read_channel(name, given, (), files=files)
    return found.value.errors


@pytest.mark.parametrize(
    ("given", "key", "words"),
    [
        ({}, "type", "missing"),
        ({"type": "webhok"}, "type", "did you mean 'webhook'"),
        ({"type": "webhook", "ulr": "x"}, "ulr", "the nearest known key is url"),
        ({"type": "webhook", "timeout": "soon"}, "timeout", "a duration from"),
        ({"type": "webhook", "url": "ftp://x.example"}, "url", "http"),
        ({"type": "webhook", "secret": "raw:x\0y"}, "secret", "control characters"),
        ({"type": "webhook", "secret": "x" * 30_000}, "secret", "at most 20,000"),
        ({"type": "file", "path": "/etc/passwd"}, "path", "a file of the machine that Tocsin runs on"),
    ],
)
def test_each_mistake_names_its_key_and_the_mend(given: dict[str, Any], key: str, words: str) -> None:
    ((found, text),) = refused("ops", given)

    assert found == key
    assert words in text
    assert str(given.get("secret", "no secret")) not in text


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "a\u202eb", "x" * 300])
def test_a_name_that_no_channel_may_have_is_refused_as_in_the_configuration(name: str) -> None:
    ((key, text),) = refused(name, HOOK)

    assert key == "name"
    assert text.isprintable()


def test_a_command_may_name_a_file_a_client_of_the_api_may_not() -> None:
    assert read_channel("log", {"type": "file", "path": "x.jsonl"}, (), files=True).address() == "x.jsonl"


def test_values_of_a_form_are_texts() -> None:
    typed = {"type": "webhook", "url": "https://a.example/", "timeout": "5s", "headers": '{ "X-Team" = "web" }'}

    made = read_channel("ops", typed, (), files=False, written=True)

    assert isinstance(made, WebhookSettings)
    assert (made.timeout.total_seconds(), made.headers) == (5, {"X-Team": "web"})


def test_what_a_form_sent_is_stored_so_that_it_is_read_again() -> None:
    typed = {"type": "webhook", "url": "https://a.example/", "timeout": "5s", "headers": '{ "X-Team" = "web" }'}
    made = read_channel("ops", typed, (), files=False, written=True)

    plain = plain_settings("ops", made, typed)

    assert read_channel("ops", plain, (), files=True) == made


def test_a_secret_is_shown_as_a_mask_and_a_mask_that_comes_back_keeps_it() -> None:
    assert shown_settings("ops", HOOK, WebhookSettings) == SHOWN

    assert with_secrets("ops", {**SHOWN, "timeout": "5s"}, HOOK, ()) == {**HOOK, "timeout": "5s"}
    assert with_secrets("ops", {**SHOWN, "secret": "raw:new"}, HOOK, ()) == {**HOOK, "secret": "raw:new"}
    headers = {"X-Team": "***", "X-New": "a"}
    assert with_secrets("ops", {**SHOWN, "headers": headers}, HOOK, ())["headers"] == {"X-Team": "web", "X-New": "a"}


def test_a_secret_that_is_kept_is_never_sent_to_another_host() -> None:
    with pytest.raises(FieldErrors, match="type this secret again"):
        with_secrets("ops", {**SHOWN, "url": "https://elsewhere.example/"}, HOOK, ())

    typed = {"type": "webhook", "url": "https://elsewhere.example/", "secret": "raw:new"}
    assert with_secrets("ops", typed, HOOK, ()) == typed


def test_another_type_keeps_no_secret_of_the_one_before() -> None:
    assert with_secrets("ops", {"type": "stdout", "secret": "***"}, HOOK, ()) == {"type": "stdout", "secret": "***"}


def test_saved_channels_join_those_of_the_file_and_saved_routes_come_after_its_own() -> None:
    settings = Settings(channels={"log": StdoutSettings(type="stdout")}, routes=(RouteSettings("all", ("log",)),))
    saved = Saved(1, (entry("channel", "ops", **HOOK),), (entry("route", "press", channels=["ops", "log"]),))

    merged = merge(settings, saved)

    assert list(merged.settings.channels) == ["log", "ops"]
    assert [route.name for route in merged.settings.routes] == ["all", "press"]
    assert merge(settings, Saved()).settings is settings


@pytest.mark.parametrize("kind", ["channel", "route"])
def test_a_name_that_is_in_the_file_and_in_the_store_is_an_error_that_says_so(kind: str) -> None:
    settings = Settings(channels={"a": StdoutSettings(type="stdout")}, routes=(RouteSettings("a", ("a",)),))
    again = (entry(kind, "a", type="stdout"),)

    with pytest.raises(SettingsError, match=f"{kind}s.a: the configuration has .* kim .*tocsin {kind} remove a"):
        merge(settings, Saved(1, again if kind == "channel" else (), again if kind == "route" else ()))


def test_what_this_program_cannot_use_stops_nothing_else() -> None:
    saved = Saved(
        1,
        (entry("channel", "old", type="pigeon"), entry("channel", "out", type="stdout")),
        (entry("route", "lost", channels=["gone"]), entry("route", "all", channels=["out", "old"])),
    )

    merged = merge(Settings(), saved)

    assert "pigeon" in unread_channels(merged.settings)["old"]
    assert [route.name for route in merged.settings.routes] == ["all"]
    assert list(merged.unusable) == ["lost"]
    assert "there is no channel 'gone'" in merged.unusable["lost"]


@pytest.mark.parametrize(
    ("given", "key", "words"),
    [
        ({}, "channels", "none is named"),
        ({"channels": ["ops"], "matsch": {}}, "matsch", "the nearest is 'match'"),
        ({"channels": ["ops"], "match": {"knd": "x"}}, "match.knd", "unknown key"),
        ({"channels": ["ops"], "digest": "soon"}, "digest", "cron"),
        ({"channels": ["opps"]}, "channels", "the nearest is 'ops'"),
        ({"channels": ["ops"], "match": {"host": "a\x1bb"}}, "match.host", "control characters"),
    ],
)
def test_each_mistake_of_a_route_names_its_key_and_the_mend(given: dict[str, Any], key: str, words: str) -> None:
    with pytest.raises(FieldErrors) as found:
        read_route("press", given, ["ops"])

    ((where, text),) = found.value.errors
    assert where == key
    assert words in text


def test_routes_and_channels_have_a_limit() -> None:
    demand_room("route", MOST_ROUTES - 1)
    with pytest.raises(SettingsError, match="allowed are at most 1000; give one route a list"):
        demand_room("route", MOST_ROUTES)


def test_a_form_is_made_from_the_class_of_settings() -> None:
    fields = {field.key: field for field in fields_of(WebhookSettings)}

    assert next(iter(fields)) == "url"
    assert list(fields)[-1] == "timeout"
    assert (fields["secret"].kind, fields["headers"].kind, fields["timeout"].default) == ("secret", "table", "15s")
    assert "signs what is sent" in fields["secret"].hint
