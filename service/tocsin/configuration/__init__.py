"""Reading the configuration: TOML, environment and command line into frozen settings; and what holds for one page.

`load` searches and reads files; everything else here is pure.
"""

from tocsin.configuration.convert import (
    changed_keys,
    flatten,
    is_reloaded,
    needs_restart,
    parse_size,
    parse_span,
    show_size,
    show_span,
)
from tocsin.configuration.loading import Loaded, load, mask, parse
from tocsin.configuration.pages import (
    all_unset,
    check_page_keys,
    parse_page_settings,
    resolve_page,
    resolve_page_origins,
    resolve_readable,
)

__all__ = [
    "Loaded",
    "all_unset",
    "changed_keys",
    "check_page_keys",
    "flatten",
    "is_reloaded",
    "load",
    "mask",
    "needs_restart",
    "parse",
    "parse_page_settings",
    "parse_size",
    "parse_span",
    "resolve_page",
    "resolve_page_origins",
    "resolve_readable",
    "show_size",
    "show_span",
]
