"""The worked examples of a document, written anew: `python -m tests.docs.worked`.

A block of one command is followed by a block of what it says; that is what this writes, and what a test compares.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from click.testing import CliRunner

from tests.house.sources import ROOT
from tocsin.cli.__main__ import tocsin

DOCUMENT: Final = ROOT / "docs" / "microdata.md"
PAIR: Final = re.compile(r"^```sh\n(tocsin .*)\n```\n\n```(\w+)\n((?:.*\n)*?)```$", re.MULTILINE)
_NOW: Final = re.compile(r"(DTSTAMP;VALUE=DATE-TIME:)\d{8}T\d{6}Z")


def said(command: str) -> str:
    """What a command says; the time of the day as the document has it."""
    _, *words = shlex.split(command)
    words[-1] = str(ROOT / "docs" / "examples" / words[-1])
    answer = CliRunner().invoke(tocsin, words, catch_exceptions=False, standalone_mode=False)
    assert answer.exit_code == 0, answer.stderr
    text = answer.stdout_bytes.decode().replace("\r\n", "\n").replace(words[-1], command.rpartition(" ")[2])
    return _NOW.sub(r"\g<1>20260304T120000Z", text.rstrip("\n") + "\n")


def examples(text: str) -> Iterator[tuple[str, str]]:
    """Go through a document's commands, each with what the document says that it says."""
    for pair in PAIR.finditer(text):
        yield pair[1], pair[3]


def main() -> None:
    """Write them anew."""
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(
        PAIR.sub(lambda pair: f"```sh\n{pair[1]}\n```\n\n```{pair[2]}\n{said(pair[1])}```", text), "utf-8"
    )


if __name__ == "__main__":
    main()
