"""The JSON Schema of the configuration file: what it refuses, the program refuses."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from tests.conftest import ROOT
from tocsin.configuration import load
from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.schema import to_schema
from tocsin.errors import SettingsError

SHIPPED: Final = ROOT / "config" / "tocsin.schema.json"
CHECKER: Final = jsonschema.Draft202012Validator(to_schema())


def test_the_shipped_schema_is_made_from_the_settings() -> None:
    jsonschema.Draft202012Validator.check_schema(to_schema())
    assert json.loads(SHIPPED.read_text("utf-8")) == to_schema(), "write it with: python -m tocsin.configuration.schema"


@pytest.mark.parametrize("kind", our_types())
def test_each_type_of_channels_has_a_schema_that_takes_its_example(kind: str) -> None:
    example = tomllib.loads(f"[channels.x]\n{load_type(kind, ()).example}")

    assert list(CHECKER.iter_errors(example)) == []
    assert list(CHECKER.iter_errors({"channels": {"x": example["channels"]["x"] | {"ulr": "x"}}})) != []


def test_the_commented_configuration_is_taken() -> None:
    assert list(CHECKER.iter_errors(tomllib.loads((ROOT / "config/tocsin.toml").read_text("utf-8")))) == []


ROUTE: Final = {"name": "press", "channels": "ops"}


@pytest.mark.parametrize(
    "tree",
    [
        {"routes": [ROUTE | {"match": {"group": ["press"], "host": "*.example.org"}, "quiet": "sat"}]},
        {"silences": [{"match": {"host": "a.example"}, "until": "2026-12-24T18:00:00Z", "reason": "relaunch"}]},
        {"hosts": {"rules": {"*.example.org": {"delay": "10s"}}}},
        {"fetch": {"max_body": "5MiB"}, "pages": {"every": "6h", "signals": "all"}},
    ],
)
def test_what_is_right_is_taken(tree: dict[str, Any]) -> None:
    assert [error.message for error in CHECKER.iter_errors(tree)] == []


@pytest.mark.parametrize(
    "tree",
    [
        {"chanels": {}},
        {"channels": {"x": {"type": "pigeon"}}},
        {"channels": {"x": {"url": "https://a.example/"}}},
        {"channels": {"x": {"type": "mail", "port": "25"}}},
        {"channels": {"x": {"type": "mqtt", "qos": 7}}},
        {"routes": [ROUTE | {"mach": {}}]},
        {"routes": [ROUTE | {"continue": "yes"}]},
        {"routes": [ROUTE | {"group_by": ["grup"]}]},
        {"pages": {"every": "soon"}},
    ],
)
def test_what_the_schema_refuses_the_program_refuses(tmp_path: Path, tree: dict[str, Any]) -> None:
    assert list(CHECKER.iter_errors(tree)) != []

    file = tmp_path / "tocsin.toml"
    file.write_text(toml_of(tree), "utf-8")
    with pytest.raises(SettingsError):
        load(environ={}, cwd=tmp_path)


def toml_of(tree: dict[str, Any]) -> str:
    """A tree as inline tables of TOML."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(key)} = {written(inner)}" for key, inner in value.items()) + "}"
        return json.dumps(value)

    return "".join(f"{key} = {written(value)}\n" for key, value in tree.items())
