"""Alerts to the chats and services that Apprise knows, sent by a process aside in a cell."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from typing import Annotated, Final, cast

import msgspec
from msgspec import Meta

from tocsin.adapters.channels.apprise_process import AppriseJob, AppriseResult, AppriseText
from tocsin.adapters.channels.context import ChannelContext, MessageChannelSettings
from tocsin.configuration.loading import mask_scheme
from tocsin.errors import DeliveryError, ProcessError, SettingsError
from tocsin.ports import ChannelFinding, Notification
from tocsin.ports.processes import Asides
from tocsin.settings import SecretScheme, why_unread

MODULE: Final = "tocsin.app.apprise"
# More than the processes that there are: while one works, the next alert of another page is at hand.
_AT_ONCE: Final = 4
_SCHEME: Final = re.compile(r"([a-z][a-z0-9]*)://\S", re.IGNORECASE)
_LOCAL: Final = "it would show the alert on this machine, not send it; use type 'stdout' or 'file'"
_NO_PROXY: Final = "its connections cannot go through a proxy of HTTP, and Apprise has no other way out"
_SHUT_OUT: Final = {
    **dict.fromkeys(
        ("syslog", "dbus", "kde", "qt", "gio", "glib", "gnome", "macosx", "windows", "blink1"),
        _LOCAL,
    ),
    **dict.fromkeys(("mailto", "mailtos"), "use type 'mail', which keeps the alerts of a page in one thread"),
    **dict.fromkeys(("mqtt", "mqtts"), "use type 'mqtt', which waits until the broker has the alert"),
    **dict.fromkeys(("amqp", "amqps"), "use type 'amqp', which waits until the broker has the alert"),
    **dict.fromkeys(
        (
            *("aprs", "deltachat", "deltachats", "growl", "irc", "ircs", "nostr", "rsyslog", "smpp", "smpps"),
            *("xmpp", "xmpps"),
        ),
        _NO_PROXY,
    ),
}
# The service read the message, and wants it otherwise. Every other answer is about the channel: too much at once, no
# such room, a token that was revoked.
_ALERTS_FAULT: Final = frozenset({400, 413, 422})


class AppriseSettings(MessageChannelSettings, frozen=True, kw_only=True):
    """A URL of Apprise: of Telegram, Matrix, Pushover and many other services."""

    url: Annotated[
        SecretScheme,
        Meta(description="with one target, such as slack://… or ntfy://…; its parts are secrets; must be given"),
    ] = ""

    def address(self) -> str:
        """Give the scheme of the URL: the rest of it is made of secrets."""
        return self.url if why_unread(self.url) is not None else mask_scheme(self.url)


class AppriseType:
    """Alerts by Apprise; implements `ChannelType`."""

    Settings = AppriseSettings
    example = """\
type = "apprise"             # needs: pip install 'tocsin[apprise]'
url_file = "chat.url"        # a file that holds one URL of Apprise; or url = "slack://…"
"""

    def open(self, name: str, settings: AppriseSettings, context: ChannelContext) -> AppriseChannel:
        """Build the channel; raises SettingsError for a URL that is shut out, and where Apprise cannot run."""
        scheme = _SCHEME.match(settings.url)
        if scheme is None:
            raise SettingsError(
                f"channels.{name}.url: this is no URL of Apprise, such as ntfy://example.org/alerts; mend it"
            )
        if why := _SHUT_OUT.get(scheme[1].lower()):
            raise SettingsError(f"channels.{name}.url: {scheme[1].lower()}:// is not allowed here; {why}")
        if importlib.util.find_spec("apprise") is None:
            raise SettingsError(f"channels.{name}: Apprise is not installed; run: pip install 'tocsin[apprise]'")
        asides = context.asides
        if why := "this process starts no other" if asides is None else asides.why_not():
            raise SettingsError(f"channels.{name}: Apprise runs in a cell, but {why}")
        return AppriseChannel(name, settings, cast("Asides", asides))

    async def probe(self, name: str, settings: AppriseSettings, context: ChannelContext) -> Sequence[ChannelFinding]:
        """Let Apprise read the URL; it has no way to try a service without a message."""
        try:
            channel = self.open(name, settings, context)
        except SettingsError:  # which is told already
            return []
        try:
            result, _ = await channel.ask(None)
        except (ProcessError, TimeoutError) as exc:
            what, _, mend = (str(exc) or "Apprise does not start in time").partition("; ")
            return [ChannelFinding(f"cannot be examined: {what}", mend or f"Run: tocsin channel test {name}")]
        if not result.error:
            return []
        return [ChannelFinding(f"cannot work: {result.error}", f"Correct channels.{name}.url")]


class AppriseChannel:
    """Sends each message to the one target of a URL.

    Accepted when Apprise says so, which is when the service answered with success. Apprise passes no ids on, so a
    message that is repeated after a crash is seen twice.
    """

    takes_messages = True

    def __init__(self, name: str, settings: AppriseSettings, asides: Asides) -> None:
        self.name = name
        self.at_once = _AT_ONCE
        self._settings, self._asides = settings, asides

    async def deliver(self, notification: Notification) -> None:
        """Send the message, within the channel's timeout.

        Raises DeliveryError: "alert" where the service wants this message otherwise, or Apprise fails at it, "channel"
        for all else, an answer of 429 among it.
        """
        message = notification.message
        if message is None:
            raise DeliveryError(self.name, "alert", "there is no message for people")
        try:
            result, refusals = await self.ask(AppriseText.of(message))
        except TimeoutError as exc:
            timeout_s = self._settings.timeout.total_seconds()
            raise DeliveryError(self.name, "channel", f"no answer within {timeout_s:g} s") from exc
        except ProcessError as exc:
            raise DeliveryError(self.name, "channel", str(exc)) from exc
        if not result.error:
            return
        is_alerts = result.blames_text or result.status in _ALERTS_FAULT
        # What the proxy refused, Apprise takes for an answer of the service.
        said = refusals[0] if refusals else result.error
        raise DeliveryError(self.name, "alert" if is_alerts and not refusals else "channel", said)

    async def ask(self, message: AppriseText | None) -> tuple[AppriseResult, Sequence[str]]:
        """Let a process send the message, or only read the URL; raises ProcessError and TimeoutError.

        Returns what came of it, and what the proxy refused meanwhile.
        """
        job = msgspec.msgpack.encode(AppriseJob(self._settings.url, message))
        answer = await self._asides.ask(MODULE, job, self._settings.timeout.total_seconds())
        return msgspec.msgpack.decode(answer.body, type=AppriseResult), answer.refusals

    async def close(self) -> None:
        """Do nothing: the processes serve other channels, too."""
