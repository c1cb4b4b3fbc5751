"""Credentials of pages, tokens of the API, and what servers say: none of it reaches a terminal as it came."""

from __future__ import annotations

import asyncio

import pytest

from tests.cli.calling import Installation
from tests.origin import Origin, Page, RawOrigin
from tocsin.adapters.stores import open_store
from tocsin.configuration.tokens import is_token
from tocsin.model import AuditEntry

SECRETS = ("s3cret", "pr0xy", "t0ken", "h00k", "l0cation")
CHANNEL = """
[log]
level = "debug"
format = "{format}"
[channels.lines]
type = "file"
path = "alerts.jsonl"
[channels.ops]
type = "webhook"
url = "http://ann:h00k@127.0.0.1:1/h00k?key=h00k"
secret = "raw:h00k-is-long-enough-to-sign-with"
"""
EVIL = "\x1b[31m\x07"
LINES: tuple[tuple[str, ...], ...] = (
    ("watch", "list"),
    ("watch", "list", "--json"),
    ("attention", "list"),
    ("attention", "list", "--json"),
    ("alerts", "list"),
    ("alerts", "list", "--json"),
    ("watch", "export"),
    ("watch", "export", "--format", "csv"),
    ("watch", "export", "--format", "opml"),
    ("table", "export"),
    ("channel", "list"),
    ("doctor",),
    ("doctor", "--json"),
    ("channel", "test", "ops"),
)


async def said(installation: Installation, *calls: tuple[str, ...]) -> str:
    """All that these calls of the program write, one after the other."""
    answers = [await asyncio.to_thread(installation.call, *arguments) for arguments in calls]
    return "".join(answer.out + answer.err for answer in answers)


@pytest.mark.parametrize("log_format", ["human", "json"])
async def test_T64_credentials_show_up_nowhere_whatever_happens_to_their_page(
    installation: Installation, log_format: str
) -> None:
    installation.configure(CHANNEL.format(format=log_format))
    moved = b"HTTP/1.1 301 Moved\r\nLocation: http://bob:l0cation@127.0.0.1:1/gone\r\nContent-Length: 0\r\n\r\n"
    circle = b"HTTP/1.1 302 Moved\r\nLocation: http://bob:l0cation@127.0.0.1:%d/c\r\nContent-Length: 0\r\n\r\n"
    file = b"HTTP/1.1 302 Moved\r\nLocation: ftp://bob:l0cation@a.example/\r\nContent-Length: 0\r\n\r\n"
    async with RawOrigin(moved) as one, RawOrigin(file) as two, RawOrigin(b"") as proxy, Origin() as origin:
        origin.pages["/c"] = Page("", status=302, headers={"Location": (circle % origin.port).decode().split()[4]})
        moved_page, *others = one.url("/a"), two.url("/b"), origin.url("/c")
        shown = await said(
            installation,
            *(("watch", "add", url.replace("//", "//ann:s3cret@")) for url in (moved_page, *others)),
            ("watch", "set", moved_page, "--proxy", f"http://ann:pr0xy@127.0.0.1:{proxy.port}"),
            ("watch", "set", moved_page, "--auth", "Bearer t0ken"),
            *(("check", "--json"), ("check",)) * 2,
            *LINES,
            *(("history", url) for url in (moved_page, *others)),
        )

    delivered = (installation.folder / "alerts.jsonl").read_text(encoding="utf-8")
    assert [secret for secret in SECRETS if secret in shown + delivered] == []
    assert "unreachable" in shown
    assert "unreachable" in delivered


@pytest.mark.parametrize("log_format", ["human", "json"])
async def test_what_a_server_says_never_reaches_the_terminal_as_it_came(
    installation: Installation, log_format: str
) -> None:
    installation.configure(CHANNEL.format(format=log_format))
    raw = f"HTTP/1.1 200 {EVIL}\r\nContent-Type: text/plain{EVIL}\r\nX: {EVIL}\r\nContent-Length: 9\r\n\r\n%PDF-1.4 "
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 32\r\n\r\n<meta name=created content=2026>"
    busy = f"HTTP/1.1 503 {EVIL}\r\nRetry-After: {EVIL}\r\nLocation: {EVIL}\r\nContent-Length: 0\r\n\r\n".encode()
    async with RawOrigin(page, raw.encode(), busy, f"{EVIL}\r\n\r\n".encode()) as origin:
        installation.configure(CHANNEL.format(format=log_format) + '[hosts.rules."127.0.0.1"]\nrobots = "ignore"\n')
        watched = ("watch", "add", origin.url("/a"))
        shown = await said(installation, watched, *(("check",),) * 4, *LINES, ("history", origin.url("/a")))

    assert "suspect" in shown
    assert "\x1b[31m" not in shown
    assert "\x07" not in shown


async def audit(installation: Installation) -> tuple[AuditEntry, ...]:
    async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=False) as store:
        return (await store.audit()).rows


def test_a_token_is_shown_once_and_listed_without_its_secret(installation: Installation) -> None:
    made = installation.call("token", "add", "grafana")
    listed = installation.call("token", "list")

    (record,) = made.records
    assert is_token(record["token"])
    assert (record["name"], record["scope"], record["expires_at"]) == ("grafana", "read", None)
    assert record["token"] not in listed.out
    assert "token" not in listed.records[0]
    assert [row["state"] for row in listed.records] == ["in force"]


def test_a_token_may_be_in_force_for_a_time(installation: Installation) -> None:
    made = installation.call("token", "add", "guest", "--scope", "write", "--expires", "90d")

    (record,) = made.records
    assert record["scope"] == "write"
    assert record["expires_at"] > record["created_at"]
    assert record["state"] == "in force"


def test_a_revoked_token_stays_listed_and_its_name_is_free_again(installation: Installation) -> None:
    installation.call("token", "add", "feeds")
    revoked = installation.call("token", "revoke", "feeds")
    again = installation.call("token", "add", "feeds")

    assert revoked.records[0]["state"] == "revoked"
    assert again.status == 0
    assert [row["state"] for row in installation.call("token", "list").records] == ["revoked", "in force"]


def test_two_tokens_in_force_have_two_names(installation: Installation) -> None:
    installation.call("token", "add", "feeds")
    second = installation.call("token", "add", "feeds")

    assert second.status == 2
    assert "feeds" in second.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", ""),
        ("add", "x" * 65),
        ("add", "a\x1bb"),
        ("add", "a", "--scope", "all"),
        ("add", "a", "--expires", "yesterday"),
        ("revoke", "nobody"),
    ],
)
def test_what_cannot_be_is_refused_with_2(installation: Installation, arguments: tuple[str, ...]) -> None:
    installation.call("token", "add", "somebody")

    answer = installation.call("token", *arguments)

    assert answer.status == 2
    assert answer.err


def test_who_made_and_revoked_tokens_stands_in_the_audit_log(installation: Installation) -> None:
    installation.call("token", "add", "feeds", "--scope", "admin")
    installation.call("token", "revoke", "feeds")

    assert [(entry.who, entry.what, entry.detail["name"]) for entry in asyncio.run(audit(installation))] == [
        ("command line", "token.revoke", "feeds"),
        ("command line", "token.add", "feeds"),
    ]
