"""What the site of the soak served to checks, and whether it was stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple


class Served(NamedTuple):
    """One answer that was sent whole.

    life      which start of the service, or of one of its fetchers, was the last before it
    had       the version that the request's validator names; None for an unconditional request
    version   of the page, in the answer (or confirmed by a 304)
    began     how many answers the site had begun before it, of all pages
    """

    life: int
    page: str
    had: int | None
    version: int
    status: int
    began: int


def judge_served(known: Mapping[str, set[int]], served: Sequence[Served]) -> Iterator[str]:
    """What a check received, and was followed by another check in the same life, is stored.

    known  the versions that are stored of each page that is judged
    """
    checks: dict[str, list[Served]] = defaultdict(list)
    for answer in sorted(served, key=lambda answer: answer.began):
        if answer.had is not None and answer.page in known:
            checks[answer.page].append(answer)
    for url, answers in checks.items():
        for answer, following in pairwise(answers):
            is_committed = answer.life == following.life
            if is_committed and answer.version not in known[url]:
                yield f"{url}: version {answer.version} was served to a check in life {answer.life}, and is lost"
            if following.had not in known[url]:
                yield f"{url}: the service asks whether version {following.had} has changed, and never stored it"
            if (answer.had or 0) > (following.had or 0):
                yield f"{url}: the service knew version {answer.had}, later only {following.had}: a state was lost"
