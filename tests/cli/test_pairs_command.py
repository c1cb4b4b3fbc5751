from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.pairs.__main__ import main as write_pairs
from tests.cli.terminal import on_terminal
from tocsin.cli.__main__ import run

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = "<!doctype html><title>t</title><meta property=article:modified_time content=2025-01-01><p>The same words."
AFTER = BEFORE.replace("2025-01-01", "2025-01-02")


def put(folder: Path, name: str, old: str = BEFORE, new: str = BEFORE) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "old.html").write_text(old)
    (folder / name / "new.html").write_text(new)


def told(capsys: pytest.CaptureFixture[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return lines[:-1], lines[-1]["summary"]


def test_each_pair_of_an_index_is_judged_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "a", new=AFTER)
    put(tmp_path, "b")
    (tmp_path / "pairs.csv").write_text("name,label,kind,size\na,edit,date,sentence\nb,noise,nothing,\n")

    status = run(["compare", "--pairs", str(tmp_path), "--json"])

    pairs, summary = told(capsys)
    assert status == 0
    assert [(pair["pair"], pair["told"], pair["right"]) for pair in pairs] == [("a", True, True), ("b", False, True)]
    assert [(row["group"], row["pairs"], row["wrong"]) for row in summary["groups"]] == [
        ("edit", 1, 0),
        ("noise", 1, 0),
    ]


def test_without_an_index_the_folder_above_says_what_a_pair_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "edit/one", new=AFTER)
    put(tmp_path, "noise/two")
    put(tmp_path, "other/three")

    run(["compare", "--pairs", str(tmp_path), "--json"])

    pairs, _ = told(capsys)
    assert [(pair["pair"], pair["label"]) for pair in pairs] == [
        ("edit/one", "edit"),
        ("noise/two", "noise"),
        ("other/three", None),
    ]


def test_more_than_one_percent_wrong_is_a_status_of_1(tmp_path: Path) -> None:
    put(tmp_path, "noise/told", new=AFTER)

    assert run(["compare", "--pairs", str(tmp_path), "--json"]) == 1


def test_pairs_without_labels_are_only_listed(tmp_path: Path) -> None:
    put(tmp_path, "mine", new=AFTER)

    status, said = on_terminal("compare", "--pairs", ".", cwd=tmp_path)

    assert status == 0
    assert "mine: reported: article:modified_time changed" in said


def test_a_person_is_told_which_pairs_are_wrong_and_why(tmp_path: Path) -> None:
    put(tmp_path, "noise/wrong", new=AFTER)

    status, said = on_terminal("compare", "--pairs", ".", cwd=tmp_path)

    assert status == 1
    assert "1 (100.0%)" in said
    assert "noise/wrong: noise: article:modified_time changed" in said


def test_a_page_that_no_parser_may_be_given_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "noise/deep", new="<p>" + "<meta>" * 200_000)
    put(tmp_path, "noise/plain")

    assert run(["compare", "--pairs", str(tmp_path), "--json"]) == 0
    said = capsys.readouterr()
    assert "noise/deep: left out: " in said.err
    assert len(said.out.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        (["--pairs", "."], "contains no pairs; each is a folder with old.html and new.html"),
        (["a", "b", "--pairs", "."], "name a folder of pairs, or two pages"),
        (["a"], "name two pages, OLD and NEW, or a folder of pairs"),
        (["a", "b", "--rule", "etag: ignore"], "need --pairs"),
        (["--pairs", ".", "--look-at", "p["], "write a CSS selector"),
        (["--pairs", ".", "--rule", "moon: major"], "there is no signal 'moon'"),
    ],
)
def test_a_call_that_makes_no_sense_is_told_with_the_mend(
    arguments: list[str], mend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(["compare", *arguments]) == 2
    assert mend in capsys.readouterr().err


@pytest.mark.parametrize(
    ("index", "mend"),
    [
        ("name,label\na,good\n", "pairs.csv, line 2: write the columns name, label, kind, size"),
        ("name,label\nnowhere,edit\n", "must hold old.html and new.html"),
    ],
)
def test_an_index_that_is_wrong_is_told_with_the_mend(
    index: str, mend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pairs.csv").write_text(index)

    assert run(["compare", "--pairs", str(tmp_path)]) == 2
    assert mend in capsys.readouterr().err


def test_what_the_generator_writes_can_be_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pairs([str(tmp_path / "made"), "--count", "6", "--seed", "3"])

    run(["compare", "--pairs", str(tmp_path / "made"), "--json"])

    pairs, summary = told(capsys)
    assert [pair["label"] for pair in pairs] == ["noise", "edit"] * 3
    assert summary["cpu_ms_per_page"] > 0


def test_rules_and_selectors_hold_for_all_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (f"<meta property=og:updated_time content=2025-01-0{day}><p>The same words." for day in (1, 2))
    put(tmp_path, "noise/one", old, new)

    assert (
        run(["compare", "--pairs", str(tmp_path), "--rule", "open-graph.updated: ignore", "--ignore", "p", "--json"])
        == 0
    )
    pairs, _ = told(capsys)
    assert "your rule: open-graph.updated: ignore" in pairs[0]["why"]
