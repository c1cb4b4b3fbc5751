"""The Helm chart, made by Helm itself without a cluster: python -m benchmarks.image.chart ROOT.

It runs in the environment of the tools, which holds Helm; the exit status is 1, and the reason printed, where the chart
and the plain manifest are not the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import helm_python  # type: ignore[import-not-found]  # only the environment of the tools has it
import yaml

# What the plain manifest was made with; docs/cluster.md tells it.
_VALUES = "store.url=postgresql://tocsin@postgres/tocsin,store.passwordSecret=tocsin-store,tokensSecret=tocsin-tokens"
# Severities of Helm's linter.
_WARNING = 2


def main() -> None:
    """Compare what Helm makes of the chart with the plain manifest, and see that it refuses a chart without values."""
    root = Path(sys.argv[1])
    folder, plain = root / "config" / "helm" / "tocsin", root / "config" / "kubernetes" / "tocsin.yaml"
    values = helm_python.parse_set_string(_VALUES)
    found = [each for each in helm_python.lint(folder, values)["messages"] if each["severity"] >= _WARNING]
    if found:
        sys.exit(f"helm lint: {found}")
    with helm_python.Chart.load(folder) as chart:
        made = _objects("\n---\n".join(chart.render(values, name="tocsin", namespace="default").values()))
        if made != _objects(plain.read_text("utf-8")):
            sys.exit(f"{plain} is not what Helm makes of {folder}")
        try:
            chart.render({}, name="tocsin")
        except helm_python.HelmValuesError as exc:
            if "/store/url" not in str(exc):
                sys.exit(f"Helm does not name store.url, which is missing: {exc}")
        else:
            sys.exit("Helm takes the chart without store.url")


def _objects(text: str) -> dict[str, Any]:
    return {each["kind"]: each for each in yaml.safe_load_all(text) if each}


if __name__ == "__main__":
    main()
