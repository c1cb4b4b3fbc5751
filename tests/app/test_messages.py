"""Messages by the user's own templates: rendered aside, bounded, and replaced where they fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.alert_examples import examples
from tocsin.app.messages import MessageWriter
from tocsin.engine.alerting.messages import message_of
from tocsin.errors import SettingsError
from tocsin.events import Happening
from tocsin.settings import InstanceSettings, MessageSettings, Settings

EVENT = examples()[0]


@pytest.fixture
def happened() -> list[Happening]:
    return []


@pytest.fixture
def settings_of(tmp_path: Path) -> Callable[..., Settings]:
    def make(**templates: str) -> Settings:
        for kind, text in templates.items():
            (tmp_path / kind).write_text(text, encoding="utf-8")
        named = MessageSettings(**{kind: str(tmp_path / kind) for kind in templates})
        return Settings(instance=InstanceSettings(language="de"), messages=named)

    return make


@asynccontextmanager
async def writing(settings: Settings, happened: list[Happening]) -> AsyncIterator[MessageWriter]:
    writer = MessageWriter(settings, happened.append)
    try:
        yield writer
    finally:
        await writer.close()


async def test_templates_of_the_user_replace_the_built_in_ones(
    settings_of: Callable[..., Settings], happened: list[Happening]
) -> None:
    settings = settings_of(
        html="<p>{{ alert.title }} <b>{{ '<' }}</b> {{ t('message.why') }}</p>", text="{{ alert.summary }} {{ '<' }}"
    )
    async with writing(settings, happened) as writer:
        message = await writer.write(EVENT)

    built_in = message_of(EVENT, "de")
    assert message.html == "<p>A page <b>&lt;</b> Warum</p>"
    assert message.text.startswith("„Bluesday Tuesday“ wurde")
    assert message.text.endswith(" <")
    assert (message.markdown, message.subject) == (built_in.markdown, built_in.subject)
    assert happened == []


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ 'a' * 10**9 }}", "text: MemoryError"),
        ("{{ 'a' * 10**6 }}", "text: it is longer than 256 KiB"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "it took longer than 2 s"),
        ("{% for a in range(10**9) %}{% endfor %}", "text: OverflowError"),
        ("{{ ''.__class__.__mro__ }}", "text: SecurityError"),
        ("{{ alert.title.no.such }}", "text: UndefinedError"),
        ("{% if %}", "text: TemplateSyntaxError"),
        ("{{ 1 / 0 }}", "text: ZeroDivisionError"),
        ("{% include '/etc/passwd' %}", "text: TemplateNotFound"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "text: RecursionError"),
    ],
)
async def test_a_template_that_fails_is_replaced_by_the_built_in_one_which_says_so(
    template: str, why: str, settings_of: Callable[..., Settings], happened: list[Happening]
) -> None:
    async with writing(settings_of(text=template), happened) as writer:
        message = await writer.write(EVENT)
        again = await writer.write(EVENT)

    built_in = message_of(EVENT, "de").text
    assert message.text.startswith(built_in.rstrip("\n"))
    assert f"Ihre Vorlage war nicht verwendbar, darum ist dies die eingebaute Nachricht: {why}" in message.text
    assert message == again
    (said,) = happened
    assert (said.name, said.level) == ("message.template_failed", "error")
    assert str(said.values["error"]).startswith(why)


async def test_a_process_that_was_killed_is_replaced(
    settings_of: Callable[..., Settings], happened: list[Happening]
) -> None:
    async with writing(settings_of(text="{{ alert.title }}"), happened) as writer:
        await writer.write(EVENT)
        assert writer._process is not None
        await writer._process.end()
        message = await writer.write(EVENT)

    assert message.text == "A page"


def test_a_template_that_cannot_be_read_is_named_at_the_start(tmp_path: Path) -> None:
    settings = Settings(messages=MessageSettings(html=str(tmp_path / "gone.html")))

    with pytest.raises(SettingsError, match=r"messages\.html: .*gone\.html cannot be read"):
        MessageWriter(settings, print)
