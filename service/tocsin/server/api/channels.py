"""Channels over the API."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Path, Response
from pydantic import ConfigDict, Field

from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.saved import fields_of
from tocsin.configuration.schema import channel_schema
from tocsin.model.records.alerting import ConfiguredChannel, SettingField, TypeOfChannels
from tocsin.model.records.fields import Part
from tocsin.model.records.routing import ChannelPreview, RenderedMessage
from tocsin.server.api.operations import IfMatch, Input, UlidInBody, make_router, problems
from tocsin.server.api.questions import moment_of
from tocsin.server.api.routing import name_in, saved_revision, tag_saved
from tocsin.server.decisions import missing, try_channel
from tocsin.server.notifications import (
    latest_alerts,
    message_for,
    mute_channel,
    preview_channel,
    read_given,
    remove_entry,
    save_channel,
    show_channel,
    try_unsaved,
    unmute_channel,
)
from tocsin.server.parts import Given, Parts, Reading, Writing

router = make_router("channels")

Name = Annotated[str, Path(min_length=1, max_length=63, examples=["ops"])]
ChannelBody = Annotated[
    dict[str, Any],
    Body(
        description="the keys of `[channels.NAME]` in the configuration, with `name` for a new one; a secret that "
        "comes back as the mask that was shown stays as it is",
        examples=[{"name": "ops", "type": "webhook", "url": "https://hooks.example.org/x", "secret": "raw:a long key"}],
    ),
]


class Mute(Input):
    """How long a channel is given nothing."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"until": "7d"}, {}]})

    until: Annotated[
        str | None, Field(max_length=40, description="a time with its offset, or a duration; null: until you unmute it")
    ] = None


class ChannelToPreview(Input):
    """Which alert is to be shown as a channel sends it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"route": "press"}]})

    alert: Annotated[UlidInBody | None, Field(description="null: the latest, or a made-up one")] = None
    route: Annotated[
        str | None, Field(max_length=63, description="whose template and language count; null: the one that sends it")
    ] = None


class MessageToPreview(Input):
    """Which alert is to be shown as people read it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})

    alert: Annotated[UlidInBody | None, Field(description="null: the latest")] = None


@router.get("/channels", summary="List channels", operation_id="list_channels")
async def list_channels(_: Reading, parts: Given) -> Part[ConfiguredChannel]:
    """List the channels with their health; secrets are masked. `source` names where each is edited."""
    channels = sorted(parts.service.settings().channels.items())
    return Part(items=[await show_channel(parts, name, settings) for name, settings in channels], next=None)


@router.get("/channel-types", summary="List the types of channels", operation_id="list_channel_types")
async def list_types(_: Reading, parts: Given) -> Part[TypeOfChannels]:
    """List the types of channels with their keys, for a form."""
    plugins = parts.service.settings().delivery.plugins
    items = []
    for name in (*our_types(), *plugins):
        kind = load_type(name, plugins).Settings
        fields = [
            SettingField(key=each.key, hint=each.hint, kind=each.kind, choices=list(each.choices), default=each.default)
            for each in fields_of(kind)
        ]
        items.append(TypeOfChannels(type=name, fields=fields, schema=channel_schema(kind, name)))
    return Part(items=items, next=None)


@router.get("/channels/{name}", summary="Show a channel", operation_id="show_channel")
async def show(_: Reading, parts: Given, response: Response, name: Name) -> ConfiguredChannel:
    """Show a channel; one that was made at run time has the ETag that an edit needs."""
    return await _channel(parts, response, name)


@router.post(
    "/channels", status_code=201, summary="Make a channel", operation_id="add_channel", responses=problems(409)
)
async def add_channel(caller: Writing, parts: Given, response: Response, wanted: ChannelBody) -> ConfiguredChannel:
    """Make a channel; it is in force at once. Its secrets are stored, and never shown again."""
    name = name_in(wanted, "channel")
    await save_channel(parts, caller, name, _settings(wanted), if_revision=0)
    response.headers["Location"] = f"/api/v1/channels/{name}"
    return await _channel(parts, response, name)


@router.put(
    "/channels/{name}", summary="Replace a channel", operation_id="replace_channel", responses=problems(409, 412, 428)
)
async def replace_channel(
    caller: Writing, parts: Given, response: Response, name: Name, wanted: ChannelBody, if_match: IfMatch = None
) -> ConfiguredChannel:
    """Replace the settings of a channel that was made at run time; its waiting alerts go to the new address."""
    revision = saved_revision(parts, "channel", name, if_match)
    await save_channel(parts, caller, name, _settings(wanted), if_revision=revision)
    return await _channel(parts, response, name)


@router.delete(
    "/channels/{name}",
    status_code=204,
    summary="Remove a channel",
    operation_id="remove_channel",
    responses=problems(409, 412),
)
async def remove_channel(caller: Writing, parts: Given, name: Name, if_match: IfMatch = None) -> None:
    """Remove a channel that was made at run time and that no route names."""
    revision = saved_revision(parts, "channel", name, if_match, needed=False)
    await remove_entry(parts, caller, "channel", name, if_revision=revision)


@router.post(
    "/channels/test",
    status_code=204,
    summary="Test an unsaved channel",
    operation_id="test_unsaved",
    responses=problems(502),
)
async def test_unsaved(caller: Writing, parts: Given, wanted: ChannelBody) -> None:
    """Send a test event with settings that are not saved; masked secrets are those of the channel of this name."""
    name = name_in(wanted, "channel")
    section, _ = read_given(parts, name, _settings(wanted))
    await try_unsaved(parts, caller, name, section)


@router.post("/channels/preview", summary="Preview a message", operation_id="preview_message", responses=problems(404))
async def preview_message(_: Reading, parts: Given, wanted: MessageToPreview) -> RenderedMessage:
    """Show an alert as people read it in mails and chats."""
    found = [await parts.store.alert(wanted.alert)] if wanted.alert is not None else await latest_alerts(parts, 1)
    if not found or found[0] is None:
        raise missing("alert", wanted.alert or "latest", "GET /api/v1/alerts")
    message = message_for(parts, found[0].event)
    return RenderedMessage(
        subject=message.subject,
        text=message.text,
        html=message.html,
        markdown=message.markdown,
        short=message.short,
    )


@router.post("/channels/{name}/preview", summary="Preview a channel's message", operation_id="preview_channel")
async def show_preview(_: Reading, parts: Given, name: Name, wanted: ChannelToPreview) -> ChannelPreview:
    """Show an alert as this channel sends it, with its template and language; nothing is sent."""
    return await preview_channel(parts, name, wanted.alert, wanted.route)


@router.post(
    "/channels/{name}/test",
    status_code=204,
    summary="Test a channel",
    operation_id="test_channel",
    responses=problems(502),
)
async def test_channel(caller: Writing, parts: Given, name: Name) -> None:
    """Send a channel a test event; a disabled channel that accepts it is enabled again."""
    await try_channel(parts, caller, name)


@router.post("/channels/{name}/mute", summary="Mute a channel", operation_id="mute_channel")
async def mute(caller: Writing, parts: Given, response: Response, name: Name, wanted: Mute) -> ConfiguredChannel:
    """Give a channel nothing for a time, also one of the configuration; its alerts wait, none is lost."""
    now = parts.clock.now()
    until = moment_of(wanted.until, now, name="until") if wanted.until is not None else None
    await mute_channel(parts, caller, name, until)
    return await _channel(parts, response, name)


@router.post("/channels/{name}/unmute", summary="Unmute a channel", operation_id="unmute_channel")
async def unmute(caller: Writing, parts: Given, response: Response, name: Name) -> ConfiguredChannel:
    """End a mute; the alerts that waited are sent."""
    await unmute_channel(parts, caller, name)
    return await _channel(parts, response, name)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != "name"}


async def _channel(parts: Parts, response: Response, name: str) -> ConfiguredChannel:
    settings = parts.service.settings().channels.get(name)
    if settings is None:
        raise missing("channel", name, "GET /api/v1/channels")
    tag_saved(parts, response, "channel", name)
    return await show_channel(parts, name, settings)
