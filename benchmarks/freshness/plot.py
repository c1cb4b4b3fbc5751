"""The plot of a simulation, as an SVG of a few lines: what is read on white paper and on a dark screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from math import log10
from typing import Final, NamedTuple

from benchmarks.freshness.simulation import ADAPTIVE, FIXED, KNOWN, Result

_WIDTH, _HEIGHT = 960, 420
_STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #222; }
.title { font-weight: 600; font-size: 15px; }
.ground { fill: #fff; }
.grid { stroke: #ddd; }
path { fill: none; stroke-width: 2.5; }
.adaptive { stroke: #0063a6; } .fixed { stroke: #b84a00; } .known { stroke: #666; stroke-dasharray: 6 4; }
text.adaptive, circle.adaptive { fill: #0063a6; stroke: none; }
text.fixed, circle.fixed { fill: #b84a00; stroke: none; }
text.known { fill: #666; stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e6e6; } .ground { fill: #15181c; } .grid { stroke: #3a3f45; }
  .adaptive { stroke: #6cb8f0; } .fixed { stroke: #f0a060; } .known { stroke: #aaa; }
  text.adaptive, circle.adaptive { fill: #6cb8f0; }
  text.fixed, circle.fixed { fill: #f0a060; }
  text.known { fill: #aaa; }
}
"""
_CLASSES: Final = {ADAPTIVE: "adaptive", FIXED: "fixed", KNOWN: "known"}
_HOURS: Final = (
    (0.5, "30 min"),
    (1, "1 h"),
    (3, "3 h"),
    (6, "6 h"),
    (12, "12 h"),
    (24, "1 d"),
    (72, "3 d"),
    (168, "7 d"),
)
_REQUESTS: Final = ((0.1, "0.1"), (0.2, "0.2"), (0.5, "0.5"), (1, "1"), (2, "2"), (4, "4"))
_DELAYS: Final = ((3, "3 h"), (6, "6 h"), (12, "12 h"), (24, "1 d"), (48, "2 d"), (96, "4 d"))


class Axis(NamedTuple):
    """Where values stand on paper, in powers of ten or evenly."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = True

    def at(self, value: float) -> float:
        """Give the place of a value; those beyond stand at the end."""
        low, high, value = map(log10, (self.low, self.high, value)) if self.is_log else (self.low, self.high, value)
        return self.start + (min(max(value, low), high) - low) / (high - low) * (self.end - self.start)


def draw(result: Result) -> str:
    """Draw how soon changes were noticed, and what requests buy."""
    title = f"A year of {result.pages:,} pages: adaptive checking beside a fixed interval"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
            f"<title>{title}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>',
            *_soon(result),
            *_bought(result),
            "</svg>\n",
        )
    )


def _soon(result: Result) -> Iterable[str]:
    x, y = Axis(0.5, 168, 60, 450), Axis(0, 1, 360, 60, is_log=False)
    yield _text(60, 32, "Changes noticed within …, for the same requests", "title")
    yield from _grid(x, y, _HOURS, [(share / 5, f"{share * 20} %") for share in range(6)])
    for way in (KNOWN, FIXED, ADAPTIVE):
        # A point for each few pixels draws the same line.
        by_place = {x.at(hours) // 3: (hours, share) for hours, share in result.main[way].noticed_within()}
        yield _line(x, y, [point for point in by_place.values() if point[0] >= x.low], _CLASSES[way])
    every = f"fixed, every {result.interval / timedelta(hours=1):.0f} h"
    for place, (way, words) in enumerate(((ADAPTIVE, "adaptive"), (KNOWN, "if all rates were known"), (FIXED, every))):
        yield _text(72, 82 + 19 * place, words, _CLASSES[way])


def _bought(result: Result) -> Iterable[str]:
    x, y = Axis(0.1, 4, 550, 930), Axis(3, 96, 360, 60)
    yield _text(550, 32, "Mean delay, by requests a page and day", "title")
    yield from _grid(x, y, _REQUESTS, _DELAYS)
    for way in (FIXED, ADAPTIVE):
        points = sorted((one.requests_a_day, one.mean_delay_h) for name, one in result.curve if name == way)
        yield _line(x, y, points, _CLASSES[way])
        for requests, delay in points:
            yield f'<circle class="{_CLASSES[way]}" cx="{x.at(requests):.1f}" cy="{y.at(delay):.1f}" r="4"/>'
        requests, delay = points[len(points) // 2]
        above = way == FIXED
        anchor = "start" if above else "end"
        yield _text(x.at(requests) + (10 if above else -10), y.at(delay) + (-8 if above else 16), _CLASSES[way],
                    _CLASSES[way], anchor)  # fmt: skip


def _grid(x: Axis, y: Axis, across: Sequence[tuple[float, str]], upward: Sequence[tuple[float, str]]) -> Iterable[str]:
    for value, words in across:
        at = x.at(value)
        yield f'<path class="grid" style="stroke-width:1" d="M{at:.1f} {y.start}V{y.end}"/>'
        yield _text(at, y.start + 20, words, anchor="middle")
    for value, words in upward:
        at = y.at(value)
        yield f'<path class="grid" style="stroke-width:1" d="M{x.start} {at:.1f}H{x.end}"/>'
        yield _text(x.start - 8, at + 4, words, anchor="end")


def _line(x: Axis, y: Axis, points: Sequence[tuple[float, float]], name: str) -> str:
    places = " ".join(f"{x.at(across):.1f},{y.at(upward):.1f}" for across, upward in points)
    return f'<path class="{name}" d="M{places}"/>'


def _text(x: float, y: float, words: str, name: str = "", anchor: str = "start") -> str:
    kind = f' class="{name}"' if name else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{words}</text>'
