"""What every form says of bad input, in German: no words of the English remain but what was typed."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from tests.server.web.visiting import Visitor, tree

LONG: Final = "x" * 3000
CHANNEL: Final[dict[str, Any]] = {
    "name": "a-b",
    "type": "webhook",
    "revision": "0",
    "s-url": "https://h.example/",
    "secret-secret": "raw:abc",
}
ROUTE: Final[dict[str, Any]] = {"name": "press", "revision": "0", "channels": ["ops"]}
SETTINGS: Final = {
    "mode": "sometimes",
    "every": "now and then",
    "cron": "at noon",
    "min_gap": "-1s",
    "minor_threshold": "many",
    "tries": "101",
    "retry_refused": "perhaps",
    "report": "everything",
    "signal_rules": "etag: loud",
    "look_at": "main >",
    "ignore": "]",
    "route": "two words",
    "ready": "css:",
    "steps": "jump .more",
    "every_min": "1d then",
}
STEPS: Final = (
    "click", "fill #a", "fill #a b c!", "press Return", "wait 99m", "scroll down", "click [", "fill #a b at nowhere",
    "fill #a b at https://x.example/path", "\n".join(["wait 1s"] * 21), "click " + LONG,
)  # fmt: skip
BAD_ROUTES: Final[tuple[dict[str, Any], ...]] = (
    {"name": "a b"},
    {"name": ""},
    {"channels": []},
    {"channels": ["nowhere"]},
    {"kind": ["outage"], "group": "press"},
    {"group": "press", "unless-group": "press"},
    {"host": "a b"},
    {"words": "!"},
    {"url": "\x01"},
    {"unless-kind": "everything"},
    {"digest": "soon"},
    {"digest": "99d"},
    {"quiet": "at night"},
    {"quiet": "mon-sun"},
    {"at_most": "many"},
    {"at_most": "9 per hour", "digest": "1h"},
    {"group_by": ["group"]},
    {"say_nothing": "yes"},
    {"template": "x.exe"},
    {"template": "gone.txt"},
    {"language": "fr"},
)
BAD: Final[list[tuple[str, dict[str, Any]]]] = [
    *(("/settings/pages", {key: text}) for key, text in SETTINGS.items()),
    *(("/pages/1/settings", {key: text}) for key, text in SETTINGS.items()),
    *(("/pages/settings", {key: text, "page": ["1"]}) for key, text in SETTINGS.items()),
    *(("/pages/1/settings", {"steps": text}) for text in STEPS),
    *(("/pages/1/settings", {"ready": text}) for text in ("soon", "99m", "css: [")),
    *(("/pages/1/settings", {"signal_rules": text}) for text in ("sun: major", "etag by 3 %: major")),
    ("/settings/pages", {"every": "1h", "cron": "0 6 * * *"}),
    ("/settings/pages", {"every_min": "2h", "every_max": "1h"}),
    ("/settings/pages", {"adaptive": "true", "cron": "0 6 * * *"}),
    ("/settings/pages", {"cron": "0 " * 150}),
    ("/pages/1/settings", {"group": "x" * 99}),
    ("/pages/1/settings", {"text": LONG}),
    ("/pages/1/settings", {"secret-name": "a b", "secret-value": "c"}),
    ("/pages/1/settings", {"route": "nowhere"}),
    ("/pages/settings", {"page": ["1"]}),
    ("/pages/bulk", {"verb": "every", "every": "soon", "page": ["1"]}),
    ("/pages/bulk", {"verb": "move", "to_group": "x" * 99, "page": ["1"]}),
    *(
        ("/pages/add", {"urls": url})
        for url in (
            "", "nowhere", "ftp://x.example/", "//x.example/", "x.example/a", "http://xn--a.example/", "http://" + LONG,
        )
    ),
    ("/pages/add", {"urls": "https://x.example/\nnowhere\nhttps://y.example/"}),
    ("/pages/add", {"urls": "https://x.example/", "every": "soon"}),
    ("/pages/add", {"urls": "https://x.example/", "group": "x" * 99}),
    ("/pages/add", {"urls": "https://x.example/", "to": "chat", "address": "nowhere", "step": "add"}),
    ("/pages/add", {"urls": "https://x.example/", "to": "chat", "address": "", "step": "test"}),
    *(
        ("/notifications/channel", CHANNEL | change)
        for change in (
            {"name": ""},
            {"name": "a b"},
            {"type": "pigeon"},
            {"s-url": ""},
            {"s-url": "nowhere"},
            {"s-timeout": "soon"},
            {"s-timeout": "9h"},
            {"s-format": "loud"},
            {"s-headers": "X Y: z"},
            {"s-headers": "no pairs"},
            {"s-template": "x.exe"},
            {"s-format": "template"},
            {"s-language": "fr"},
            {"secret-secret": ""},
            {"secret-secret": "raw:"},
            {"secret-secret": "whsec_!"},
            {"s-headers": "webhook-id: 1"},
        )
    ),
    *(
        ("/notifications/channel", {"name": "m", "type": kind, "revision": "0", **given})
        for kind, given in (
            ("mail", {}),
            ("mail", {"s-host": "h", "s-to": "nobody"}),
            ("mail", {"s-host": "h", "s-to": "a@b.example", "s-sender": "nobody"}),
            ("mail", {"s-host": "h", "s-to": "a@b.example", "s-sender": "c@b.example", "s-user": "c"}),
            ("mail", {"s-port": "99999"}),
            ("mqtt", {"s-url": "http://x"}),
            ("mqtt", {"s-url": "mqtt://x.example", "s-topic": "a/#"}),
            ("mqtt", {"s-url": "mqtt://x.example", "s-qos": "3"}),
            ("nats", {"s-url": "nats://x.example", "s-subject": "a.*"}),
            ("redis", {"s-url": "redis://x.example/a"}),
            ("redis", {"s-url": "redis://x.example", "s-max_entries": "-1"}),
            ("amqp", {"s-url": "nowhere"}),
            ("apprise", {"s-url": "nowhere"}),
        )
    ),
    *(("/notifications/route", ROUTE | change) for change in BAD_ROUTES),
    ("/notifications/silence", {}),
    ("/notifications/silence", {"host": "a b"}),
    ("/notifications/silence", {"words": "!"}),
    ("/notifications/silence", {"group": "press", "until": "soon"}),
    ("/notifications/silence", {"group": "press", "until": "2001-01-01"}),
    ("/notifications/silence", {"group": "press", "until": "9999-01-01"}),
    ("/notifications/silence", {"group": "press", "reason": "\x01"}),
    ("/notifications/channel/mute", {"name": "ops", "muted": "yes", "until": "soon"}),
    ("/questions/1/answer", {"kind": "again", "when": "at", "at": "soon"}),
    ("/questions/1/answer", {"kind": "again", "when": "at", "at": "2001-01-01"}),
    ("/questions/1/answer", {"kind": "copy", "copy": "other", "copy-url": "nowhere"}),
    ("/settings/access/tokens", {"name": "", "scope": "read"}),
    ("/settings/access/tokens", {"name": "x", "scope": "all"}),
    ("/settings/access/tokens", {"name": "x", "scope": "read", "expires": "soon"}),
    ("/login", {"token": "wrong"}),
]  # fmt: skip
TYPED: Final = re.compile(
    r'tocsin \w+ \w+(?: NAME)?|"[^"]*"|\'[^\']*\'|`[^`]*`|“[^”]*”|„[^“]*“|\([^()]*\)|\S*[/.=\d]\S*|[,;:]'
)
"""What was typed, what a library says, commands, and examples of values."""


def runs_of(said: list[str]) -> set[tuple[str, ...]]:
    """Each three words that follow one another."""
    found = set()
    for text in said:
        for part in TYPED.split(text):
            words = re.findall(r"[\w-]+", part.lower())
            found |= {tuple(words[at : at + 3]) for at in range(len(words) - 2)}
    return found


async def said_of(visitor: Visitor, language: str, path: str, form: dict[str, Any]) -> list[str]:
    visitor.client.headers["accept-language"] = language
    answer = await visitor.post(path, **form)
    page = answer.text if answer.status_code != 303 else await visitor.get(answer.headers["location"])
    wrong = tree(page).xpath("//*[contains(@class, 'wrong')] | //*[@role='alert'] | //*[@id='told'] | //main//h1/../p")
    return [" ".join(each.text_content().split()) for each in wrong]


@pytest.mark.parametrize(("path", "form"), BAD, ids=[f"{path} {str(form)[:60]}" for path, form in BAD])
async def test_nothing_english_is_said_of_bad_input(visitor: Visitor, path: str, form: dict[str, Any]) -> None:
    english = await said_of(visitor, "en", path, form)
    german = await said_of(visitor, "de", path, form)

    assert english
    assert len(german) == len(english)
    assert runs_of(german) & runs_of(english) == set()
