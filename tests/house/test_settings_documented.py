from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from tocsin.configuration import flatten, load
from tocsin.configuration.template import KEYS, render_template
from tocsin.settings import Settings

SHIPPED = Path(__file__).parents[2] / "config" / "tocsin.toml"
COMMENTED = re.compile(r"(?m)^#(?=[a-z\[])")


def uncommented() -> str:
    return COMMENTED.sub("", SHIPPED.read_text(encoding="utf-8"))


def test_the_shipped_configuration_is_written_from_the_settings() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == render_template()


def test_the_shipped_configuration_changes_nothing_as_it_stands() -> None:
    assert tomllib.loads(SHIPPED.read_text(encoding="utf-8")) == {}


def test_the_shipped_values_are_the_defaults_once_taken_in(tmp_path: Path) -> None:
    text = uncommented()
    tree: dict[str, Any] = tomllib.loads(text)
    (tmp_path / "ops.secret").write_text("s")
    (tmp_path / "tocsin.toml").write_text(text.replace('url = "sqlite:tocsin.db"', ""))

    loaded = load(environ={}, cwd=tmp_path).settings

    assert sorted(loaded.channels) == sorted(tree["channels"]) == ["lines", "ops"]
    assert list(loaded.hosts.rules) == ["*.example.org", "intranet.example.org"]
    shipped = {
        key: value for key, value in flatten(loaded).items() if not key.startswith(("channels.", "hosts.rules."))
    }
    assert shipped == flatten(Settings())


def test_every_setting_has_its_comment_and_no_other_has() -> None:
    assert sorted(KEYS) == sorted(flatten(Settings()))
