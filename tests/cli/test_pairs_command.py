from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pairs.__main__ import main as write_pairs
from tests.cli.terminal import on_terminal
from tocsin.cli.__main__ import run

BEFORE = "<!doctype html><title>t</title><meta property=article:modified_time content=2025-01-01><p>The same words."
AFTER = BEFORE.replace("2025-01-01", "2025-01-02")
CHALLENGE = (
    "<!doctype html><title>Just a moment...</title><meta name=robots content=noindex><h1>Checking your browser</h1>"
    "<script src=/cdn-cgi/challenge-platform/h/b/orchestrate.js></script>"
)


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


def test_an_index_with_sites_gives_the_mean_of_their_shares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        put(tmp_path / "pairs", name, new=AFTER if name == "a" else BEFORE)
    (tmp_path / "pairs.csv").write_text("name,label,site\na,noise,one\nb,noise,two\nc,noise,two\n")

    run(["compare", "--pairs", str(tmp_path), "--json"])

    pairs, summary = told(capsys)
    assert [pair["site"] for pair in pairs] == ["one", "two", "two"]
    assert summary["means"] == [{"group": "noise", "by": "site", "count": 2, "wrong": 0.5}]


def test_without_sites_the_mean_is_that_of_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "a", new=AFTER)
    (tmp_path / "pairs.csv").write_text("name,label,kind\na,noise,date\n")

    run(["compare", "--pairs", str(tmp_path), "--json"])

    assert told(capsys)[1]["means"] == [{"group": "noise", "by": "kind", "count": 1, "wrong": 1.0}]


@pytest.mark.parametrize(
    ("label", "right"), [("block", True), ("edit", False), ("noise", True)], ids=["block", "edit", "noise"]
)
def test_another_page_in_the_place_of_the_page_is_suspected_and_not_told(
    label: str, *, right: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(f"<p>The harbour of town {n} was repaired by its people, who paid for it." for n in range(9))
    put(tmp_path, "a", f"<!doctype html><title>Harbours</title>{text}", CHALLENGE)
    (tmp_path / "pairs.csv").write_text(f"name,label\na,{label}\n")

    run(["compare", "--pairs", str(tmp_path), "--json"])

    (pair,), summary = told(capsys)
    assert (pair["told"], pair["right"], pair["suspect"].partition(":")[0]) == (False, right, "challenge")
    assert summary["groups"][0]["suspects"] == 1


def test_the_times_of_both_versions_say_how_far_apart_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "a", BEFORE, BEFORE)
    head = "name,received_before,received\n"
    (tmp_path / "pairs.csv").write_text(f"{head}a,2025-01-01,2026-01-01T06:00:00Z\n")

    run(["compare", "--pairs", str(tmp_path), "--json"])

    # After the durational threshold, an equal state is told again.
    assert [(pair["told"], pair["why"]) for pair in told(capsys)[0]] == [(True, "T45")]


def test_what_the_index_does_not_say_is_taken_from_the_one_beside_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clocks = [f"<!doctype html><title>Město</title><p>Dnes je {day}. dubna 2026 a svítí slunce." for day in (6, 7)]
    for name in ("a", "b"):
        put(tmp_path / "pairs", name, *clocks)
    (tmp_path / "pairs" / "pairs.csv").write_text("name,label\na,noise\nb,noise\n")
    times = "2026-04-06T08:00:00Z,2026-04-07T08:00:00Z"
    (tmp_path / "pairs.csv").write_text(
        f"name,label,site,received_before,received\na,noise,example.com,{times}\nb,edit,example.org,{times}\n"
    )

    run(["compare", "--pairs", str(tmp_path / "pairs"), "--json"])

    pairs, _ = told(capsys)
    # The label of b is another one there, so that it is another pair.
    assert [(pair["site"], pair["told"]) for pair in pairs] == [("example.com", False), (None, True)]


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
        ("name,label\na,good\n", "pairs.csv, line 2: write the columns name, label, kind, size, site"),
        (
            "name,label,received\na,edit,soon\n",
            "pairs.csv, line 2: 'soon' is no time; write it as 2026-05-01T14:30:00Z",
        ),
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


def test_pairs_can_be_edits_of_pages_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prose = (
        "<p>Each day 12 people cross the bridge, as we have counted in spring; a ferry will take its place then.</p>"
    )
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text(
        f"<!doctype html><title>t</title><nav>{prose}</nav>{prose}".replace("12", "13", 1)
    )
    (tmp_path / "pages" / "b.html").write_bytes(b"<!doctype html><p>\xff")

    write_pairs([str(tmp_path / "pairs"), "--of", str(tmp_path / "pages")])

    run(["compare", "--pairs", str(tmp_path / "pairs"), "--json"])
    pairs, _ = told(capsys)
    assert [(pair["kind"], pair["size"], pair["right"]) for pair in pairs] == [
        ("paragraph of a page", "sentence", True),
        ("figure of a page", "number", True),
    ]
