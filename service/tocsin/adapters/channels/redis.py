"""Alerts as entries of a stream of Redis or Valkey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from msgspec import Meta

from tocsin.adapters.channels.broker import (
    BrokerChannel,
    BrokerSettings,
    BrokerType,
    Endpoint,
    head_of,
    shown_error,
)
from tocsin.model import SerializedEvent
from tocsin.ports import ChannelFinding
from tocsin.settings import SecretAddress

if TYPE_CHECKING:
    from redis.asyncio import Redis

_CONNECTIONS: Final = 8
_DENIED: Final = ("WRONGPASS", "NOAUTH", "NOPERM", "invalid username-password", "without any password configured")


class RedisSettings(BrokerSettings, frozen=True, kw_only=True):
    """A stream of Redis or Valkey. Accepted: the server answered XADD with the entry's id."""

    url: Annotated[
        SecretAddress,
        Meta(description="redis://HOST/DATABASE or rediss://HOST/DATABASE, which is encrypted; must be given"),
    ] = ""
    stream: Annotated[str, Meta(description="its key")] = "tocsin:alerts"
    max_entries: Annotated[
        int, Meta(description="the oldest beyond about this number are deleted; 0: none", ge=0, le=1_000_000_000)
    ] = 0


class RedisChannel(BrokerChannel["Redis", RedisSettings]):
    """Adds each event to the stream as the fields id, type and event."""

    # Each waiting command takes a connection.
    at_once = _CONNECTIONS

    def _library_errors(self) -> tuple[type[Exception], ...]:
        from redis.exceptions import RedisError  # noqa: PLC0415 - only where such a channel is used

        return (RedisError,)

    async def _open(self) -> Redis:
        from redis.asyncio import BlockingConnectionPool, Connection, Redis  # noqa: PLC0415 - the same
        from redis.asyncio.retry import Retry  # noqa: PLC0415 - the same
        from redis.backoff import NoBackoff  # noqa: PLC0415 - the same

        dial, endpoint = self._context.dial, self._endpoint

        class DialledConnection(Connection):
            """A connection that obeys the address policy."""

            async def _connect(self) -> None:
                self._reader, self._writer = await dial(endpoint.host, endpoint.port, tls=endpoint.tls)

        pool = BlockingConnectionPool(
            max_connections=_CONNECTIONS,
            connection_class=DialledConnection,
            host=endpoint.host,
            port=endpoint.port,
            db=int(endpoint.path or 0),
            username=endpoint.user or None,
            password=endpoint.password or None,
            retry=Retry(NoBackoff(), 0),
        )
        return Redis.from_pool(pool)

    async def _give(self, client: Redis, event: SerializedEvent) -> None:
        fields: dict[Any, Any] = {"id": event.id, "type": head_of(event).type, "event": event.json}
        most = self._settings.max_entries or None
        await client.xadd(self._settings.stream, fields, maxlen=most, approximate=True)

    async def _shut(self, client: Redis) -> None:
        await client.aclose()

    def _is_open(self, client: Redis) -> bool:
        # Each connection of the pool is looked at before it is used.
        return client is not None

    async def _examine(self, client: Redis) -> Sequence[ChannelFinding]:
        from redis.exceptions import ResponseError  # noqa: PLC0415 - as above

        await client.ping()
        try:
            kept = await client.config_get("appendonly", "appendfsync")
        except ResponseError:
            # Hosted servers do not tell.
            return ()
        if kept.get("appendonly") == "yes" and kept.get("appendfsync") == "always":
            return ()
        said = f"at {self._endpoint.where} may lose accepted alerts when it or its machine fails"
        mend = "Set `appendonly yes` and `appendfsync always` in its configuration"
        return [ChannelFinding(said, mend, is_wrong=False)]

    def _judge(self, exc: Exception) -> tuple[str, str] | None:
        from redis import exceptions  # noqa: PLC0415 - as above

        said = shown_error(exc)
        if isinstance(exc, exceptions.AuthenticationError) or any(word in said for word in _DENIED):
            return "channel", "user or password refused, or no right to use this stream"
        if isinstance(exc, (exceptions.ConnectionError, exceptions.TimeoutError)) and exc.__context__ is not None:
            return None
        return ("channel", f"refused: {said}") if isinstance(exc, exceptions.RedisError) else None


class RedisType(BrokerType):
    """Redis and Valkey; implements `ChannelType`."""

    Settings, Channel = RedisSettings, RedisChannel
    schemes: ClassVar = {"redis": (6379, False), "rediss": (6379, True)}
    example = """\
type = "redis"
url = "rediss://redis.example.org/0"
stream = "tocsin:alerts"
password_file = "redis.secret"
"""

    def wrong_in(self, settings: RedisSettings, endpoint: Endpoint) -> str:
        """See BrokerType."""
        if endpoint.path and not (endpoint.path.isascii() and endpoint.path.isdigit()):
            return "url: its path is the number of a database, as in redis://HOST/0"
        return "" if settings.stream else "stream: empty; name the stream's key"
