"""`tocsin store copy`: what it says, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.calling import Installation
from tests.postgres import postgres


@pytest.fixture
def database() -> Iterator[str]:
    """An empty database."""
    postgres().command("create database moved")
    yield postgres().url("moved")
    postgres().command("drop database moved with (force)")


def test_a_list_is_the_same_after_it_was_copied(installation: Installation, database: str) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/a", "https://example.org/b")
    here = f"sqlite:{installation.folder / 'tocsin.db'}"
    listed = installation.call("watch", "export").out

    answer = installation.call("store", "copy", here, database)

    (record,) = answer.records
    assert (answer.status, record["pages"], record["rows"]["hosts"], record["replaced"]) == (0, 2, 1, 0)
    assert (record["source"], record["target"]) == (here, database)
    assert installation.call("--store", database, "watch", "export").out == listed


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("tocsin.db", "postgresql://kim@db.example/tocsin", "SOURCE names no store; give a store such as"),
        ("sqlite:a.db", "postgresql://kim:s3cret@db.example/tocsin", "TARGET names no store; give a URL without a pas"),
        ("sqlite:a.db", "sqlite:b.db", "one of the two must be sqlite:PATH and the other postgresql://"),
    ],
)
def test_what_is_no_pair_of_stores_is_refused(installation: Installation, source: str, target: str, said: str) -> None:
    answer = installation.call("store", "copy", source, target)

    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert "s3cret" not in answer.err
