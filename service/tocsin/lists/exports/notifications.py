"""Notification URLs of changedetection.io, and the channels and routes that they become here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tocsin.errors import UsageError
from tocsin.lists.entries import GROUP_LETTERS, texts
from tocsin.spec.html.urls import watch_url

_SCHEME: Final = re.compile(r"([a-z][a-z0-9]*)://\S", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{[{%]")
_LONGEST_URL: Final = 4096
_MOST_URLS: Final = 1000
# `configuration.routes` accepts no more values of one key.
_MOST_VALUES: Final = 1000
# Schemes of their own, which Apprise does not know: a request by this method.
_REQUESTS: Final = ("get", "gets", "post", "posts", "put", "puts", "delete", "deletes")

_HEAD: Final = """\
# Channels and routes made of the notification URLs of changedetection.io. Append them to tocsin.toml, then run
# `tocsin doctor`: it says which URLs cannot work. The URLs are secrets; keep this file to yourself, and delete it.
# With routes, an alert goes only where a route sends it: name the channels that you have already in a last route.
# There, the URLs of a watch come before those of its tags, and those before the ones for all; so do the routes.
"""


@dataclass(slots=True)
class NotificationUrls:
    """Gathers the URLs of an export.

    for_all    URLs for watches that have none, nor their tags
    of_groups  by the name of the tag
    of_pages   by the page's URL
    """

    for_all: tuple[str, ...] = ()
    of_groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    of_pages: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add_application(self, settings: Mapping[str, Any]) -> None:
        """Take the URLs for all watches."""
        self.for_all = self.for_all or _urls(settings)

    def add_tag(self, title: str, tag: Mapping[str, Any]) -> None:
        """Take the URLs of a tag."""
        if urls := _urls(tag):
            self.of_groups[title[:GROUP_LETTERS]] = urls

    def add_watch(self, url: str, watch: Mapping[str, Any]) -> None:
        """Take the URLs of a watch."""
        urls = _urls(watch)
        if not urls:
            return
        try:
            self.of_pages[watch_url(url).url] = urls
        except UsageError:  # which is told where the page is refused
            return

    def __bool__(self) -> bool:
        return bool(self.for_all or self.of_groups or self.of_pages)

    def told(self) -> str:
        """Say in words how many there are."""
        kinds = [f"{len(self.of_pages):,} watches"] * bool(self.of_pages)
        kinds += [f"{len(self.of_groups):,} tags"] * bool(self.of_groups) + ["all watches"] * bool(self.for_all)
        return f"notification URLs of {', '.join(kinds)}"

    def to_toml(self) -> str:
        """Write channels and routes for the configuration file; what has no counterpart is a comment."""
        names: dict[str, str] = {}
        lines = [_HEAD]
        found = (self.for_all, *self.of_groups.values(), *self.of_pages.values())
        lines += [_channel(url, names) for url in dict.fromkeys(url for urls in found for url in urls)]
        return "\n".join(lines + self._routes(names))

    def _routes(self, names: Mapping[str, str]) -> list[str]:
        routes: list[tuple[str, list[str], tuple[str, ...]]] = []
        for key, found in (("url", self.of_pages), ("group", self.of_groups)):
            by_urls: dict[tuple[str, ...], list[str]] = {}
            for value, urls in found.items():
                by_urls.setdefault(urls, []).append(value)
            for urls, values in by_urls.items():
                parts = [values[start : start + _MOST_VALUES] for start in range(0, len(values), _MOST_VALUES)]
                routes += [(key, part, urls) for part in parts]
        if self.for_all:
            routes.append(("", [], self.for_all))
        written: list[str] = []
        for key, values, urls in routes:
            channels = [names[url] for url in urls if names[url]]
            if channels:
                match = f"match = {{ {key} = {_list(values)} }}\n" if key else ""
                name = f"imported-{len(written) + 1}"
                written.append(f'[[routes]]\nname = "{name}"\nchannels = {_list(channels)}\n{match}')
        return written


def _urls(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the URLs of a watch, a tag or the application, each once."""
    if given.get("notification_muted") is True:
        return ()
    found = (url[:_LONGEST_URL] for url in texts(given.get("notification_urls"))[:_MOST_URLS])
    return tuple(dict.fromkeys(url for url in found if url.isprintable()))


def _channel(url: str, names: dict[str, str]) -> str:
    """Write the channel of a URL, and note its name; of one without a counterpart the name is empty."""
    found = _SCHEME.match(url)
    scheme = found[1].lower() if found else ""
    why = ""
    if not scheme:
        why = "it is no URL of Apprise"
    elif _TEMPLATE.search(url):
        why = "it has a template in it"
    elif scheme in _REQUESTS:
        why = "make a channel of type webhook"
    elif scheme in {"mailto", "mailtos"}:
        why = "make a channel of type mail"
    if why:
        names[url] = ""
        return f"# {scheme or 'a text'}://… was not taken: {why}.\n"
    number = sum(name.startswith(f"{scheme}-") for name in names.values()) + 1
    names[url] = f"{scheme}-{number}"
    return f'[channels.{names[url]}]\ntype = "apprise"\nurl = {_text(url)}\n'


def _text(text: str) -> str:
    # Printable text needs the escapes of JSON alone, which are TOML's, too.
    return json.dumps(text, ensure_ascii=False)


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"
