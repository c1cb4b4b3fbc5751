"""A fetcher process to which marked pages are poison. The product has no branch for this.

A page's body says what happens while it is assessed: <!--kill-->, <!--hang--> or <!--swell-->, no farther than
`MOST_PIECES`: how soon that is noticed is for the machine to say, and it is to have room meanwhile. Where its path ends
in /die, the process ends as soon as the page has come, before anybody could say which one it was. <!--kill-renderer-->
kills it while it reads what the main process is to read of a rendered page.
"""

from __future__ import annotations

import os
import resource
import signal
from typing import Any

from tocsin.app.fetcher import main
from tocsin.engine.fetchers import process as fetcher_process
from tocsin.engine.judging.assess import Assessment, assess
from tocsin.engine.judging.conclude import Conclusion
from tocsin.engine.visiting.receive import Receiver
from tocsin.model import CheckResult, ReceivedPage

MOST_PIECES = 40
_really_received = Conclusion.received
_really_receive = Receiver.receive
_really_assess = assess


def _received(self: Conclusion, received: ReceivedPage, *rest: Any, **named: Any) -> CheckResult:
    body = received.response.body
    if b"<!--kill-->" in body:
        os.kill(os.getpid(), signal.SIGKILL)
    while b"<!--hang-->" in body:
        pass
    taken: list[bytes] = []
    while b"<!--swell-->" in body:
        if len(taken) < MOST_PIECES:
            taken.append(b"x" * 2**24)
    return _really_received(self, received, *rest, **named)


async def _receive(self: Receiver, *given: Any, **named: Any) -> ReceivedPage:
    received = await _really_receive(self, *given, **named)
    if received.final_url.endswith("/die"):
        os._exit(3)
    return received


def _assess(url: str, body: bytes, *rest: Any, **named: Any) -> Assessment:
    if b"<!--kill-renderer-->" in body:
        os.kill(os.getpid(), signal.SIGSEGV)
    return _really_assess(url, body, *rest, **named)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    vars(fetcher_process)["assess"] = _assess
    Conclusion.received = _received  # type: ignore[method-assign]  # that is what this module is for
    Receiver.receive = _receive  # type: ignore[method-assign]  # the same
    main()
