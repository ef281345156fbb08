"""A real server of a JWKS, whose answers the test decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class KeyServer(ThreadingHTTPServer):
    """Answers what it is told to, when it may."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/jwks?v=1"
        self.status, self.headers = 200, {"content-type": "application/json"}
        self.body = b'{"keys": []}'
        self.asked = 0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.was_asked = threading.Event()

    def show(self, *keys: Any) -> None:
        """Answer with these keys from now on."""
        self.status, self.body = 200, json.dumps({"keys": keys}).encode()


class _Handler(BaseHTTPRequestHandler):
    server: KeyServer

    def do_GET(self) -> None:
        self.server.asked += 1
        self.server.was_asked.set()
        self.server.may_answer.wait(60)
        try:
            self.send_response(self.server.status if self.path == "/jwks?v=1" else 404)
            for name, value in self.server.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(self.server.body)
        except OSError:  # nobody waits for it any more
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def key_server() -> Iterator[KeyServer]:
    """A server that runs."""
    with KeyServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.may_answer.set()
            server.shutdown()
            thread.join()
