"""Notification URLs of changedetection.io become channels and routes that can be appended to the configuration."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import Installation
from tests.lists.exporting import APPLICATION, NEWS, ONE, TWO, A, B, archive, watch
from tocsin.adapters.channels.apprise import AppriseSettings
from tocsin.configuration import load
from tocsin.lists import open_list
from tocsin.lists.entries import ListedChannels
from tocsin.settings import Settings

SLACK, NTFY, JSON = "slack://TokenA/TokenB/TokenC", "ntfy://example.org/alerts", 'json://example.org/in?+X-Key="é\\'


def application(*urls: str, tag: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    settings = {"schema_version": 26, "notification_urls": list(urls)} | more
    settings["tags"] = {NEWS: {"title": "News", "uuid": NEWS, "notification_urls": list(tag)}}
    return {"settings": {"application": settings}}


def channels_of(body: bytes) -> ListedChannels | None:
    _, items = open_list(io.BytesIO(body), name="export")
    return next((item for item in items if isinstance(item, ListedChannels)), None)


def settings_of(body: bytes, folder: Path) -> Settings:
    """Load a configuration to which the channels of an export were appended."""
    found = channels_of(body)
    assert found is not None
    (folder / "tocsin.toml").write_text(f'[instance]\nname = "mine"\n\n{found.toml}')
    return load(environ={}, cwd=folder).settings


def urls_by_name(settings: Settings) -> dict[str, str]:
    return {name: each.url for name, each in settings.channels.items() if isinstance(each, AppriseSettings)}


@pytest.mark.parametrize("is_archive", [True, False])
def test_urls_of_watches_tags_and_all_become_routes_in_the_order_in_which_they_counted(
    tmp_path: Path, *, is_archive: bool
) -> None:
    settings = application(NTFY, tag=(SLACK,))
    first = watch(A, notification_urls=[JSON, NTFY], tags=[NEWS])
    second = watch(B, tags=[NEWS])
    if is_archive:
        body = archive({"changedetection.json": settings, f"{ONE}/watch.json": first, f"{TWO}/watch.json": second})
    else:
        body = json.dumps({"watching": {ONE: first, TWO: second}} | settings).encode()

    loaded = settings_of(body, tmp_path)

    assert urls_by_name(loaded) == {"ntfy-1": NTFY, "slack-1": SLACK, "json-1": JSON}
    assert [(each.match.url, each.match.group, each.channels) for each in loaded.routes] == [
        ((A,), (), ("json-1", "ntfy-1")),
        ((), ("News",), ("slack-1",)),
        ((), (), ("ntfy-1",)),
    ]


def test_watches_with_the_same_urls_share_a_route(tmp_path: Path) -> None:
    body = json.dumps(
        {"watching": {ONE: watch(A, notification_urls=[SLACK]), TWO: watch(B, notification_urls=[SLACK])}}
    )

    (route,) = settings_of(body.encode(), tmp_path).routes

    assert (route.match.url, route.channels) == ((A, B), ("slack-1",))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mailto://me:hush@example.org", "a channel of type mail"),
        ("posts://example.org/hush", "a channel of type webhook"),
        ("json://example.org/{{watch_url}}/hush", "a template"),
        ("hush", "no URL of Apprise"),
    ],
)
def test_a_url_without_a_counterpart_is_a_comment_that_says_why(tmp_path: Path, url: str, why: str) -> None:
    body = json.dumps({"watching": {ONE: watch(A, notification_urls=[url, SLACK])}} | application(url)).encode()

    found = channels_of(body)

    assert found is not None
    assert why in found.toml
    assert "hush" not in found.toml
    assert [each.channels for each in settings_of(body, tmp_path).routes] == [("slack-1",)]


@pytest.mark.parametrize(
    "changes", [{}, {"notification_urls": None}, {"notification_urls": [SLACK], "notification_muted": True}]
)
def test_an_export_without_urls_names_no_channels(changes: dict[str, Any]) -> None:
    assert channels_of(json.dumps({"watching": {ONE: watch(A, **changes)}} | APPLICATION).encode()) is None


@pytest.mark.parametrize(("urls", "told"), [([A], "1 watch, of all watches"), ([A, B], "2 watches, of all watches")])
def test_what_has_urls_is_counted_in_words(urls: list[str], told: str) -> None:
    watching = dict(zip((ONE, TWO), (watch(url, notification_urls=[JSON]) for url in urls), strict=False))

    found = channels_of(json.dumps({"watching": watching} | application(SLACK)).encode())

    assert found is not None
    assert found.told == f"notification URLs of {told}"


def test_the_command_writes_them_into_a_new_file_of_the_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Installation(tmp_path)
    made.configure("")
    monkeypatch.chdir(tmp_path)
    backup = {"changedetection.json": application(SLACK), f"{ONE}/watch.json": watch(A)}
    (tmp_path / "backup.zip").write_bytes(archive(backup))

    offered = made.call("watch", "import", "backup.zip", "--dry-run")
    written = made.call("watch", "import", "backup.zip", "--channels", "new.toml")
    again = made.call("watch", "import", "backup.zip", "--channels", "new.toml")

    assert "notification URLs of all watches; `tocsin watch import FILE --channels NEW.toml`" in offered.err
    assert "append it to tocsin.toml" in written.err
    assert "TokenA" not in offered.err + written.err + written.out
    assert SLACK in (tmp_path / "new.toml").read_text()
    assert (tmp_path / "new.toml").stat().st_mode & 0o777 == 0o600
    assert "the file exists" in again.err
