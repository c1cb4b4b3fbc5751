"""Proves the image without an engine: its files are judged, it is built on Debian's packages, run, and tried.

python -m benchmarks.image [--base NAME] [--lint]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from benchmarks.image.browsing import prove_browser
from benchmarks.image.building import BASE, BROWSER_IMAGE, IMAGE, Workshop
from benchmarks.image.commands import missing_packages
from benchmarks.image.container import SHUT
from benchmarks.image.linting import lint
from benchmarks.image.proving import prove, prove_demo_command
from benchmarks.image.telling import Impossible, Report, Unproved

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
IMPOSSIBLE = 3


def main() -> int:
    """Prove what can be proved here; 0: all of it, 1: a promise is broken, 3: this machine cannot."""
    parser = argparse.ArgumentParser(
        prog="./dev image", description="Build the image and prove what is promised of it."
    )
    parser.add_argument("--base", help="take this base image from its registry, instead of one of Debian's packages")
    parser.add_argument("--lint", action="store_true", help="only judge Dockerfile, compose.yaml and chart")
    given = parser.parse_args()
    report = Report()
    try:
        lint(ROOT, BUILD / "tools-venv", report)
        if not given.lint:
            _build_and_prove(given.base, report)
    except Impossible as exc:
        print(f"image: not proved: {exc}", file=sys.stderr)
        return IMPOSSIBLE
    except Unproved as exc:
        print(f"image: FAILED: {exc}", file=sys.stderr)
        return 1
    finally:
        report.close()
    return 0


def _build_and_prove(base: str | None, report: Report) -> None:
    if os.geteuid():
        raise Impossible("containers are run by root here: call it as root, or in a virtual machine")
    if missing := missing_packages():
        raise Impossible(f"these packages are needed: {' '.join(missing)} (apt-get install, as root)")
    workshop = Workshop(BUILD / "image", ROOT)
    try:
        began = time.monotonic()
        if base is None:
            report.doing("making a base image of Debian's packages")
            workshop.make_base()
            report.proved("base image of Debian's packages", f"{time.monotonic() - began:.0f} s")
            workshop.try_base(SHUT)
        began = time.monotonic()
        report.doing("building the image")
        workshop.build(base or BASE)
        sizes = f"{workshop.size_mb(IMAGE):.0f} MB"
        if base is None:
            sizes += f", of which the base {workshop.size_mb(BASE):.0f}"
        report.proved("the image is built, and tells nothing of how", f"{time.monotonic() - began:.0f} s; {sizes}")
        prove(workshop, report)
        prove_demo_command(workshop, report)
        began = time.monotonic()
        report.doing("building the image of the browser")
        workshop.build(base or BASE, BROWSER_IMAGE, "Dockerfile.browser")
        took_s = time.monotonic() - began
        report.proved("the browser's image is built", f"{took_s:.0f} s; {workshop.size_mb(BROWSER_IMAGE):.0f} MB")
        prove_browser(workshop, ROOT, report)
    finally:
        workshop.clear()


if __name__ == "__main__":
    sys.exit(main())
