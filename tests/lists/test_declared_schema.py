from __future__ import annotations

import json
import tomllib
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml

from tests.house.sources import ROOT
from tests.lists.declaring import A, page_row
from tocsin.errors import UsageError
from tocsin.lists.declared import TomlWriter, YamlWriter, read_declared, to_schema
from tocsin.settings import PageSettings

SHIPPED = ROOT / "config" / "pages.schema.json"
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("pages.*"))
CHECKER = jsonschema.Draft202012Validator(to_schema())


def loaded(name: str, text: str) -> Any:
    return tomllib.loads(text) if name.endswith("toml") else yaml.safe_load(text)


def test_the_shipped_schema_is_made_from_the_settings() -> None:
    assert json.loads(SHIPPED.read_text("utf-8")) == to_schema()


def test_the_schema_is_one_and_knows_every_setting_of_pages() -> None:
    jsonschema.Draft202012Validator.check_schema(to_schema())

    assert set(PageSettings.__struct_fields__) <= to_schema()["$defs"]["settings"]["properties"].keys()


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_is_valid_and_is_read(file: Any) -> None:
    text = file.read_text("utf-8")

    CHECKER.validate(loaded(file.name, text))
    found = read_declared(text.encode(), name=file.name, read_secret=lambda *_: "secret")

    assert found.pages


def test_there_are_examples_of_both_languages() -> None:
    assert [file.name for file in EXAMPLES] == ["pages.toml", "pages.yaml"]


@pytest.mark.parametrize("kind", ["toml", "yaml"])
def test_what_the_store_is_written_as_is_valid(kind: str) -> None:
    settings = {"every": "6h", "tries": 3, "retry_refused": True, "report": ["unchanged"], "headers": {"X-A": "b"}}
    page = page_row(A, group="news", text="mine", paused=True, settings={**settings, "mode": "off"})
    writer = (TomlWriter if kind == "toml" else YamlWriter)(with_secrets=True)

    CHECKER.validate(loaded(kind, writer.head({"every": "1h"}, {"news": settings}) + writer.pages([page])))


@pytest.mark.parametrize(
    "tree",
    [
        {"page": []},
        {"all": {"evry": "1h"}},
        {"all": {"every": "soon"}},
        {"all": {"mode": "maybe"}},
        {"all": {"minor_threshold": 0}},
        {"pages": [{"group": "news"}]},
        {"pages": ["ftp://example.org/"]},
        {"pages": [{"url": A, "paused": "perhaps"}]},
        {"groups": {"": {}}},
    ],
    ids=str,
)
def test_what_the_schema_refuses_the_program_refuses(tree: Any) -> None:
    with pytest.raises(UsageError):
        read_declared(json.dumps(tree).encode(), name="pages.json")

    assert not CHECKER.is_valid(tree)
