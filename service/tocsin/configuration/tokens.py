"""Tokens of the configuration (`http.tokens`, `http.tokens_file`), and the form of every token; pure."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from tocsin.settings import Scope

# Of tokens that Tocsin makes; six letters at their end detect a mistyped one.
PREFIX: Final = "tcs_"
# The name of a token that is declared without one; its scope is admin.
ALONE: Final = "admin"
_LEAST: Final = 32
_MOST: Final = 256
_LEAST_DIFFERENT: Final = 8
_CHECK: Final = 6
_OURS: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}[a-z2-7]{{{_CHECK}}}")
# The characters after "Bearer" (RFC 9110, token68).
_ALLOWED: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_MEND: Final = "`openssl rand -hex 32` makes one"
_LONGEST_NAME: Final = 64
_FIELDS: Final = 3


class DeclaredToken(Struct, frozen=True):
    """A declared token; only a digest of it is stored."""

    name: str
    scope: Scope
    token: str


def parse_tokens(text: str) -> tuple[DeclaredToken, ...]:
    """Read the tokens that a text declares: one alone, or a line `NAME SCOPE TOKEN` each; lines with # are comments.

    Raises ValueError that names the line, what is wrong with it and the mend.
    """
    # Messages repeat no word of the text: if the words of a line are in a wrong order, any of them may be the token.
    lines = enumerate((line.split() for line in text.removeprefix("\ufeff").splitlines()), 1)
    rows = [(number, fields) for number, fields in lines if fields and not fields[0].startswith("#")]
    if len(rows) == 1 and len(rows[0][1]) == 1:
        rows = [(rows[0][0], [ALONE, Scope.ADMIN.value, rows[0][1][0]])]
    found: list[DeclaredToken] = []
    for number, fields in rows:
        wrong = _wrong_fields(fields, found)
        if wrong is not None:
            raise ValueError(f"line {number}: {wrong}")
        found.append(DeclaredToken(fields[0], Scope(fields[1]), fields[2]))
    if text.strip() and not found:
        raise ValueError("it holds comments alone; write a token into it, or leave the setting out")
    return tuple(found)


def is_token(text: str) -> bool:
    """Tell whether a text has the form of a token."""
    return _wrong_token(text) is None


def check_letters(body: str) -> str:
    """Give the check letters at the end of a token that Tocsin makes."""
    number = int.from_bytes(blake2b(body.encode(), digest_size=4, person=b"tocsin check").digest())
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_CHECK))


def _wrong_fields(fields: list[str], before: list[DeclaredToken]) -> str | None:
    if len(fields) != _FIELDS:
        return f'{len(fields)} words instead of three; write "NAME SCOPE TOKEN", such as "grafana read 3f0a…"'
    name, scope, token = fields
    return _wrong_token_named(name, scope, token, before)


def _wrong_token_named(name: str, scope: str, token: str, before: list[DeclaredToken]) -> str | None:
    if len(name) > _LONGEST_NAME or not name.isprintable():
        return f"the name is longer than {_LONGEST_NAME} letters, or cannot be printed; give it another one"
    if scope not in set(Scope):
        return f"the scope is none of {', '.join(Scope)}; write one of them between the name and the token"
    if any(name == other.name for other in before):
        return "the name is declared twice; give one of them another name"
    if wrong := _wrong_token(token):
        return f"the token {wrong}; {_MEND}"
    if any(token == other.token for other in before):
        return f"the token is that of another line; {_MEND}"
    return None


def _wrong_token(token: str) -> str | None:
    if token.startswith(PREFIX):
        is_ours = _OURS.fullmatch(token) is not None and check_letters(token[:-_CHECK]) == token[-_CHECK:]
        return None if is_ours else f"begins with {PREFIX} and is mistyped"
    if not _LEAST <= len(token) <= _MOST:
        return f"has {len(token)} characters, allowed are {_LEAST} to {_MOST}"
    if not _ALLOWED.fullmatch(token):
        return "holds other characters than A-Z, a-z, 0-9 and . _ ~ + / -, with = only at its end"
    if len(set(token)) < _LEAST_DIFFERENT:
        return "can be guessed: it has few different characters"
    return None
