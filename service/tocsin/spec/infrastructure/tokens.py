"""Sets of space-separated tokens."""

from __future__ import annotations

import re

from tocsin.spec.html.microsyntax import SPACE, split_tokens

__all__ = ["are_unique", "remove_token", "split_tokens"]

_PIECES = re.compile(f"[{SPACE}]++|[^{SPACE}]++")


def are_unique(text: str) -> bool:
    """Say whether no token of the text stands in it twice; they are compared exactly (TOK-02)."""
    tokens = split_tokens(text)
    return len(tokens) == len(set(tokens))


def remove_token(text: str, token: str) -> str:
    """Take every occurrence of a token out of a text, with the space around it (TOK-04).

    One space stays between two neighbours that are left, none at the ends; other space stays as it is.
    Source  text 004, 2.4.6, whose step 10 is to return to step 5 (C-49)
    """
    output: list[str] = []
    removed = False
    for piece in _PIECES.findall(text):
        if piece == token:  # Step 8.
            removed = True
            while output and output[-1][0] in SPACE:
                output.pop()
        elif not removed:
            output.append(piece)
        elif piece[0] not in SPACE:
            output.extend([" ", piece] if output else [piece])
            removed = False
    return "".join(output)
