"""The language of what stands below no `lang`: the page's default, which a pragma sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.microsyntax import SPACE, lower_ascii, split_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_pragma_language(metas: Iterable[tuple[str | None, str | None]]) -> str | None:
    """Give the language that a page's pragmas set; None if they set none.

    metas  the http-equiv and the content of each meta element, in tree order
    A list of several languages tells none; of several pragmas that tell one the last counts.
    Source  text 001, language (LM-26); HTML, the content-language pragma
    """
    found = None
    for http_equiv, content in metas:
        if content and http_equiv is not None and lower_ascii(http_equiv.strip(SPACE)) == "content-language":
            languages = [] if "," in content else split_tokens(content)
            found = languages[0] if languages else found
    return found
