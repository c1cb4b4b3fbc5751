from __future__ import annotations

import re

from tests.house.sources import ROOT
from tocsin.spec.lint.check import MOST_FINDINGS
from tocsin.spec.lint.page import MOST_TOKENS
from tocsin.spec.lint.rules import RULES

DOCUMENT = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([A-Z]+-?[0-9]{2}) \| (error|warning) \| (.*) \| (.*) \|$", re.MULTILINE)


def test_the_documented_rules_are_those_that_there_are() -> None:
    rows = [
        (name, level, *(text.replace("&lt;", "<") for text in told)) for name, level, *told in ROW.findall(DOCUMENT)
    ]

    assert rows == [(name, rule.level.value, rule.promise, rule.help) for name, rule in RULES.items()]


def test_the_documented_bounds_are_those_that_there_are() -> None:
    assert f"at most {MOST_FINDINGS:,} findings are told, of one attribute at most {MOST_TOKENS:,} tokens" in DOCUMENT
