"""Forms that come without a session, or with the token of another one: what was typed goes back to the browser.

Nothing is kept here, so that clients without a credential take no memory: the next page carries it in hidden fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import FormData

from tocsin.server.problems import Problem

# Names of fields that hold secrets begin with this: they are not sent back.
NOT_SENT_BACK: Final = "secret-"
AGAIN: Final = "again"
"""A field that says: show the form again, and do nothing."""
_SHOWN_AGAIN: Final = re.compile(r"/notifications/(route|channel|silence)|/settings/pages|/pages/(\d+/settings|add)")
_NOT_TYPED: Final = frozenset({"csrf", AGAIN})


class LostForm(Problem):
    """The 403 of a form whose token is not that of this session: it was opened before another login, or a restart.

    kept  its fields, as `kept_of` writes them
    """

    def __init__(self, kept: str) -> None:
        super().__init__(
            403,
            "csrf",
            "The form is not one of ours",
            "it lacks the token of this session, or has that of another one",
            mend="load the page again and send the form from there; a program sends a token as `Authorization: Bearer`",
        )
        self.kept = kept


def kept_of(form: FormData) -> str:
    """Write the fields of a form into one text, without secrets and files."""
    return urlencode(
        [
            (name, value)
            for name, value in form.multi_items()
            if isinstance(value, str) and name not in _NOT_TYPED and not name.startswith(NOT_SENT_BACK)
        ]
    )


def read_kept(kept: str) -> Mapping[str, list[str]]:
    """Read what `kept_of` wrote."""
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(kept, keep_blank_values=True):
        found.setdefault(name, []).append(value)
    return {name: values for name, values in found.items() if name not in _NOT_TYPED}


def is_shown_again(path: str) -> bool:
    """Say whether the form of this path can be shown again; any other is sent again."""
    return _SHOWN_AGAIN.fullmatch(path) is not None
