"""Tokens from the command line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tocsin.adapters.stores import open_store
from tocsin.configuration.tokens import is_token

if TYPE_CHECKING:
    from tests.cli.calling import Installation
    from tocsin.model import AuditEntry


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
