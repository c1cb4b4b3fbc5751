"""What has been proved so far, said as it happens and again at the end."""

from __future__ import annotations

import sys
import time


class Unproved(Exception):
    """A promise of the image is not kept."""


class Impossible(Exception):
    """This machine cannot do what a proof needs; the text says why."""


class Report:
    """Collects what was proved, with its figures."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._began = time.monotonic()

    def doing(self, what: str) -> None:
        """Say what comes now."""
        print(f"image: {what}", file=sys.stderr, flush=True)

    def proved(self, what: str, figure: str = "") -> None:
        """Note a promise that is kept."""
        line = f"{'ok':<5}{what}" + (f": {figure}" if figure else "")
        self.lines.append(line)
        print(f"image: {line}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Print all of it."""
        print("\n".join([*self.lines, f"{'':<5}{time.monotonic() - self._began:.0f} s in all"]))


def hold(is_so: object, what: str) -> None:
    """Raise Unproved with these words unless it is so."""
    if not is_so:
        raise Unproved(what)
