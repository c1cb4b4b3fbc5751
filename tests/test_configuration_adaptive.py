"""Settings of adaptive checking that cannot hold together."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tocsin.configuration import load, parse_page_settings, resolve_page
from tocsin.errors import SettingsError
from tocsin.settings import PageSettings


def complaint_of(folder: Path, text: str) -> str:
    (folder / "tocsin.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(environ={}, cwd=folder)
    return str(caught.value)


def test_bounds_the_wrong_way_round_are_refused_in_a_file(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, '[pages]\nevery_min = "40d"\n')

    assert "tocsin.toml" in text
    assert "pages.every_min: found 40d, allowed is at most pages.every_max, which is 7d" in text


def test_adaptive_checking_beside_a_cron_expression_is_refused_in_a_file(tmp_path: Path) -> None:
    text = complaint_of(tmp_path, '[pages]\nadaptive = true\ncron = "0 6 * * *"\n')

    assert "pages.adaptive and pages.cron exclude each other; leave one of them out" in text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"every_min": "2d", "every_max": "1d"}, "--every-min and --every-max: the least interval is longer"),
        ({"adaptive": "yes", "cron": "0 6 * * *"}, "--adaptive and --cron: they exclude each other"),
        ({"adaptive": "perhaps"}, "--adaptive: pages.adaptive"),
        ({"every_min": "0"}, "--every-min: pages.every_min"),
    ],
)
def test_options_that_exclude_each_other_are_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_page_settings(given)

    assert words in str(caught.value)


def test_settings_of_adaptive_checking_hold_for_a_page() -> None:
    own = parse_page_settings({"adaptive": "yes", "every_min": "6h", "every_max": "7d"})
    group = parse_page_settings({"adaptive": "no", "every_max": "60d"})

    settings = resolve_page(PageSettings(), {}, group, own)

    assert (settings.adaptive, settings.every_min, settings.every_max) == (
        True,
        timedelta(hours=6),
        timedelta(days=7),
    )


def test_a_page_may_have_a_cron_expression_where_all_others_are_adaptive() -> None:
    settings = resolve_page(PageSettings(adaptive=True), {}, {}, parse_page_settings({"cron": "0 6 * * *"}))

    assert settings.cron == "0 6 * * *"
