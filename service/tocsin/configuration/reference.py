"""The reference of the configuration as a document, made from the settings and their comments."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.inspect import StructType

from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.convert import (
    ChannelName,
    NotAllowed,
    Path,
    described,
    dotted,
    is_named_table,
    is_reloaded,
    is_secret,
    is_table_list,
    pattern,
    to_json,
    to_setting,
    type_at,
)
from tocsin.configuration.template import KEYS, SECTIONS
from tocsin.settings import Settings

_HEAD: Final = """\
# Configuration

<!-- Written by the program: python -m tocsin.configuration.reference > docs/configuration.md -->

Every setting has a default; the service runs without a file. `config/tocsin.toml` is a commented file with all
settings, to copy and change.

**Sources**, each overriding the previous one: the defaults, the file, the environment, the command line. The file is
the first that exists of `--config FILE`, `TOCSIN_CONFIG`, `tocsin.toml` in the working folder, and
`tocsin/tocsin.toml` in the user's configuration folder. Settings of pages may also be set at run time, for all pages,
a group or a page (`tocsin watch set`, `tocsin apply`, the web pages); the most specific value applies. `tocsin
doctor` prints the values in force and where each came from.

**In the environment** a setting is called `TOCSIN_SECTION__KEY`, with two underscores: `TOCSIN_PAGES__EVERY=6h`,
`TOCSIN_CHANNELS__OPS__URL=https://…`. Lists are written as `a, b`.

**In an editor**, `config/tocsin.schema.json` completes keys and marks errors: for *Even Better TOML*, write `#:schema
./tocsin.schema.json` in the first line. It has every type of channels; `python -m tocsin.configuration.schema TYPE`
writes one that also has the TYPE of another package, and `GET /api/v1/channel-types` has those that
`delivery.plugins` names.

**Secrets** can be in files of their own: append `_file` to the key, in the file (`secret_file = "ops.secret"`, from
the configuration's folder) and in the environment (`TOCSIN_CHANNELS__OPS__SECRET_FILE=/run/secrets/ops`). If such a
file cannot be read, only what needs it fails: a channel's alerts wait, and pages whose credentials or proxy are in
the file are not checked. The log, `tocsin doctor` and `tocsin channel list` say so. Everything else works.

**Tokens** for the web pages and the API can be declared in a file: `tokens_file = "tocsin.tokens"` under `[http]`, or
`TOCSIN_HTTP__TOKENS_FILE=/run/secrets/tocsin_tokens`. The file has one administrator token, or a line `NAME SCOPE
TOKEN` for each; the scope is `read`, `write` or `admin`. A token has 32 to 256 characters (`openssl rand -hex 32`
creates one), and only its digest is stored. The file is authoritative for the tokens it declares: a token that is
deleted from it is revoked at the next start or SIGHUP, with its sessions. Tokens of `tocsin token add` do not change.
`tocsin token revoke` revokes a declared token at once; it cannot be declared again.

**Durations** are written `100ms`, `10s`, `5m`, `24h`, `80d`, `2w` or `1h30m`, **sizes** `512KiB`, `10MiB`.

**Errors** name the place, the key and the correction; for an unknown key also the most similar known one. SIGHUP
reads the configuration again; an invalid file then changes nothing. A key marked ↻ takes effect at the next start,
and the log says so. The value of a key marked *secret* is never shown.
"""
_TABLE: Final = "| setting | default | allowed | what it is |\n|---|---|---|---|"
_NAMED: Final[dict[str, dict[str, str]]] = {
    "hosts.rules.*": {
        "concurrency": "requests at a time to this host",
        "delay": "between the starts of two requests",
        "retry_after_max": "a longer Retry-After counts as this",
        "robots": '"ignore" only for your own hosts',
        "certificate": "the only one that is trusted there; for one host by its name, never for many",
    },
    "routes": {
        "name": "letters, digits, `_ . -`; must be given, each once",
        "channels": "names of channels; must be given",
        "match": "a table: the alerts that it takes, see below; without it, all",
        "unless": "a table like `match`: alerts that it does not take although they match",
        "digest": 'cron expression of the occasions, such as `"0 7 * * mon-fri"`, or a duration from the first alert, '
        'such as `"1h"`; without it, each alert goes alone',
        "group_by": "a digest for each value of: `group` `host` `kind` `outcome` `basis`",
        "quiet": 'when nothing is sent: `"22:00-07:00"`, `"sat"`, `"fri 18:00-24:00"`; it is sent afterwards',
        "at_most": 'alerts that go alone: `"20 per hour"`, also `minute` and `day`; the rest is one digest at its end',
        "say_nothing": "send a digest without alerts, too; needs a cron expression",
        "template": "a file in `messages.folder`, in place of that of the channel with the same ending",
        "language": "of messages and digests: `en` or `de`; otherwise that of the channel, then of the instance",
        "continue": "the routes below are tried, too",
    },
    "match": {
        "kind": "`changed` `unreachable` `recovered` `disallowed` `suspect` `needs-browser` `storm` `outage` "
        "`unchanged` `too-soon`",
        "outcome": "`major` or `minor`",
        "basis": "`declared`, `inferred` or `contradicted`",
        "group": "of the page",
        "host": 'as in `hosts.rules`: `"example.org"`, or `"*.example.org"` for all below it',
        "url": 'of the page, the whole of it; `*` is any text: `"https://example.org/news/*"`',
        "rule": "that decided, such as `T44`",
        "field": "that changed, such as `topper-major`",
        "words": "any of these, as whole words in any case, in the title, the added lines or your text of the page",
    },
    "silences": {
        "match": "a table, as in routes; must be given",
        "until": "a time with its zone, such as `2026-12-24T18:00:00Z`; without it: until the entry is deleted",
        "reason": "shown beside it",
    },
}
_EXAMPLES: Final = {"hosts.rules.*": '[hosts.rules."*.example.org"]\ndelay = "5s"\n'}
_OF_CHANNELS: Final = """\
`type` must be given; which other keys there are depends on it. A type of another package is used only where
`delivery.plugins` names it.
"""


def render_reference() -> str:
    """Write the document: each section with its settings, their defaults and what is allowed."""
    return "\n".join([_HEAD, *_sections(Settings(), ())])


def _sections(section: Struct, path: Path) -> list[str]:
    rows, below = [], []
    for name in section.__struct_fields__:
        where, value = (*path, name), getattr(section, name)
        if isinstance(value, Struct):
            below += _sections(value, where)
        elif where == ("channels",):
            below += _channels()
        elif is_named_table(type_at(where)):
            below.append(_named(where))
        elif is_table_list(type_at(where)):
            below.append(_listed(name))
        else:
            rows.append(_row(where, to_json(where, value), KEYS[dotted(where)]))
    if not path:
        return below
    head = f"## [{dotted(path)}]\n\n{SECTIONS[dotted(path)]}\n\n{_TABLE}"
    return ["\n".join([head, *rows, ""]), *below]


def _named(path: Path) -> str:
    """A table whose sections have names of the user's own."""
    here = (*path, "NAME")
    key = pattern(here)
    kind = type_at(here)
    assert isinstance(kind, StructType)  # noqa: S101 - what a table of sections is made of
    rows = [
        _row(
            (*here, field.name),
            None if field.required else to_json((*here, field.name), _default(field)),
            _NAMED[key][field.name],
        )
        for field in kind.fields
    ]
    example = f"\n```toml\n{_EXAMPLES[key]}```\n"
    return "\n".join([f"## [{dotted(path)}.NAME]\n\n{SECTIONS[dotted(path)]}\n\n{_TABLE}", *rows, example])


def _listed(name: str) -> str:
    """A list of tables, each with keys of its own."""
    parts = [f"## [[{name}]]\n\n{SECTIONS[name]}\n", _keys(name)]
    if name == "routes":
        parts.append(f"Keys of `match` and `unless`; each value is one or a list:\n\n{_keys('match')}")
    return "\n".join(parts)


def _keys(name: str) -> str:
    rows = [f"| `{key}` | {what} |" for key, what in _NAMED[name].items()]
    return "\n".join(["| key | what it is |", "|---|---|", *rows, ""])


def _channels() -> list[str]:
    """A table for each type of channels."""
    parts = [f"## [channels.NAME]\n\n{SECTIONS['channels']}\n\n{_OF_CHANNELS}"]
    for type_name in our_types():
        kind = load_type(type_name, ())
        here = ("channels", ChannelName("NAME", kind.Settings))
        found = type_at(here)
        assert isinstance(found, StructType)  # noqa: S101 - the class of its settings
        rows = [
            _row(
                (*here, field.name),
                None if field.required else to_json((*here, field.name), _default(field)),
                described((*here, field.name)),
            )
            for field in found.fields
            if field.name != "type"
        ]
        what = " ".join((kind.Settings.__doc__ or "").split())
        example = f"\n```toml\n[channels.NAME]\n{kind.example}```\n"
        parts.append("\n".join([f'### type = "{type_name}"\n\n{what}\n\n{_TABLE}', *rows, example]))
    return parts


def _default(field: Any) -> Any:
    return field.default_factory() if callable(field.default_factory) else field.default


def _row(path: Path, default: Any, what: str) -> str:
    marks = "" if is_reloaded(dotted(path)) else " ↻"
    marks += " *secret*" if is_secret(path) else ""
    cells = (f"`{path[-1]}`{marks}", _shown(default), _allowed(path), what)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, (list, dict)):
        return "`[]`" if isinstance(value, list) else "`{}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _allowed(path: Path) -> str:
    """What is allowed, in the words with which a mistake is refused."""
    try:
        to_setting(path, object(), written=False)
    except NotAllowed as exc:
        # Examples of durations stand at the top, once.
        return str(exc).partition(', such as "10s"')[0].partition(', such as "512KiB"')[0]
    raise AssertionError(path)


if __name__ == "__main__":
    print(render_reference(), end="")  # noqa: T201 - what it is run for
