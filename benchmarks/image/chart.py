"""The Helm chart, made by Helm itself without a cluster: python -m benchmarks.image.chart ROOT.

It runs in the environment of the tools, which holds Helm; the exit status is 1, and the reason printed, where the chart
and the plain manifest, with and without the patch for the browser, are not the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import helm_python  # type: ignore[import-not-found]  # only the environment of the tools has it
import yaml

# What the plain manifest was made with; docs/cluster.md tells it.
_VALUES = "store.url=postgresql://tocsin@postgres/tocsin,store.passwordSecret=tocsin-store,tokensSecret=tocsin-tokens"
_WITH_BROWSER = f"{_VALUES},browser.enabled=true"
# What tells the members of a list apart: of mounts their path, since a volume may be mounted twice.
_KEYS = ("mountPath", "name")
# Severities of Helm's linter.
_WARNING = 2


def main() -> None:
    """Compare what Helm makes of the chart with the plain manifest, and see that it refuses a chart without values."""
    root = Path(sys.argv[1])
    folder, plain = root / "config" / "helm" / "tocsin", root / "config" / "kubernetes" / "tocsin.yaml"
    patch = plain.with_name("browser.yaml")
    written = _objects(plain.read_text("utf-8"))
    patched = written | {
        "Deployment": _patched(written["Deployment"], _keyed(yaml.safe_load(patch.read_text("utf-8"))))
    }
    with helm_python.Chart.load(folder) as chart:
        for given, wanted, where in ((_VALUES, written, plain), (_WITH_BROWSER, patched, patch)):
            values = helm_python.parse_set_string(given)
            found = [each for each in helm_python.lint(folder, values)["messages"] if each["severity"] >= _WARNING]
            if found:
                sys.exit(f"helm lint: {found}")
            made = _objects("\n---\n".join(chart.render(values, name="tocsin", namespace="default").values()))
            if made != wanted:
                sys.exit(f"{where} is not what Helm makes of {folder}")
        try:
            chart.render({}, name="tocsin")
        except helm_python.HelmValuesError as exc:
            if "/store/url" not in str(exc):
                sys.exit(f"Helm does not name store.url, which is missing: {exc}")
        else:
            sys.exit("Helm takes the chart without store.url")


def _objects(text: str) -> dict[str, Any]:
    return {each["kind"]: _keyed(each) for each in yaml.safe_load_all(text) if each}


def _keyed(value: Any) -> Any:
    """Turn lists whose members have a name into dicts, whose order does not count."""
    if isinstance(value, dict):
        return {name: _keyed(each) for name, each in value.items()}
    if isinstance(value, list):
        key = next((key for key in _KEYS if all(isinstance(each, dict) and key in each for each in value)), None)
        return {each[key]: _keyed(each) for each in value} if key else [_keyed(each) for each in value]
    return value


def _patched(whole: Any, patch: Any) -> Any:
    """Merge as `kubectl patch` does by default."""
    if not isinstance(patch, dict) or not isinstance(whole, dict):
        return patch
    return whole | {name: _patched(whole.get(name), each) for name, each in patch.items()}


if __name__ == "__main__":
    main()
