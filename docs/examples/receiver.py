#!/usr/bin/env python3
"""A receiver of Tocsin's alerts that needs Python alone: it checks the signature, and works on each alert once.

    RECEIVER_SECRET_FILE=ops.secret python3 receiver.py 127.0.0.1:8440

Behind it Tocsin has, in its configuration:

    [channels.ops]
    type = "webhook"
    url = "http://127.0.0.1:8440/"
    secret_file = "ops.secret"

    [network]
    allow = ["127.0.0.0/8"]         # a receiver on a private address has to be allowed

Replace `work_on` by what you do with an alert. Answer 2xx only once that is safe: Tocsin then never gives it again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import pathlib
import sys
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import ClassVar

LARGEST_BODY = 1024 * 1024
TOLERANCE_S = 300
REMEMBERED = 100_000


def work_on(event: dict) -> None:
    """Do something with an alert; an exception makes Tocsin give it again later."""
    data = event["data"]
    line = [event["time"], event["type"], event["subject"]]
    if event["type"] == "tocsin.page.changed.v1":
        line += [data["outcome"], data["basis"], data["rule"]]
    # What a page says is a stranger's text: nothing of it is printed as it is.
    sys.stdout.write(" ".join(ascii(str(word))[1:-1] for word in line) + "\n")
    sys.stdout.flush()


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Check a signature of Standard Webhooks, over the bytes as they came."""
    key = base64.b64decode(secret.removeprefix("whsec_") + "==")
    message_id, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    expected = hmac.new(key, f"{message_id}.{sent}.".encode() + body, hashlib.sha256).digest()
    wanted = base64.b64encode(expected).decode()
    given = [part[3:] for part in headers.get("webhook-signature", "").split() if part.startswith("v1,")]
    is_fresh = sent.isascii() and sent.isdigit() and abs(time.time() - int(sent)) < TOLERANCE_S
    return is_fresh and any(hmac.compare_digest(wanted, signature) for signature in given if signature.isascii())


class Receiver(BaseHTTPRequestHandler):
    """Answers one request after the other on each connection."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    secret = ""
    seen: ClassVar[OrderedDict[str, None]] = OrderedDict()
    lock = Lock()

    def do_POST(self) -> None:
        """Take one alert."""
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            self.close_connection = True
            self.answer(413)
            return
        body = self.rfile.read(int(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not is_signed(self.secret, headers, body):
            self.answer(401)
            return
        event = json.loads(body)
        # Delivery is at least once: the same id may come again, and is then only acknowledged.
        with self.lock:
            if event["id"] not in self.seen:
                work_on(event)
                self.seen[event["id"]] = None
                if len(self.seen) > REMEMBERED:
                    self.seen.popitem(last=False)
        self.answer(204)

    def answer(self, status: int) -> None:
        """Answer without a body."""
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing of requests; alerts are said."""


if __name__ == "__main__":
    host, _, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8440").rpartition(":")
    # The first line: while a secret is replaced, Tocsin's own file has the old one below the new one.
    Receiver.secret = pathlib.Path(os.environ["RECEIVER_SECRET_FILE"]).read_text("utf-8").split("\n", 1)[0].strip()
    server = ThreadingHTTPServer((host, int(port)), Receiver)
    sys.stderr.write(f"listening on http://{host}:{server.server_port}/\n")
    sys.stderr.flush()
    server.serve_forever()
