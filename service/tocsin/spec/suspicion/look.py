"""Whether a page stands in for the one that was asked for: a challenge, a login, an error that came as 200."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.spec.suspicion.case import Case
from tocsin.spec.suspicion.challenge import find_challenge
from tocsin.spec.suspicion.consent import find_consent
from tocsin.spec.suspicion.login import find_login
from tocsin.spec.suspicion.maintenance import find_maintenance
from tocsin.spec.suspicion.missing import find_missing
from tocsin.spec.suspicion.parked import find_parked
from tocsin.spec.suspicion.refused import find_binary, find_blocked, find_empty, find_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.html.whole import Whole

# What says the most about a page comes first.
_RULES = (
    ("binary", find_binary),
    ("challenge", find_challenge),
    ("login", find_login),
    ("consent", find_consent),
    ("parked", find_parked),
    ("maintenance", find_maintenance),
    ("not-found", find_missing),
    ("blocked", find_blocked),
    ("error", find_error),
    ("empty", find_empty),
)

KINDS = {
    "challenge": "a robot is asked to prove that it is none: captchas, proofs of work, checks of the browser",
    "login": "a login form, or a form that hands on to one",
    "consent": "a gate that asks for consent to cookies, or for an age",
    "parked": "nobody runs a site there: a domain for sale, a suspended account, a server's default page",
    "maintenance": "the site asks to come back later",
    "not-found": "the page says that there is none (a soft 404)",
    "blocked": "the site refuses this visitor, its address, or its country",
    "error": "something broke down, and the page says so",
    "binary": "its server calls it HTML, and it is binary data",
    "empty": "nothing at all is on it",
}
"""What a page can be suspected of, each with what it is."""


class Suspicion(Struct, frozen=True):
    """What a page is suspected to be.

    kind      one of KINDS
    evidence  one line that names what was seen
    """

    kind: str
    evidence: str


def find_suspicion(
    whole: Whole, *, body: bytes, status: int, url: str, final_url: str, headers: Sequence[tuple[str, str]]
) -> Suspicion | None:
    """Find what a page is suspected to be that came where another one was known; None if it is a page like others.

    Conservative: each rule needs two kinds of evidence, a page of more than 4000 letters of text of its own is never
    suspected, and one that declares its changes or that it is an article only of a challenge that names itself. It
    does not know what the page was before: ask only where one was known, and most of it changed.
    body       of the response, that `whole` was parsed from
    status     of the response
    url        that is watched
    final_url  that answered, after redirects
    headers    of the response
    """
    case = Case(whole, body=body, status=status, url=url, final_url=final_url, headers=headers)
    for kind, find in _RULES:
        evidence = find(case)
        if evidence is not None:
            return Suspicion(kind, evidence)
    return None
