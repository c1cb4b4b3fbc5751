"""Which alerts a client asks for: the matchers of routes, as parameters of streams, feeds and lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Final, TypeAlias

from fastapi import Depends, Query

from tocsin.configuration.routes import read_match
from tocsin.engine.alerting.matching import AlertFacts, Matcher
from tocsin.errors import SettingsError, UsageError
from tocsin.model import AlertRow

MOST_VALUES: Final = 20
_Values: TypeAlias = Annotated[list[str] | None, Query(max_length=MOST_VALUES)]


def matcher_of(given: Mapping[str, list[str] | None]) -> Matcher | None:
    """Make the matcher of some parameters; None without any. Raises UsageError."""
    wanted = {key: values for key, values in given.items() if values}
    try:
        return Matcher(read_match(wanted)) if wanted else None
    except SettingsError as exc:
        raise UsageError(str(exc).removeprefix("match.")) from exc


async def matching(
    basis: _Values = None,
    host: _Values = None,
    url: _Values = None,
    rule: _Values = None,
    field: _Values = None,
    words: _Values = None,
) -> Matcher | None:
    """Read what streams and feeds share; each may be given more than once."""
    return matcher_of({"basis": basis, "host": host, "url": url, "rule": rule, "field": field, "words": words})


Matching: TypeAlias = Annotated[Matcher | None, Depends(matching)]


def taking(matcher: Matcher | None) -> Callable[[AlertRow], bool] | None:
    """Make the filter of a list; None takes all."""
    if matcher is None:
        return None
    return lambda alert: matcher.takes(AlertFacts(alert.type, alert.event))
