from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.configuration import Loaded, changed_keys, load, mask, needs_restart
from tocsin.configuration.convert import ChannelName
from tocsin.errors import SettingsError
from tocsin.settings import Settings, why_unread


def load_from(
    folder: Path,
    text: str | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, tuple[str, str]] | None = None,
) -> Loaded:
    if text is not None:
        (folder / "tocsin.toml").write_text(text, encoding="utf-8")
    return load(environ=environ or {}, cwd=folder, overrides=overrides)


def complaint_of(folder: Path, text: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        load_from(folder, text, environ)
    return str(caught.value)


def webhook_in(loaded: Loaded, name: str = "ops") -> WebhookSettings:
    channel = loaded.settings.channels[name]
    assert isinstance(channel, WebhookSettings)
    return channel


def secret_in(folder: Path, file: str) -> str:
    """A channel's secret that this file is to hold."""
    loaded = load_from(folder, f'[channels.ops]\ntype = "webhook"\nsecret_file = "{file}"\n')
    return webhook_in(loaded).secret


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    loaded = load_from(tmp_path)

    assert loaded.settings == Settings()
    assert loaded.file is None
    assert set(loaded.origins.values()) == {"default"}


def test_a_file_wins_over_the_default_and_is_named_as_origin(tmp_path: Path) -> None:
    loaded = load_from(tmp_path, '[pages]\nevery = "6h"\n')

    assert loaded.settings.pages.every == timedelta(hours=6)
    assert loaded.origins["pages.every"] == str(tmp_path / "tocsin.toml")
    assert loaded.origins["pages.mode"] == "default"


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    loaded = load_from(tmp_path, '[pages]\nevery = "6h"\n', {"TOCSIN_PAGES__EVERY": "2h"})

    assert loaded.settings.pages.every == timedelta(hours=2)
    assert loaded.origins["pages.every"] == "TOCSIN_PAGES__EVERY"


def test_the_command_line_wins_over_the_environment(tmp_path: Path) -> None:
    loaded = load_from(tmp_path, None, {"TOCSIN_STORE__URL": "sqlite:a.db"}, {"store.url": ("sqlite:b.db", "--store")})

    assert loaded.settings.store.url == "sqlite:b.db"
    assert loaded.origins["store.url"] == "--store"


def test_nested_keys_can_be_given_in_the_environment(tmp_path: Path) -> None:
    environ = {
        "TOCSIN_FETCH__DEADLINES__DNS": "3s",
        "TOCSIN_CHANNELS__OPS__TYPE": "webhook",
        "TOCSIN_CHANNELS__OPS__URL": "https://example.org/hook",
        "TOCSIN_FETCH__MAX_BODY": "512KiB",
        "TOCSIN_FETCH__FETCHERS": "2",
        "TOCSIN_PAGES__RETRY_REFUSED": "true",
    }

    loaded = load_from(tmp_path, None, environ)

    settings = loaded.settings
    assert settings.fetch.deadlines.dns == timedelta(seconds=3)
    assert webhook_in(loaded).url == "https://example.org/hook"
    assert settings.fetch.max_body == 512 * 1024
    assert settings.fetch.fetchers == 2
    assert settings.pages.retry_refused is True


def test_a_variable_finds_the_channel_of_the_file_that_it_can_only_spell_in_capitals(tmp_path: Path) -> None:
    text = '[channels.ops-Team]\ntype = "webhook"\n'

    loaded = load_from(tmp_path, text, {"TOCSIN_CHANNELS__OPS_TEAM__URL": "https://example.org/"})

    assert webhook_in(loaded, "ops-Team").url == "https://example.org/"


@pytest.mark.parametrize("value", ["unchanged, too-soon", '["unchanged", "too-soon"]', "unchanged,too-soon"])
def test_a_list_in_the_environment_is_toml_or_separated_by_commas(tmp_path: Path, value: str) -> None:
    settings = load_from(tmp_path, None, {"TOCSIN_PAGES__REPORT": value}).settings

    assert settings.pages.report == ("unchanged", "too-soon")


def test_a_section_in_the_environment_is_a_toml_table(tmp_path: Path) -> None:
    environ = {"TOCSIN_HOSTS__RULES": '{"*.example.org" = {delay = "5s"}}'}

    settings = load_from(tmp_path, None, environ).settings

    assert settings.hosts.rules["*.example.org"].delay == timedelta(seconds=5)


def test_an_empty_variable_gives_nothing(tmp_path: Path) -> None:
    loaded = load_from(tmp_path, None, {"TOCSIN_PAGES__EVERY": ""})

    assert loaded.settings.pages.every == timedelta(hours=24)


def test_variables_of_an_orchestrator_are_no_settings(tmp_path: Path) -> None:
    environ = {"TOCSIN_PORT": "tcp://10.0.0.1:80", "TOCSIN_SERVICE_HOST": "10.0.0.1"}

    loaded = load_from(tmp_path, None, environ)

    assert loaded.settings == Settings()
    assert loaded.doubts == ()


def test_a_variable_that_looks_like_a_setting_is_doubted(tmp_path: Path) -> None:
    loaded = load_from(tmp_path, None, {"TOCSIN_STORE_URL": "sqlite:a.db"})

    assert loaded.doubts == ("TOCSIN_STORE_URL is not read; write TOCSIN_STORE__URL if you mean that setting",)


def test_an_unknown_key_names_its_source_and_the_nearest_known_one(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, '[pages]\nevry = "6h"\n')

    assert text == f"{tmp_path}/tocsin.toml: pages.evry: unknown key; the nearest known key is pages.every"


def test_an_unknown_section_names_the_nearest_known_one(tmp_path: Path) -> None:
    assert "the nearest known key is pages" in complaint_of(tmp_path, '[page]\nevery = "6h"\n')


def test_an_unknown_variable_names_the_nearest_known_key(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, None, {"TOCSIN_PAGES__EVRY": "6h"})

    assert text == "TOCSIN_PAGES__EVRY: pages.evry: unknown key; the nearest known key is pages.every"


def test_a_key_below_a_value_is_unknown(tmp_path: Path) -> None:
    assert "pages.every.seconds: unknown key" in complaint_of(tmp_path, None, {"TOCSIN_PAGES__EVERY__SECONDS": "6"})


@pytest.mark.parametrize(
    ("text", "found", "allowed"),
    [
        ('[pages]\nevery = "0"', 'pages.every: found "0"', "a duration from 1s to 3650d"),
        ('[pages]\nevery = "0s"', 'pages.every: found "0s"', "a duration from 1s to 3650d"),
        ('[pages]\nevery = "365000d"', 'pages.every: found "365000d"', "a duration from 1s to 3650d"),
        ('[pages]\nevery = "999999999999w"', "pages.every: found", "a duration"),
        ("[pages]\nevery = 6", "pages.every: found 6", "a duration"),
        ('[pages]\nevery = "6 hours"', 'pages.every: found "6 hours"', "a duration"),
        ("[pages]\ntries = true", "pages.tries: found true", "a whole number from 0 to 100"),
        ('[pages]\ntries = "2"', 'pages.tries: found "2"', "a whole number from 0 to 100"),
        ("[pages]\ntries = 101", "pages.tries: found 101", "a whole number from 0 to 100"),
        ("[pages]\nminor_threshold = 0", "pages.minor_threshold: found 0", "a whole number from 1 to 1000000"),
        ("[pages]\nminor_threshold = 99999999999999999999999", "pages.minor_threshold: found 9999", "1 to 1000000"),
        ('[pages]\nmode = "yes"', 'pages.mode: found "yes"', '"auto", "off", "on"'),
        ('[pages]\nretry_refused = "no"', 'pages.retry_refused: found "no"', "true or false"),
        ('[pages]\nreport = "unchanged"', "pages.report: found", "a list"),
        ('[pages]\ncron = "0 6 * *"', "pages.cron: found", "a cron expression of five fields"),
        ('[pages]\ncron = "0 0 31 2 *"', "pages.cron: found", "a cron expression"),
        ('[pages]\nheaders = { "A B" = "x" }', "pages.headers: allowed is", "the name of a header"),
        ('[pages]\nheaders = { A = "x\\ny" }', "pages.headers: allowed is", "without control characters"),
        ('[instance]\ntime_zone = "Mars/Olympus"', "instance.time_zone: found", "Europe/Berlin"),
        ('[instance]\ntime_zone = "../etc/passwd"', "instance.time_zone: found", "Europe/Berlin"),
        ('[instance]\nname = "A host"', "instance.name: found", "a name of a-z"),
        ('[instance]\ncontact = "a\\r\\nX: y"', "instance.contact: found", "without control characters"),
        ('[network]\nallow = ["10.0.0.1/8"]', "network.allow: found", 'write "10.0.0.0/8"'),
        ('[network]\nallow = ["home"]', "network.allow: found", "a network such as"),
        ('[fetch]\nmax_body = "10 MB!"', "fetch.max_body: found", "a size from 1 bytes to 1024GiB"),
        ('[fetch]\nmax_body = "0B"', "fetch.max_body: found", "a size from 1 bytes to 1024GiB"),
        ('[fetch]\nfetchers = "many"', "fetch.fetchers: found", '"auto" or a whole number from 0 to 1000'),
        ("[fetch]\nmax_body = 9999999999999", "fetch.max_body: found 9999999999999", "1024GiB"),
        ('[store]\nurl = "mysql:x"', "store.url: found", "sqlite:tocsin.db"),
        ('[store]\nurl = "postgresql:db"', "store.url: found", "postgresql://tocsin@db.example/tocsin"),
        ('[store]\nurl = "postgresql://a:b@db/c"', "store.url: found", "without a password, which belongs into"),
        ('[store]\nurl = "postgresql://db/c?password=b"', "store.url: found", "store.password_file"),
        ('[http]\nlisten = "127.0.0.1:99999"', "http.listen: found", "an address and port"),
        ('[http]\npublic_url = "example.org"', "http.public_url: found", "https://example.org/"),
        ('[hosts.rules."https://example.org"]\ndelay = "1s"', 'found "https://example.org"', "*.example.org"),
        ('[hosts]\nrobots = "ignore"', 'hosts.robots: found "ignore"', 'allowed is "obey"'),
        ("[store]\nparts = 100", "store.parts: found 100", "a divisor of 4096"),
        ('[cluster]\nlease = "4s"', 'cluster.lease: found "4s"', "from 5s to 5m"),
        ('[cluster]\nnode = "a b"', 'cluster.node: found "a b"', "letters, digits"),
        ("[render]\nlimit = 2\nresume_at = 3", "render.resume_at: found 3", "at most render.limit, which is 2"),
        ('[browser]\ndeadlines = { ready = "40s" }', "browser.deadlines.ready: found 40s", "which is 30s"),
        ('[browser]\nsocket = "/run/render.sock"', 'browser.socket: found "/run/render.sock"', "unix:/run/"),
        (f'[browser]\nsocket = "unix:/{"r" * 107}"', "browser.socket: found", "at most 107 characters"),
        (
            '[store]\nurl = "postgresql://db/t"\n[render]\nscreenshot = true',
            "render.screenshot: a store on PostgreSQL has no folder for pictures",
            "set store.pictures",
        ),
        (
            '[store]\nurl = "postgresql://db/t"\n[pages]\nsignal_rules = ["picture: minor"]',
            "pages.signal_rules: a store on PostgreSQL has no folder for pictures",
            "set store.pictures",
        ),
        ("[browser]\nslots = 0", "browser.slots: found 0", "a whole number from 1 to 64"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_is_allowed(
    tmp_path: Path, text: str, found: str, allowed: str
) -> None:
    complaint = complaint_of(tmp_path, text)

    assert complaint.startswith(f"{tmp_path}/tocsin.toml: ")
    assert found in complaint
    assert allowed in complaint


def test_every_wrong_value_is_named_at_once(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, '[pages]\nevery = "0"\ntries = -1\n')

    assert [line.split(": ")[1] for line in text.splitlines()] == ["pages.every", "pages.tries"]


def test_a_section_that_is_a_value_is_told(tmp_path: Path) -> None:
    assert "pages: this is a section" in complaint_of(tmp_path, "pages = 3\n")


def test_a_channel_without_a_type_is_told(tmp_path: Path) -> None:
    assert "channels.ops: type is missing" in complaint_of(tmp_path, '[channels.ops]\nurl = "https://example.org/"\n')


def test_an_interval_beside_a_cron_expression_is_refused(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, '[pages]\nevery = "6h"\ncron = "0 6 * * *"\n')

    assert "pages.every and pages.cron exclude each other" in text


def test_an_interval_of_the_environment_wins_over_a_cron_expression_of_the_file(tmp_path: Path) -> None:
    loaded = load_from(tmp_path, '[pages]\ncron = "0 6 * * *"\n', {"TOCSIN_PAGES__EVERY": "6h"})

    assert loaded.settings.pages.cron == ""
    assert loaded.origins["pages.cron"] == "TOCSIN_PAGES__EVERY"


@pytest.mark.parametrize("text", ["[pages", "a = 1\na = 2", "\x00"])
def test_what_is_not_toml_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    complaint = complaint_of(tmp_path, text)

    assert complaint.startswith(f"{tmp_path}/tocsin.toml: not TOML: ")
    assert "line" in complaint


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tocsin.toml").write_bytes(b"# caf\xe9\n")

    assert "not UTF-8 at byte 5" in complaint_of(tmp_path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "tocsin.toml").write_bytes(b"\xef\xbb\xbf[pages]\r\ntries = 5\r\n")

    assert load_from(tmp_path).settings.pages.tries == 5


def test_a_file_nested_without_end_is_refused(tmp_path: Path) -> None:
    assert "tocsin.toml: " in complaint_of(tmp_path, "a = " + "[" * 100_000)


def test_the_file_named_on_the_command_line_comes_first(tmp_path: Path) -> None:
    (tmp_path / "tocsin.toml").write_text("[pages]\ntries = 1\n")
    (tmp_path / "environ.toml").write_text("[pages]\ntries = 4\n")
    (tmp_path / "named.toml").write_text("[pages]\ntries = 5\n")

    loaded = load(environ={"TOCSIN_CONFIG": "environ.toml"}, cwd=tmp_path, config="named.toml")

    assert loaded.settings.pages.tries == 5


def test_the_file_named_in_the_environment_comes_before_those_looked_for(tmp_path: Path) -> None:
    (tmp_path / "tocsin.toml").write_text("[pages]\ntries = 1\n")
    (tmp_path / "environ.toml").write_text("[pages]\ntries = 4\n")

    assert load(environ={"TOCSIN_CONFIG": "environ.toml"}, cwd=tmp_path).settings.pages.tries == 4


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_the_users_configuration_folder_is_looked_into(tmp_path: Path, variable: str) -> None:
    folder = tmp_path / ("tocsin" if variable == "XDG_CONFIG_HOME" else ".config/tocsin")
    folder.mkdir(parents=True)
    (folder / "tocsin.toml").write_text("[pages]\ntries = 7\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    assert load(environ={variable: str(tmp_path)}, cwd=elsewhere).settings.pages.tries == 7


def test_a_named_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--config: .*/none\.toml: there is no such file"):
        load(environ={}, cwd=tmp_path, config="none.toml")


def test_names_in_the_file_are_meant_from_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "etc"
    folder.mkdir()
    text = '[store]\nurl = "sqlite:a.db"\n[channels.lines]\ntype = "file"\npath = "out.jsonl"\n'
    (folder / "tocsin.toml").write_text(text)

    settings = load(environ={}, cwd=tmp_path, config="etc/tocsin.toml").settings

    assert settings.store.url == f"sqlite:{folder}/a.db"
    assert settings.channels["lines"].address() == f"{folder}/out.jsonl"


@pytest.mark.parametrize(
    "url", ["postgresql://tocsin@db.example:5432/tocsin", "postgresql://tocsin@a:1,b:2/tocsin", "postgresql:///tocsin"]
)
def test_the_url_of_a_server_in_the_file_stays_as_it_is(tmp_path: Path, url: str) -> None:
    (tmp_path / "tocsin.toml").write_text(f'[store]\nurl = "{url}"\n')

    assert load(environ={}, cwd=tmp_path, config="tocsin.toml").settings.store.url == url


def test_a_secret_is_read_from_its_file_without_its_line_end(tmp_path: Path) -> None:
    (tmp_path / "ops.secret").write_bytes(b" s3cret \r\n")
    text = '[channels.ops]\ntype = "webhook"\nsecret_file = "ops.secret"\n'

    assert webhook_in(load_from(tmp_path, text)).secret == " s3cret "


def test_a_secret_file_can_be_named_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "ops.secret").write_text("s3cret\n")
    environ = {"TOCSIN_CHANNELS__OPS__TYPE": "webhook", "TOCSIN_CHANNELS__OPS__SECRET_FILE": "ops.secret"}

    assert webhook_in(load_from(tmp_path, None, environ)).secret == "s3cret"


@pytest.mark.parametrize(
    ("body", "reason"),
    [(None, "there is no such file"), (b"", "the file is empty"), (b"\xff", "not UTF-8"), (b"x" * 70_000, "longer")],
)
def test_a_secret_file_that_cannot_be_used_is_told_of(tmp_path: Path, body: bytes | None, reason: str) -> None:
    if body is not None:
        (tmp_path / "ops.secret").write_bytes(body)

    secret = secret_in(tmp_path, "ops.secret")

    assert f"channels.ops.secret_file: {tmp_path}/ops.secret: {reason}" in (why_unread(secret) or "")


def test_a_secret_file_that_is_a_folder_is_told_of(tmp_path: Path) -> None:
    secret = secret_in(tmp_path, ".")

    assert "this is a folder" in (why_unread(secret) or "")


def test_a_missing_secret_of_a_channel_names_the_command_that_makes_one(tmp_path: Path) -> None:
    secret = secret_in(tmp_path, "ops.secret")

    assert "`tocsin channel secret ops`" in (why_unread(secret) or "")


@pytest.mark.parametrize(
    ("section", "key", "body"),
    [
        ("pages", "auth", None),
        ("pages", "proxy", None),
        ("pages", "proxy", "no address"),
        ("channels.ops", "url", None),
        ("channels.ops", "url", "no address"),
        ("channels.ops", "secret", None),
    ],
)
def test_a_file_with_a_secret_that_cannot_be_used_stops_only_what_needs_it(
    tmp_path: Path, section: str, key: str, body: str | None
) -> None:
    if body is not None:
        (tmp_path / "a.file").write_text(body)
    text = f'[{section}]\n{key}_file = "a.file"\n' + ('type = "webhook"\n' if section == "channels.ops" else "")

    settings = load_from(tmp_path, text).settings

    value = getattr(settings.pages if section == "pages" else settings.channels["ops"], key)
    why = why_unread(value) or ""
    assert f"tocsin.toml: {section}.{key}_file: {tmp_path}/a.file: " in why
    assert body is None or body not in why
    path = (section, key) if section == "pages" else ("channels", ChannelName("ops", WebhookSettings), key)
    assert mask(path, value) == "(its file cannot be read)"


def test_a_value_of_the_environment_takes_the_place_of_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    environ = {"TOCSIN_PAGES__AUTH": "me:secret"}

    settings = load_from(tmp_path, '[pages]\nauth_file = "a.file"\n', environ).settings

    assert settings.pages.auth == "me:secret"


def test_a_file_of_the_environment_that_cannot_be_read_never_leaves_the_value_below_in_force(tmp_path: Path) -> None:
    environ = {"TOCSIN_PAGES__PROXY_FILE": "a.file"}

    settings = load_from(tmp_path, '[pages]\nproxy = "http://other.example:3128"\n', environ).settings

    assert "TOCSIN_PAGES__PROXY_FILE: pages.proxy_file: " in (why_unread(settings.pages.proxy) or "")


def test_a_secret_with_a_NUL_is_refused(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, '[channels.ops]\ntype = "webhook"\nsecret = "\\u0000why"\n')

    assert "channels.ops.secret: allowed is text without the character NUL" in text


def test_a_secret_beside_its_file_is_refused(tmp_path: Path) -> None:
    text = '[channels.ops]\ntype = "webhook"\nsecret = "a"\nsecret_file = "b"\n'

    assert "not both" in complaint_of(tmp_path, text)


def test_a_wrong_secret_is_not_repeated(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, '[pages]\nauth = "user:pass\\nword"\n')

    assert "pages.auth: allowed is" in text
    assert "word" not in text.replace("password", "")


def test_changed_keys_are_those_that_differ(tmp_path: Path) -> None:
    new = load_from(tmp_path, '[pages]\nevery = "6h"\n[channels.lines]\ntype = "file"\n').settings

    assert [key for key in changed_keys(Settings(), new) if not key.startswith("channels.")] == ["pages.every"]
    assert "channels.lines.type" in changed_keys(Settings(), new)


def test_what_is_built_into_connections_and_files_needs_a_restart(tmp_path: Path) -> None:
    text = '[pages]\nevery = "6h"\n[store]\nbatch_rows = 5\n[instance]\nname = "b"\n[fetch]\nin_flight = 5\n'
    new = load_from(tmp_path, text).settings

    assert needs_restart(Settings(), new) == ["fetch.in_flight", "instance.name", "store.batch_rows"]
