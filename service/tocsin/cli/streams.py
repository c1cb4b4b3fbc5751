"""Standard input, output and error where whoever called us has closed them (`>&-`)."""

from __future__ import annotations

import os
import sys
from typing import Final

_INPUT, _OUTPUT, _ERROR = 0, 1, 2
# What is asked of the first two then fails as it does in other programs; what is told on the third goes nowhere.
_STANDS_IN: Final = {_INPUT: os.O_WRONLY, _OUTPUT: os.O_RDONLY, _ERROR: os.O_WRONLY}


def stand_in_for_closed() -> None:
    """Put something in the place of each standard stream that is closed, so that no other file takes its number.

    Python has None for such a stream, and a store that was opened as number 2 would be written to by whatever warns.
    Reading from what stands in, and writing to it, raises OSError with EBADF; on standard error nothing is raised.
    """
    for number, mode in _STANDS_IN.items():
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one. Processes that we start are to have it, too.
            os.set_inheritable(os.open(os.devnull, mode), True)  # noqa: FBT003 - the signature of os
    if sys.stdin is None:
        sys.stdin = open(_INPUT, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as we run
    if sys.stdout is None:
        sys.stdout = open(_OUTPUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the same
    if sys.stderr is None:
        sys.stderr = open(  # noqa: SIM115 - the same
            _ERROR, "w", encoding="utf-8", errors="backslashreplace", closefd=False
        )
