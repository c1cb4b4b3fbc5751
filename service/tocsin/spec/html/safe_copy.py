"""A copy of a page to look at: elements, ids, classes and text; nothing that acts, loads or leads elsewhere."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Final, NamedTuple

from tocsin.spec.html.whole import ELEMENT, HTML, TEXT, Whole

# Of others the content is copied, too, without a tag of their own.
_NAMES: Final = frozenset(
    re.findall(
        r"\S+",
        """main article section header footer nav aside div p h1 h2 h3 h4 h5 h6 hgroup ul ol menu li dl dt dd table
        caption thead tbody tfoot tr th td blockquote pre figure figcaption address details summary fieldset legend
        center span a b i em strong small big sub sup u s del ins mark code kbd samp var q cite abbr dfn time data tt
        font label br hr wbr""",
    )
)
_VOID: Final = frozenset({"br", "hr", "wbr"})
# What no reader sees, and what loads, plays, asks or runs.
_LEFT_OUT: Final = frozenset(
    re.findall(
        r"\S+",
        """head script style noscript template iframe frame noframes noembed object embed applet svg math canvas audio
        video picture img map select option optgroup datalist textarea input output meter progress link meta title
        base xmp plaintext listing selectedcontent""",
    )
)
# Of an id, or of the classes of an element.
_LONGEST: Final = 400
# Of a copy, in letters: enough for the text of nearly all pages.
MOST_LETTERS: Final = 400_000


class SafeCopy(NamedTuple):
    """A copy of a page's body, as HTML.

    is_cut  the page goes on
    """

    html: str
    is_cut: bool


def copy_safely(whole: Whole) -> SafeCopy:
    """Copy a page's body by a white list; all of it is written by us, and no byte of the page's markup."""
    body = whole.document.find("body")
    if body is None:
        return SafeCopy("", is_cut=False)
    written: list[str] = []
    left = MOST_LETTERS
    # The open elements: what is left of their children, and their end tags. Pages are as deep as they like.
    path: list[tuple[Any, str]] = [(iter(body.children), "")]
    while path and left > 0:
        node = next(path[-1][0], None)
        if node is None:
            written.append(path.pop()[1])
            continue
        if type(node) is TEXT:
            text = escape(node.data[:left], quote=False)
        elif type(node) is ELEMENT and node.namespace is HTML and node.tag not in _LEFT_OUT:
            name = node.tag if node.tag in _NAMES else ""
            text = f"<{name}{_attributes(node)}>" if name else ""
            if name not in _VOID:
                path.append((iter(node.children), f"</{name}>" if name else ""))
        else:
            continue
        written.append(text)
        # Twice, for its end tag: a page may be as deep as it is long.
        left -= 2 * len(text) if text.startswith("<") else len(text)
    is_cut = bool(path)
    written += [end for _, end in reversed(path)]
    return SafeCopy("".join(written), is_cut)


def _attributes(node: Any) -> str:
    found = ((name, node.attr(name)) for name in ("id", "class"))
    return "".join([f' {name}="{escape(value)}"' for name, value in found if value and len(value) <= _LONGEST])
