"""`tocsin compare --sequences`: how many alerts sequences of versions give, and how soon noise is learnt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import on_terminal
from tests.engine.watching import FIRST, NEWS, SECOND, page
from tocsin.cli.__main__ import run

SHAPE = "site,sequence,version,received,label\n"
WORDS = ("Anchor", "Beacon", "Compass", "Dinghy", "Ensign", "Fender", "Galley", "Hawser", "Inlet", "Jetty", "Keel")


def put(folder: Path, name: str, *versions: bytes) -> None:
    (folder / name).mkdir(parents=True)
    for number, body in enumerate(versions):
        (folder / name / f"{number:02}.html").write_bytes(body)


def rotating(word: str, *paragraphs: str) -> bytes:
    """A page with a box that shows another word each time."""
    return page(*paragraphs).replace(b"</main>", f"<div>{word}</div></main>".encode())


def measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    assert run(["compare", "--sequences", str(folder), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return lines[:-1], lines[-1]["summary"]


def told_of(sequence: dict[str, Any]) -> list[int]:
    return [version["number"] for version in sequence["versions"] if version["told"]]


def test_versions_are_judged_with_what_was_learnt_of_those_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "harbour/0", *[rotating(word) for word in WORDS])

    ((sequence,), (before, after)) = measured(tmp_path, capsys)

    assert told_of(sequence) == [2, 3, 4]
    assert sequence["muted"] == ["text: “Keel”"]
    assert (before["versions"], before["told"], before["alerts_a_month"]) == (9, 3, 10.0)
    assert (after["versions"], after["told"], after["alerts_a_month"]) == (1, 0, 0.0)


def test_a_change_that_pages_of_a_site_share_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notice = "The harbour is closed from Monday on, until the storm has passed."
    for number in range(5):
        put(tmp_path, f"harbour/{number}", page(WORDS[number]), page(WORDS[number], notice))

    sequences, (before, _) = measured(tmp_path, capsys)

    assert [told_of(sequence) for sequence in sequences] == [[2], [2], [2], [], []]
    assert [version["shared"] for sequence in sequences for version in sequence["versions"]] == [False] * 3 + [True] * 2
    assert before["told"] == 3


def test_what_is_muted_on_five_pages_of_a_site_is_muted_on_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(5):
        put(tmp_path, f"harbour/{number}", *[rotating(f"{word} {WORDS[number]}") for word in WORDS[:4]])
    put(tmp_path, "harbour/5", *[rotating(word) for word in ("Oar", "Oar", "Oar", "Oar", "Pier", "Quay")])

    sequences, _ = measured(tmp_path, capsys)

    assert [told_of(sequence) for sequence in sequences] == [[2, 3, 4]] * 5 + [[]]


def test_an_index_says_when_each_version_was_received_and_which_are_edits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "sequences/harbour_office/0", page(FIRST), page(FIRST, SECOND), page(FIRST, SECOND))
    rows = "harbour office,0,2,2026-01-03T08:00:00Z,edit\nharbour office,0,1,2026-01-02,edit\n"
    (tmp_path / "sequences.csv").write_text(f"{SHAPE}{rows}harbour office,0,0,2026-01-01T08:00:00+01:00,\n")

    ((sequence,), (before, _)) = measured(tmp_path, capsys)
    below, _ = measured(tmp_path / "sequences", capsys)

    assert (sequence["sequence"], told_of(sequence)) == ("harbour office/0", [2])
    assert (before["edits"], before["edits_lost"], before["noise_told"]) == (2, 1, 0)
    assert below == [sequence]


def test_a_person_sees_a_table_and_the_versions_that_were_told(tmp_path: Path) -> None:
    put(tmp_path, "harbour/0", page(FIRST), page(FIRST, NEWS))

    status, said = on_terminal("compare", "--sequences", ".", cwd=tmp_path)

    assert status == 0
    assert "versions 2 to 10" in said
    assert "harbour/0: alerts at versions 2; muted: 0" in said


def test_a_version_that_no_parser_may_be_given_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "harbour/0", page(FIRST), b"<html a>" * 100_000 + b"<meta name=created content=2026>")
    put(tmp_path, "harbour/1", page(FIRST), page(FIRST))

    assert run(["compare", "--sequences", str(tmp_path), "--json"]) == 0
    said = capsys.readouterr()

    assert "harbour/0, version 2: left out: " in said.err
    assert json.loads(said.out.splitlines()[-1])["summary"][0]["versions"] == 1


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        (["--sequences", "."], "contains no sequences; each is a folder SITE/N with versions 00.html, 01.html"),
        (["a", "b", "--sequences", "."], "--sequences does not go with OLD and NEW"),
        (["--sequences", ".", "--look-at", "main"], "--sequences does not go with OLD and NEW, --look-at"),
        (["--sequences", ".", "--pairs", "."], "--pairs does not go with"),
    ],
)
def test_a_call_that_makes_no_sense_is_told_with_the_mend(
    arguments: list[str], mend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(["compare", *arguments]) == 2
    assert mend in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("row", ["harbour,0,0,yesterday,", "harbour,0,first,2026-01-01,", "harbour,0,0,2026-01-01,new"])
def test_an_index_that_cannot_be_read_is_told_with_its_line(
    row: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "harbour/0", page(FIRST))
    (tmp_path / "sequences.csv").write_text(f"{SHAPE}{row}\n")

    assert run(["compare", "--sequences", str(tmp_path)]) == 2
    assert "sequences.csv, line 2: write the columns site, sequence, version, received, label" in " ".join(
        capsys.readouterr().err.split()
    )
