"""Turns the items of a list into pages, and reports those that cannot be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO

from msgspec import Struct

from tocsin.configuration import parse_page_settings
from tocsin.errors import UsageError
from tocsin.lists.entries import ListedChannels, ListEntry, ListNotice, RefusedLine
from tocsin.lists.formats.opening import open_list
from tocsin.lists.pages import GroupNames, check_group, check_words, new_page
from tocsin.model import JsonObject, NewPage
from tocsin.spec.html.urls import watch_url

# Of the hosts that are left out, the first are named.
_MOST_HOSTS = 20
_OFFER = "`tocsin watch import FILE --channels NEW.toml` writes them as channels and routes"
# Settings repeat from line to line; each different text is parsed once.
_MOST_JUDGED = 1000


class Tally(Struct):
    """Counts of a list's lines by outcome.

    known     pages that are watched already, or are in the list twice
    sitemaps  read from an index or a robots.txt
    """

    added: int = 0
    known: int = 0
    refused: int = 0
    sitemaps: int = 0


class Reader:
    """Turns the items of one list into pages.

    group   for pages whose line names none
    hosts   only pages of these hosts are imported; None: all
    tally   counts refused lines
    offers  whether to say how the channels that the list names can be taken
    say     is called with a message for each line that cannot be imported, beginning with the list's name and the line
    named   the sitemaps that the list names, once it was read
    channels  where its alerts went in another program, once it was read; None: nowhere
    """

    def __init__(
        self,
        name: str,
        kind: str | None,
        group: str,
        *,
        tally: Tally,
        hosts: frozenset[str] | None = None,
        groups: Iterable[str] = (),
        offers: bool = True,
        say: Callable[[str], None],
    ) -> None:
        self._groups = GroupNames(groups)
        self._name, self._kind, self._group, self.say = name, kind, group, say
        self._hosts, self._tally, self._offers = hosts, tally, offers
        self._judged: dict[tuple[tuple[str, str], ...], JsonObject] = {}
        self._foreign: dict[str, tuple[int, int]] = {}
        self.named: list[ListNotice] = []
        self.channels: ListedChannels | None = None

    def pages(self, stream: IO[bytes]) -> Iterator[NewPage]:
        """Yield the pages that can be imported, in order. Raises UsageError if the stream is not a list."""
        _, items = open_list(stream, name=self._name, kind=self._kind)
        for item in items:
            match item:
                case ListEntry():
                    page = self._page(item)
                    if page is not None:
                        yield page
                case RefusedLine():
                    self.refuse(item.line, item.reason)
                case ListNotice(kind="sitemap"):
                    self.named.append(item)
                case ListedChannels():
                    self.channels = item
                    if self._offers:
                        self.say(f"{self._name}: {item.told}; {_OFFER}")
                case ListNotice():
                    self.say(f"{self._name}:{item.line}: {item.told}")
        for host, (line, pages) in self._foreign.items():
            what = "1 page" if pages == 1 else f"{pages:,} pages"
            far = f"{what} of {host}, which is not the sitemap's own host (the first in line {line})"
            self.say(f"{self._name}: {far}; to import them too, give --any-host")

    def refuse(self, line: int, reason: str) -> None:
        """Count a line that cannot be imported, and report why."""
        self._tally.refused += 1
        self.say(f"{self._name}:{line}: {reason}")

    def _page(self, entry: ListEntry) -> NewPage | None:
        try:
            group = self._groups.take(check_group(entry.group)) if entry.group else self._group
            text, settings = check_words(entry.text), self._settings(entry)
            found = watch_url(entry.url)
        except UsageError as exc:
            self.refuse(entry.line, str(exc))
            return None
        if self._hosts is not None and found.host not in self._hosts:
            self._refuse_host(found.host, entry.line)
            return None
        return new_page(found, group=group, text=text, settings=settings, paused=entry.paused)

    def _refuse_host(self, host: str, line: int) -> None:
        """Count a page of another host; one message per host, since a sitemap may have 50,000 of them."""
        self._tally.refused += 1
        if host not in self._foreign and len(self._foreign) >= _MOST_HOSTS:
            host = "other hosts"
        first, pages = self._foreign.get(host, (line, 0))
        self._foreign[host] = (first, pages + 1)

    def _settings(self, entry: ListEntry) -> JsonObject:
        """Check settings, once for all lines that have the same."""
        key = tuple(entry.settings.items())
        if key not in self._judged:
            if len(self._judged) >= _MOST_JUDGED:
                self._judged.clear()
            self._judged[key] = parse_page_settings(entry.settings, source="settings")
        return self._judged[key]
