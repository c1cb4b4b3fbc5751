"""The switches that each browser is started with."""

from __future__ import annotations

from typing import Final

# The cell is the wall; these keep a browser from knocking at it, so that its proxy refuses little.
_QUIET: Final = (
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-pings",
)
# A popup would be a page that the visit does not know.
_ONE_PAGE: Final = ("--block-new-web-contents",)
# Playwright's own, which help tests and not us: a page may flood the browser's processes with messages.
LEFT_OUT: Final = ("--disable-ipc-flooding-protection", "--disable-popup-blocking")


def flags(proxy_port: int, mark: str) -> list[str]:
    """Give the switches of a browser.

    proxy_port  of loopback, where its proxy listens
    mark        by which its process is found
    """
    return [
        *_QUIET,
        *_ONE_PAGE,
        f"--proxy-server=127.0.0.1:{proxy_port}",
        "--proxy-bypass-list=<-loopback>",
        f"--tocsin-slot={mark}",
    ]
