"""A backup brings back pages, not people who were sent away since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.calling import Installation


def stands(installation: Installation) -> dict[str, Any]:
    return {record["name"]: record["state"] for record in installation.call("token", "list").records}


def backed_up(installation: Installation, folder: Path) -> str:
    file = str(folder / "copy.db")
    assert installation.call("store", "backup", file).status == 0
    return file


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_token_that_was_revoked_since_the_backup_stays_revoked(
    installation: Installation, tmp_path: Path, *, is_damaged: bool
) -> None:
    installation.call("token", "add", "left", "--scope", "admin")
    installation.call("token", "add", "stays", "--scope", "admin")
    copy = backed_up(installation, tmp_path)
    installation.call("token", "revoke", "left")
    if is_damaged:
        (installation.folder / "tocsin.db").write_bytes(b"no store at all" * 500)

    answer = installation.call("store", "restore", "--replace", "--yes", copy)

    assert answer.status == 0
    # Who was sent away is known only to the store that is replaced.
    assert stands(installation) == {"left": "in force" if is_damaged else "revoked", "stays": "in force"}


def test_a_backup_of_before_the_first_token_does_not_open_the_service(
    installation: Installation, tmp_path: Path
) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/")
    copy = backed_up(installation, tmp_path)
    installation.call("token", "add", "ops", "--scope", "admin")

    installation.call("store", "restore", "--replace", "--yes", copy)

    assert stands(installation) == {"ops": "in force"}
