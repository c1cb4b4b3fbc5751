"""Scrapy with a minimal spider for the twelve fields; run by the Python of the rivals' environment, and alone.

    python rival_scrapy.py tuned|best FILE     gets the pages of a list once; prints JSON

`tuned` follows what its documents say on broad crawls, and switches off all that the spider does not need; `best` also
has its handler on aiohttp, uvloop without a reactor, and lexbor on what precedes </head>. What starting Python and
loading libraries costs is not counted.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

import scrapy  # type: ignore[import-not-found]  # lives in the rivals' environment
from scrapy.crawler import AsyncCrawlerProcess  # type: ignore[import-not-found]  # the same
from scrapy.settings import default_settings  # type: ignore[import-not-found]  # the same
from selectolax.lexbor import LexborHTMLParser

FIELDS = {
    *("created", "dc.created", "dcterms.created", "article:published_time", "dc.modified", "dcterms.modified"),
    *("article:modified_time", "page-version", "refresh", "topper", "topper-major", "topper-minor"),
}
_NEEDED = {"scrapy.spidermiddlewares.start.StartSpiderMiddleware"}
_OFF = (
    *("AUTOTHROTTLE_ENABLED", "COMPRESSION_ENABLED", "COOKIES_ENABLED", "DOWNLOADER_STATS", "HTTPPROXY_ENABLED"),
    *("LOG_ENABLED", "MEMUSAGE_ENABLED", "METAREFRESH_ENABLED", "REDIRECT_ENABLED", "REFERER_ENABLED"),
    *("REMOTE_CONTROL_ENABLED", "RETRY_ENABLED", "ROBOTSTXT_OBEY", "TELNETCONSOLE_ENABLED"),
)
TUNED: dict[str, Any] = {
    **dict.fromkeys(_OFF, False),
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "CONCURRENT_REQUESTS": 200,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DNSCACHE_ENABLED": True,
    "DOWNLOAD_DELAY": 0,
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    "DOWNLOADER_MIDDLEWARES": dict.fromkeys(default_settings.DOWNLOADER_MIDDLEWARES_BASE),
    "SPIDER_MIDDLEWARES": {name: None for name in default_settings.SPIDER_MIDDLEWARES_BASE if name not in _NEEDED},
    "EXTENSIONS": dict.fromkeys(default_settings.EXTENSIONS_BASE),
}
BEST: dict[str, Any] = {
    **TUNED,
    "DOWNLOAD_HANDLERS": {"http": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"},
    "TWISTED_REACTOR_ENABLED": False,
}
SETTINGS = {"tuned": TUNED, "best": BEST}
found: dict[str, dict[str, str]] = {}


class Spider(scrapy.Spider):  # type: ignore[misc]  # Scrapy is not in the environment of mypy
    """Gets the pages, and keeps the fields that each declares."""

    name = "fields"
    urls: tuple[str, ...] = ()

    async def start(self) -> AsyncIterator[Any]:
        """Ask for every page."""
        for url in self.urls:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Any) -> None:
        """Read a page with parsel."""
        selected = response.css("meta[content]")
        found[response.url] = _fields(element.attrib for element in selected)


class LexborSpider(Spider):
    """The same with a faster parser, which is given no more than the head."""

    def parse(self, response: Any) -> None:
        """Read a page's head with lexbor."""
        body = response.body
        end = body.find(b"</head>")
        tree = LexborHTMLParser(body if end < 0 else body[:end])
        found[response.url] = _fields(element.attributes for element in tree.tags("meta"))


def _fields(elements: Iterable[Mapping[str, str | None]]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for attributes in elements:
        field = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
        if field in FIELDS:
            fields.setdefault(str(field), attributes.get("content") or "")
    return fields


def cpu_s() -> float:
    """Processor time of this process and its children."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    """Crawl the list, and tell what it cost and found."""
    arm, listed = sys.argv[1:]
    urls = Path(listed).read_text(encoding="utf-8").split()
    spider = Spider if arm == "tuned" else LexborSpider
    process = AsyncCrawlerProcess(SETTINGS[arm])
    cpu, wall = cpu_s(), time.perf_counter()
    process.crawl(spider, urls=tuple(urls))
    process.start()
    spent = {"cpu_us": (cpu_s() - cpu) / len(urls) * 1e6, "wall_us": (time.perf_counter() - wall) / len(urls) * 1e6}
    told = {"settings": {"Scrapy": scrapy.__version__, "spider": spider.__doc__, **SETTINGS[arm]}}
    print(json.dumps({**spent, **told, "found": found}))


if __name__ == "__main__":
    main()
