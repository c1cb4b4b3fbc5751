"""What a look at a page saw, as `--json` tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tocsin.engine.judging.noise import muted_keys, muted_signals
from tocsin.spec.signals import SIGNALS, SOURCES
from tocsin.spec.signals.content_fingerprint import SHORT, unpack

if TYPE_CHECKING:
    from tocsin.engine.visiting.dry_run import InForce, Sight
    from tocsin.model import Beside
    from tocsin.spec.signals.values import Content

_BY_ITSELF: Final = "changing by itself: a counter, an age, today's date"
_BESIDE: Final = "beside the content: navigation, advertisements, banners, related pages"


def to_record(sight: Sight, in_force: InForce, name: str) -> dict[str, Any]:
    """Tell what was seen, and what a check would say, as `--json` does; the noise is told by `noises`."""
    policy, page = in_force.policy, in_force.page
    readings = sight.beheld.readings
    return {
        "url": name,
        "watched": page is not None,
        "settings": {
            "signals": policy.signals,
            "signal_rules": list(policy.signal_rules),
            "look_at": policy.look_at,
            "ignore": policy.ignore,
        },
        "signals": signals_seen(sight, in_force.beside),
        "content": None if readings is None or readings.content is None else content_seen(readings.content),
        "suspicion": sight.beheld.suspicion,
        "check": None
        if page is None
        else {
            "outcome": sight.outcome,
            "rule": sight.rule,
            "reason": sight.reason,
            "basis": sight.basis,
            "changed": list(sight.changed),
            "heeds_signals": sight.is_read,
            "begins_anew": sight.is_new,
            "trace": list(sight.trace),
        },
        "problems": list(sight.problems),
    }


def signals_seen(sight: Sight, beside: Beside | None) -> list[dict[str, Any]]:
    """Tell each signal: what it is, its value on the page and at the last check, and whether it is muted."""
    values = sight.beheld.readings.values if sight.beheld.readings is not None else {}
    known = beside.known.values if beside is not None and beside.known is not None else {}
    muted = muted_signals(SOURCES, muted_keys(beside))
    return [
        {
            "signal": signal.name,
            "source": signal.source,
            "what": signal.what,
            "value": values.get(signal.name),
            "last": known.get(signal.name),
            "muted": signal.name in muted,
        }
        for signal in SIGNALS
    ]


def content_seen(content: Content) -> dict[str, Any]:
    """Tell a content as it would be compared: the blocks that count, and the first letters of those that do not."""
    unpacked = unpack(content.fingerprint)
    counted, beside = ([], []) if isinstance(unpacked, str) else (unpacked.blocks, unpacked.beside)
    blocks = content.text.split("\n") if content.text else []
    return {
        "by_bytes": bool(counted) and not blocks,
        "letters": sum(map(len, blocks)),
        "blocks": blocks,
        "left_out": [
            {"text": text, "why": _BY_ITSELF if each.flags & SHORT else _BESIDE}
            for text, each in zip(content.beside, beside, strict=False)
        ],
    }
