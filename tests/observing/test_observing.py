"""Rules, dashboard and documentation speak of the metrics that there are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from typing import Any

import pytest
import yaml

from tests.house.sources import ROOT
from tests.observing.measured import families, names_of, table

RULES = ROOT / "config/prometheus/alerts.rules.yml"
CONFIG = ROOT / "config/prometheus/prometheus.yml"
UNIT_TESTS = ROOT / "tests/observing/alerts_test.yml"
DASHBOARD = ROOT / "config/grafana/tocsin.json"
DOCUMENT = (ROOT / "docs/metrics.md").read_text("utf-8")
PROMTOOL = shutil.which("promtool")
NAME = re.compile(r"\b(?:tocsin|process)_[a-z_]+\b")

rules: list[dict[str, Any]] = yaml.safe_load(RULES.read_text("utf-8"))["groups"][0]["rules"]
unit_tests: list[dict[str, Any]] = yaml.safe_load(UNIT_TESTS.read_text("utf-8"))["tests"]
panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text("utf-8"))["panels"]


@cache
def known() -> set[str]:
    return {name for metric in families() for name in names_of(metric)}


def shown() -> list[str]:
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


@pytest.mark.parametrize("rule", rules, ids=lambda rule: rule["alert"])
def test_every_alert_asks_for_metrics_that_there_are(rule: dict[str, Any]) -> None:
    assert set(NAME.findall(rule["expr"])) <= known()
    assert set(re.findall(r"\b(?:tocsin_[a-z_]+)\b", " ".join(rule["annotations"].values()))) <= known() | {
        "tocsin_commit_seconds"
    }


@pytest.mark.parametrize("rule", rules, ids=lambda rule: rule["alert"])
def test_every_alert_says_what_it_is_how_bad_and_the_mend(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert set(rule["annotations"]) == {"summary", "description"}
    assert f"| `{rule['alert']}` | {rule['labels']['severity']} |" in DOCUMENT


@pytest.mark.parametrize("rule", rules, ids=lambda rule: rule["alert"])
def test_every_alert_is_tried(rule: dict[str, Any]) -> None:
    assert rule["alert"] in json.dumps([test for test in unit_tests if "says nothing" not in test["name"]])


@pytest.mark.parametrize("expr", shown())
def test_the_dashboard_shows_metrics_that_there_are(expr: str) -> None:
    names = set(NAME.findall(expr))

    assert names
    assert names <= known()


def test_every_metric_of_ours_is_on_the_dashboard() -> None:
    said = DASHBOARD.read_text("utf-8")

    assert {
        name
        for name in known()
        if name.startswith("tocsin_") and name.removesuffix("_count").removesuffix("_sum") not in said
    } == set()


def test_the_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells

    assert len({panel["id"] for panel in panels}) == len(panels)


def test_every_metric_is_explained() -> None:
    assert table() in DOCUMENT, "print it anew with: python -m tests.observing.measured"


def test_no_label_has_values_that_pages_or_hosts_choose() -> None:
    labels = {label for metric in families() for sample in metric.samples for label in sample.labels}

    assert labels == {"le", "level", "code", "outcome", "result", "type", "channel", "process", "version", "python"}


def test_names_follow_the_conventions() -> None:
    for metric in families():
        assert metric.documentation.endswith("."), metric.name
        assert metric.type != "counter" or names_of(metric)[0].endswith("_total"), metric.name
        assert not re.search(r"_(?:ms|minutes|hours|kib|mib)(?:_|$)", metric.name), metric.name


# It comes with Debian's `prometheus`; .ci/run installs it, and runs the same there.
if PROMTOOL is not None:

    @pytest.mark.parametrize(
        "arguments",
        [
            ("check", "config", "--syntax-only", str(CONFIG)),
            ("check", "rules", str(RULES)),
            ("test", "rules", str(UNIT_TESTS)),
        ],
        ids=["config", "rules", "alerts"],
    )
    def test_promtool_agrees(arguments: tuple[str, ...]) -> None:
        assert PROMTOOL is not None
        done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, check=False)

        assert done.returncode == 0, done.stdout + done.stderr
