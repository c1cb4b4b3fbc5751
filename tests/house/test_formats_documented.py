"""The two tables of formats in `docs/microdata.md` name every format, its types, its file and its profiles."""

from __future__ import annotations

import re

from tests.house.sources import ROOT
from tocsin.spec.microdata.formats.catalogue import FORMATS

CODED = re.compile(r"`([^`]+)`")
DOCUMENT = (ROOT / "docs" / "microdata.md").read_text("utf-8")


def table(second: str) -> list[list[list[str]]]:
    """The code in each cell of the table whose second column has this heading."""
    _, _, rows = DOCUMENT.partition(f"\n| format | {second} |")
    lines = rows.partition("\n\n")[0].splitlines()[2:]
    return [[CODED.findall(cell) for cell in line.strip("|").split("|")] for line in lines]


def test_the_documented_formats_are_those_that_there_are() -> None:
    rows = table("content")

    told = [way for names, *_, types, files in rows for way in zip(names, types, files, strict=True)]

    assert told == [(name, way.media_type.partition(";")[0], way.suffix) for name, way in FORMATS.items()]


def test_the_documented_profiles_of_each_format_are_those_that_there_are() -> None:
    told = {name: tuple(profiles) for names, profiles, _ in table("profiles") for name in names}

    assert told == {name: way.profiles for name, way in FORMATS.items()}
