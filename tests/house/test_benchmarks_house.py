"""The figures of the house say what they promise, on sources made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.house import text, ways


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    def write(name: str, content: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    write("app/a.py", '"""A."""\n\nfrom app.part import Span\nfrom app.shared import one\n\n\nclass Line:\n    pass\n')
    write("app/b.py", "from app import shared  # why\n\n\nclass Line:\n    def long(self) -> int:\n        return 1\n")
    write("app/part.py", "# A reason.\nclass Span:\n    pass\n")
    write("app/shared.py", "one = 1\n")
    write("other/far.py", "import app.alone\n")
    write("app/alone.py", "two = 2\n")
    return tmp_path


def test_a_splinter_is_a_module_that_only_a_neighbour_imports(sources: Path) -> None:
    assert text.splinters(text.read(sources)) == ["app.part"]


def test_a_repeated_class_is_a_name_that_two_files_define(sources: Path) -> None:
    assert text.repeated_classes(text.read(sources)) == ["Line"]


def test_lines_comments_and_functions_are_counted_as_in_the_text(sources: Path) -> None:
    measured = {file.module: file for file in text.read(sources)}

    assert [measured["app.b"].lines, measured["app.b"].code_lines, measured["app.b"].comment_lines] == [6, 4, 1]
    assert measured["app.b"].longest_function == 2
    assert text.comment_share([measured["app.part"]]) == 50


def test_vague_subjects_are_counted_in_text_that_people_read(sources: Path) -> None:
    (sources / "notes.md").write_text("Nobody knows; somebodys does not count, whoever asks.", "utf-8")
    (sources / "picture.png").write_bytes(b"nobody \xff")

    assert text.count_vague(sources, "*.md", "app") == 2


def test_each_way_enters_the_files_that_tell_it(tmp_path: Path) -> None:
    entered = ways.follow(tmp_path)

    assert {"engine/visiting/visit.py", "engine/judging/judge.py", "engine/alerting/delivery.py"} <= entered[
        "a check up to its alert"
    ]
    assert "cli/watch/command.py" in entered["watch list"]
    assert "server/api/pages.py" in entered["GET /api/v1/pages"]
    assert "engine/visiting/visit.py" not in entered["watch list"]
