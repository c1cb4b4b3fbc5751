"""`tocsin doctor`: what is wrong with an installation, and the mend."""

from __future__ import annotations

from msgspec import Struct


class Diagnosis(Struct, frozen=True):
    """One thing that the doctor says; what is not wrong is only good to know."""

    what: str
    mend: str = ""
    is_wrong: bool = True
