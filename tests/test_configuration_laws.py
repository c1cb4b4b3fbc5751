from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tocsin.configuration import flatten, parse
from tocsin.configuration.loading import Layer, from_environ, from_tree
from tocsin.errors import SettingsError
from tocsin.settings import Settings

KEYS = sorted(
    {part for key in flatten(Settings()) for part in key.split(".")} | {"channels", "rules", "secret_file", "ops"}
)
NAMES = st.sampled_from(KEYS) | st.text(max_size=8)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.sampled_from(["1h", "on"])
TREES = st.recursive(
    LEAVES, lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=4), max_leaves=12
)


def no_secret(_name: str, key: str, source: str) -> str:
    raise SettingsError(f"{source}: {key}")


@given(st.dictionaries(NAMES, TREES, max_size=4))
def test_whatever_a_file_holds_becomes_settings_or_a_clear_word(tree: dict[str, Any]) -> None:
    with suppress(SettingsError):
        assert isinstance(parse([Layer(tuple(from_tree(tree, "file")))], read_secret=no_secret).settings, Settings)


@given(st.dictionaries(st.lists(NAMES, min_size=1, max_size=4).map("__".join), st.text(max_size=12), max_size=4))
def test_whatever_the_environment_holds_becomes_settings_or_a_clear_word(given_names: dict[str, str]) -> None:
    environ = {f"TOCSIN_{name.upper()}": value for name, value in given_names.items()}
    with suppress(SettingsError):
        assert isinstance(parse([Layer(tuple(from_environ(environ)))], read_secret=no_secret).settings, Settings)


@given(st.integers(0, 100), st.integers(1, 1000), st.sampled_from(["on", "auto", "off"]))
def test_the_nearest_layer_wins_whatever_the_others_say(tries: int, limit: int, mode: str) -> None:
    far = Layer(tuple(from_tree({"pages": {"tries": 7, "mode": "off"}, "render": {"limit": limit}}, "file")))
    near = Layer(tuple(from_environ({"TOCSIN_PAGES__TRIES": str(tries), "TOCSIN_PAGES__MODE": mode})))

    parsed = parse([far, near], read_secret=no_secret)

    assert (parsed.settings.pages.tries, parsed.settings.pages.mode) == (tries, mode)
    assert parsed.settings.render.limit == limit
    assert set(parsed.origins) == set(flatten(parsed.settings))
