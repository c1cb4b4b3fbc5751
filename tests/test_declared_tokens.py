"""Tokens that the configuration declares: the text that declares them, and what is refused of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.configuration import load
from tocsin.configuration.tokens import ALONE, DeclaredToken, is_token, parse_tokens
from tocsin.errors import SettingsError
from tocsin.model import Scope
from tocsin.server.access.credentials import new_token
from tocsin.settings import why_unread

ONE, TWO = "6f0c2f0d5a6e4b7f8e4c1d0b9a3f7e52", "Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OWFiY2RlZg=="


def test_a_token_alone_is_an_administrator_s() -> None:
    assert parse_tokens(f"# the first one\n\n{ONE}\n") == (DeclaredToken(ALONE, Scope.ADMIN, ONE),)


def test_lines_declare_name_scope_and_token() -> None:
    ours = new_token()
    text = f"\ufeff# who\nops admin {ONE}\n  grafana\tread  {TWO}\r\nme write {ours}"

    assert parse_tokens(text) == (
        DeclaredToken("ops", Scope.ADMIN, ONE),
        DeclaredToken("grafana", Scope.READ, TWO),
        DeclaredToken("me", Scope.WRITE, ours),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hunter2", "line 1: the token has 7 characters, allowed are 32 to 256; `openssl rand -hex 32`"),
        ("x" * 257, "has 257 characters"),
        ("ab" * 20, "can be guessed"),
        (f"{ONE}é", "holds other characters"),
        (f"tcs_{ONE}", "begins with tcs_ and is mistyped"),
        (f"ops admin {ONE}\nme {TWO}", "line 2: 2 words instead of three; write"),
        (f"{ONE}\n{TWO}", "line 1: 1 words instead"),
        (f"ops root {ONE}", "the scope is none of read, write, admin; write one of them"),
        (f"{'x' * 65} read {ONE}", "line 1: the name is longer than 64 letters"),
        (f"ops admin {ONE}\nops read {TWO}", "line 2: the name is declared twice; give"),
        (f"ops admin {ONE}\nme read {ONE}", "line 2: the token is that of another line; "),
        (f"{ONE} admin ops", "line 1: the token has 3 characters"),
        ("# nothing\n", "comments alone; write a token"),
    ],
)
def test_what_declares_no_token_is_refused_with_line_and_mend_and_not_repeated(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"^(line \d|it holds)") as caught:
        parse_tokens(text)

    assert told in str(caught.value)
    assert not any(len(word) > 6 and word in str(caught.value) for word in text.split() if word != "nothing")


def test_without_a_text_no_token_is_declared() -> None:
    assert parse_tokens("") == ()


def test_what_cannot_be_a_token_is_never_looked_up() -> None:
    assert [is_token(each) for each in (ONE, TWO, new_token(), "", "x" * 40, f"tcs_{ONE}")] == [True] * 3 + [False] * 3


def test_a_file_of_the_environment_declares_tokens(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"{ONE}\n")

    settings = load(environ={"TOCSIN_HTTP__TOKENS_FILE": "tokens"}, cwd=tmp_path).settings

    assert settings.http.tokens == ONE


def test_a_file_of_tokens_that_is_not_there_names_the_command_that_makes_a_token(tmp_path: Path) -> None:
    settings = load(environ={"TOCSIN_HTTP__TOKENS_FILE": "tokens"}, cwd=tmp_path).settings

    told = why_unread(settings.http.tokens) or ""

    assert "there is no such file; `openssl rand -hex 32` makes a token for it, or mend the name" in told


def test_a_file_with_a_token_that_is_too_short_stops_nothing_and_says_where(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("hunter2")

    settings = load(environ={"TOCSIN_HTTP__TOKENS_FILE": "tokens"}, cwd=tmp_path).settings

    why = why_unread(settings.http.tokens) or ""
    assert why.startswith("TOCSIN_HTTP__TOKENS_FILE: http.tokens_file: tokens: ")
    assert "line 1: the token has 7 characters" in why
    assert "hunter2" not in why


def test_tokens_in_the_configuration_itself_are_checked_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "tocsin.toml").write_text('[http]\ntokens = "ops admin hunter2"\n')

    with pytest.raises(SettingsError, match=r"http\.tokens: allowed is .*line 1: the token has 7") as caught:
        load(environ={}, cwd=tmp_path)

    assert "hunter2" not in str(caught.value)
