"""What a comparison and the signals come to together, and how that came about. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.spec.signals.weigh import DECLARED, basis_of_declared
from tocsin.spec.topper.compare import Outcome

if TYPE_CHECKING:
    from tocsin.model import JsonObject
    from tocsin.spec.signals.values import ContentChange
    from tocsin.spec.signals.weigh import Heard, Weighed
    from tocsin.spec.topper.compare import Comparison

_WHY: Final = {
    "T40": "nothing was stored before",
    "T42": "the twelve fields are equal",
    "T43": "the page's own refresh is not over",
    "T44": "topper-major changed",
    "T09": "a new minor date is a major one, too",
    "T45": "the twelve fields are equal, for as long as the durational threshold",
    "T46": "there are as many minor changes as the threshold",
    "T47": "other fields changed",
}


class OverallVerdict(Struct, frozen=True):
    """What is told of a page.

    reason  as the specification has it; None where signals alone decided
    rule    the requirement that decided, or the rule of the signals
    heard   the signals that differ
    """

    outcome: Outcome
    reason: str | None
    rule: str
    basis: str
    heard: tuple[Heard, ...] = ()

    @property
    def speaking(self) -> tuple[str, ...]:
        """The signals that have changed in a way that says something, by name."""
        return tuple([each.signal for each in self.heard if each.says != "nothing"])


def combine_verdict(
    comparison: Comparison, weighed: Weighed | None = None, content: ContentChange | None = None
) -> OverallVerdict:
    """Let the specification's verdict stand; where it found nothing new, the signals decide.

    weighed  what the signals come to; None where they were not compared
    content  how the content differs; None where it was not compared
    """
    outcome, reason = comparison.outcome, comparison.reason.value if comparison.reason is not None else None
    heard = weighed.heard if weighed is not None else ()
    if outcome is Outcome.UNCHANGED and weighed is not None and weighed.rule is not None:
        return OverallVerdict(Outcome(weighed.says), None, weighed.rule, weighed.basis, heard)
    # Nothing declared has changed where time alone decides, so that nothing contradicts it.
    is_declared = outcome in (Outcome.MAJOR, Outcome.MINOR) and comparison.changed
    return OverallVerdict(
        outcome, reason, comparison.rule, basis_of_declared(content) if is_declared else DECLARED, heard
    )


def signals_data(ruling: OverallVerdict) -> list[JsonObject]:
    """Show the signals that differ."""
    return [
        {
            "signal": each.signal,
            "previous": each.previous,
            "latest": each.latest,
            "says": each.says,
            "rule": each.rule,
        }
        for each in ruling.heard
    ]


def trace_data(comparison: Comparison, ruling: OverallVerdict) -> list[JsonObject]:
    """Show how a verdict came about: the specification's rule first, then what each signal said."""
    why = _WHY.get(comparison.rule, comparison.rule)
    if comparison.rule == "T47":
        why = f"{why}: {', '.join(comparison.changed)}"
    first: JsonObject = {"rule": comparison.rule, "says": comparison.outcome.value, "why": why}
    return [first, *({"rule": each.rule, "says": each.says, "why": each.why} for each in ruling.heard)]
