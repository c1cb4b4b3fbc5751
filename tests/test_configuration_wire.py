"""Settings that shape connections: certificates, proxies, and headers that are not the user's to set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.configuration import flatten, load, needs_restart, parse_page_settings
from tocsin.errors import SettingsError
from tocsin.settings import Settings

FINGERPRINT = "sha256:" + 32 * "0a"
PRINTED = "sha256:" + ":".join(32 * ["0A"])


def settings_of(folder: Path, text: str) -> Settings:
    (folder / "tocsin.toml").write_text(text, encoding="utf-8")
    return load(environ={}, cwd=folder).settings


def complaint_of(folder: Path, text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        settings_of(folder, text)
    return str(caught.value)


@pytest.mark.parametrize("fingerprint", [FINGERPRINT, PRINTED])
@pytest.mark.parametrize("host", ["host.example", "127.0.0.1", "[::1]"])
def test_a_certificate_is_accepted_for_a_host(tmp_path: Path, host: str, fingerprint: str) -> None:
    settings = settings_of(tmp_path, f'[hosts.rules."{host}"]\ncertificate = "{fingerprint}"')

    assert settings.hosts.rules[host].certificate == fingerprint
    assert fingerprint in flatten(settings).values()


@pytest.mark.parametrize("fingerprint", ["", "sha256:", FINGERPRINT[:-1], f"{FINGERPRINT}0", FINGERPRINT[7:], "any"])
def test_what_is_no_fingerprint_is_refused_with_the_mend(tmp_path: Path, fingerprint: str) -> None:
    complaint = complaint_of(tmp_path, f'[hosts.rules."host.example"]\ncertificate = "{fingerprint}"')

    assert 'hosts.rules."host.example".certificate' in complaint
    assert "64 hexadecimal digits" in complaint


@pytest.mark.parametrize("section", ['[hosts.rules."*.example.org"]', "[hosts]", "[fetch]", "[pages]"])
def test_a_certificate_is_never_accepted_for_more_than_one_host(tmp_path: Path, section: str) -> None:
    complaint = complaint_of(tmp_path, f'{section}\ncertificate = "{FINGERPRINT}"')

    assert "a certificate is accepted for one host, never for" in complaint
    assert "[hosts.rules." in complaint


def test_a_certificate_that_changed_needs_a_restart(tmp_path: Path) -> None:
    new = settings_of(tmp_path, f'[hosts.rules."host.example"]\ncertificate = "{FINGERPRINT}"\ndelay = "5s"')

    assert needs_restart(Settings(), new) == ['hosts.rules."host.example".certificate']


@pytest.mark.parametrize(
    "proxy", ["http://proxy.example:3128", "http://u:p@proxy.example:3128", "https://proxy.example"]
)
def test_an_http_proxy_is_taken(tmp_path: Path, proxy: str) -> None:
    assert settings_of(tmp_path, f'[pages]\nproxy = "{proxy}"').pages.proxy == proxy


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks4", "SOCKS"])
def test_a_socks_proxy_is_refused_when_the_settings_are_read_and_its_password_not_shown(
    tmp_path: Path, scheme: str
) -> None:
    text = f"{scheme}://ann:secret@proxy.example:1080"
    complaint = complaint_of(tmp_path, f'[pages]\nproxy = "{text}"')

    assert "pages.proxy" in complaint
    assert "SOCKS is not supported" in complaint
    assert "secret" not in complaint
    with pytest.raises(SettingsError, match="SOCKS is not supported"):
        parse_page_settings({"proxy": text})


@pytest.mark.parametrize("name", ["If-None-Match", "Range", "Content-Length", "transfer-encoding", "Connection"])
def test_headers_that_would_change_what_an_answer_means_are_not_the_users(tmp_path: Path, name: str) -> None:
    complaint = complaint_of(tmp_path, f'[pages]\nheaders = {{ "{name}" = "x" }}')

    assert f"any header but {name}, which Tocsin sets itself" in complaint
