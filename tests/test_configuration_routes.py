"""`[[routes]]` and `[[silences]]`: what is read, and what is said of mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tocsin.configuration import changed_keys, load, needs_restart
from tocsin.configuration.routes import MOST_ROUTES, read_routes
from tocsin.errors import SettingsError
from tocsin.settings import MatchSettings, RouteSettings

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.settings import Settings

CHANNELS = '[channels.slack]\ntype = "stdout"\n[channels.mail-press]\ntype = "stdout"\n'


def read(folder: Path, text: str) -> Settings:
    (folder / "tocsin.toml").write_text(CHANNELS + text, encoding="utf-8")
    return load(environ={}, cwd=folder).settings


def test_a_value_may_be_one_or_a_list(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        '[[routes]]\nname = "press"\nchannels = "slack"\nmatch = { group = "press", kind = ["changed", "storm"] }\n'
        'quiet = "22:00-07:00"\ntemplate = "daily.html"\nlanguage = "de"\n'
        'continue = true\n[[routes]]\nname = "all"\nchannels = ["mail-press", "mail-press"]\n',
    )

    assert settings.routes == (
        RouteSettings(
            "press", ("slack",), MatchSettings(group=("press",), kind=("changed", "storm")), quiet=("22:00-07:00",),
            template="daily.html", language="de", continues=True,
        ),
        RouteSettings("all", ("mail-press",)),
    )  # fmt: skip


def test_a_silence_names_its_alerts_and_its_end(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        '[[silences]]\nmatch = { host = "staging.example.org" }\nuntil = 2026-12-24T18:00:00Z\nreason = "relaunch"\n',
    )

    (silence,) = settings.silences
    assert silence.until is not None
    assert (silence.match.host, silence.until.isoformat(), silence.reason) == (
        ("staging.example.org",), "2026-12-24T18:00:00+00:00", "relaunch",
    )  # fmt: skip


def test_a_running_service_takes_routes_and_silences_up(tmp_path: Path) -> None:
    before = read(tmp_path, "")
    after = read(tmp_path, '[[routes]]\nname = "a"\nchannels = "slack"\n[[silences]]\nmatch = { group = "a" }\n')

    assert changed_keys(before, after) == ["routes", "silences"]
    assert needs_restart(before, after) == []


ROUTE = '[[routes]]\nname = "a"\nchannels = "slack"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[routes]]\nchannels = "slack"\n', "routes[1]: name: it is missing, allowed is a name of letters, digits"),
        ('[[routes]]\nname = "a b"\nchannels = "slack"\n', 'routes[1] (a b): name: found "a b", allowed is a name'),
        ('[[routes]]\nname = "a"\n', "routes[1] (a): channels: none is named; give at least one"),
        (
            '[[routes]]\nname = "a"\nchannel = "slack"\n',
            "routes[1] (a): channel: unknown key; the nearest is 'channels'",
        ),
        (
            '[[routes]]\nname = "a"\nchannels = "slak"\n',
            "routes[1] (a): channels: there is no channel 'slak'; the nearest is 'slack'",
        ),
        ('[[routes]]\nname = "a"\nchannels = "zzz"\n', "there is no channel 'zzz'; known are mail-press, slack"),
        (ROUTE + ROUTE, "routes[2]: name: a route before it is called 'a'; rename one"),
        (ROUTE + 'match = { outcom = "major" }', "routes[1] (a): match.outcom: unknown key; the nearest is 'outcome'"),
        (ROUTE + 'match = { kind = "change" }', "match.kind: found \"change\"; the nearest is 'changed'"),
        (ROUTE + 'match = { host = "http://a.example" }', 'match.host: found "http://a.example", allowed is a host'),
        (ROUTE + 'match = { words = "..." }', 'match.words: found "...", allowed are words'),
        (ROUTE + "match = { group = 5 }", "match.group: found 5, allowed is a text or a list of texts"),
        (ROUTE + 'match = "press"', 'match: found "press", allowed is a table'),
        (
            ROUTE + 'match = { kind = "outage", host = "*.a.example" }',
            "it can never match: an alert of kind outage has no host",
        ),
        (ROUTE + 'match = { kind = "storm", rule = "T44" }', "it can never match: an alert of kind storm has no rule"),
        (
            ROUTE + 'match = { group = "a" }\nunless = { group = ["a", "b"] }',
            "it can never match: `unless` leaves out all",
        ),
        (ROUTE + 'quiet = "25:00-07:00"', 'quiet: found "25:00-07:00", allowed are times such as "22:00-07:00"'),
        (ROUTE + 'quiet = ["mon-fri", "sat", "sun 00:00-24:00"]', "quiet: this is all of the week, so nothing"),
        (ROUTE + 'quiet = ["00:00-12:00", "11:00-00:00"]', "quiet: this is all of the week, so nothing"),
        (ROUTE + 'digest = "0 7 * *"', 'digest: found "0 7 * *", allowed is a cron expression'),
        (ROUTE + 'digest = "0 0 30 2 *"', 'digest: found "0 0 30 2 *", allowed is a cron expression'),
        (ROUTE + 'digest = "0s"', 'digest: found "0s", allowed is a duration from 1s to 31d'),
        (ROUTE + 'at_most = "20/h"', 'at_most: found "20/h", allowed is a number for each minute, hour or day'),
        (ROUTE + 'at_most = "0 per hour"', 'at_most: found "0 per hour", allowed is a number'),
        (
            ROUTE + 'digest = "1h"\nat_most = "20 per hour"',
            "at_most: every alert of this route goes in a digest already",
        ),
        (ROUTE + 'group_by = "group"', "group_by: this route makes no digest"),
        (ROUTE + 'digest = "1h"\ngroup_by = "grup"', "group_by: found \"grup\"; the nearest is 'group'"),
        (ROUTE + 'digest = "1h"\nsay_nothing = true', "say_nothing: needs a digest at fixed times"),
        (ROUTE + 'template = "../secret.txt"', 'template: found "../secret.txt", allowed is the name of a file in'),
        (ROUTE + 'template = "mail.secret"', 'template: found "mail.secret", allowed is the name of a file in'),
        (ROUTE + 'language = "fr"', 'language: found "fr"; known are de, en'),
        (ROUTE + "language = 5", "language: found 5; known are de, en"),
        (ROUTE + 'continue = "yes"', 'continue: found "yes", allowed is true or false'),
        ("[routes]\nname = 1", "routes: allowed is a list of tables; begin each with [[routes]]"),
        ('[[silences]]\nreason = "x"', "silences[1]: match: nothing is named; say which alerts"),
        (
            '[[silences]]\nmatch = { group = "a" }\nuntil = 2026-12-24T18:00:00',
            "silences[1]: until: allowed is a time with its zone",
        ),
        (
            '[[silences]]\nmatch = { group = "a" }\nuntil = "tomorrow"',
            "silences[1]: until: allowed is a time with its zone",
        ),
        ('[[silences]]\nmatch = { kind = "outage", group = "a" }', "silences[1]: it can never match: an alert of kind"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_mend(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text)

    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{tmp_path}/tocsin.toml: ")
    assert said in line


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, '[[routes]]\nname = "a"\n[[routes]]\nname = "b"\nchannels = "slack"\nquiet = "x"\n')

    assert [line.partition("): ")[2].partition(":")[0] for line in str(caught.value).splitlines()] == [
        "channels", "quiet",
    ]  # fmt: skip


def test_ten_thousand_routes_are_refused_with_the_way_to_write_them() -> None:
    routes = [
        {"name": f"r{number}", "channels": "a", "match": {"host": f"h{number}.example"}} for number in range(10**4)
    ]

    with pytest.raises(SettingsError, match=f"found 10000, allowed are at most {MOST_ROUTES}; give one route a list"):
        read_routes(routes, "tocsin.toml")
