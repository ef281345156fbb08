"""A receiver of webhooks: a real server in a thread, whose answers the test decides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class HeldReceiver(ThreadingHTTPServer):
    """Answers 204, but only once it may."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hook"
        self.ids: list[str] = []
        """Of the messages that have arrived."""
        self.arrived, self.may_answer = threading.Event(), threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: HeldReceiver

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.ids.append(self.headers["webhook-id"])
        self.server.arrived.set()
        self.server.may_answer.wait(60)
        try:
            self.send_response(204)
            self.end_headers()
        except OSError:  # nobody waits for it any more
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def receiving() -> Iterator[HeldReceiver]:
    """A receiver that runs."""
    with HeldReceiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.may_answer.set()
            receiver.shutdown()
            thread.join()
