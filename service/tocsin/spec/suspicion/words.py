"""The words that pages say which stand in for others: `spec/words/suspicion.ini` tells how they are used."""

from __future__ import annotations

from tocsin.spec.suspicion.folding import Phrases
from tocsin.spec.words import read_lists

_LISTS = read_lists("suspicion")

CHALLENGE_TITLES = Phrases(_LISTS["challenge titles"])
CHALLENGE_TELLS = Phrases(_LISTS["challenge tells"])
SCRIPT_TELLS = Phrases(_LISTS["script tells"])
CONSENT_TITLES = Phrases(_LISTS["consent titles"])
CONSENT_BUTTONS = Phrases(_LISTS["consent buttons"])
CONSENT_TELLS = Phrases(_LISTS["consent tells"])
LOGIN_TITLES = Phrases(_LISTS["login titles"])
LOGIN_TELLS = Phrases(_LISTS["login tells"])
PARKED_TITLES = Phrases(_LISTS["parked titles"])
PARKED_TELLS = Phrases(_LISTS["parked tells"])
MAINTENANCE_TITLES = Phrases(_LISTS["maintenance titles"])
MAINTENANCE_TELLS = Phrases(_LISTS["maintenance tells"])
NOT_FOUND_TITLES = Phrases(_LISTS["not found titles"])
NOT_FOUND_TELLS = Phrases(_LISTS["not found tells"])
BLOCKED_TITLES = Phrases(_LISTS["blocked titles"])
BLOCKED_TELLS = Phrases(_LISTS["blocked tells"])
ERROR_TITLES = Phrases(_LISTS["error titles"])
ERROR_TELLS = Phrases(_LISTS["error tells"])
