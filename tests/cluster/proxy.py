"""A proxy in front of a server that cuts a connection after COMMIT, or lets everything hang."""

from __future__ import annotations

import asyncio


class CuttingProxy:
    """Passes everything on; when armed, forwards the next COMMIT and drops its answer.

    Other servers have another `word` for that.
    """

    def __init__(self, target_port: int, word: bytes = b"COMMIT") -> None:
        self.target_port = target_port
        """Where new connections go; the present ones stay where they are."""
        self._word = word
        self.armed = 0
        """How often it is still to be done."""
        self.cuts = 0
        self.cuts_all = False
        """With that connection drop all others, as if the server were gone."""
        self.passing = asyncio.Event()
        """Cleared, connections stay open and nothing gets through any more."""
        self.passing.set()
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            there, to_there = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            writer.transport.abort()
            return
        cut = asyncio.Event()

        async def forward() -> None:
            while data := await reader.read(65536):
                await self.passing.wait()
                if self.armed and self._word in data:
                    self.armed -= 1
                    self.cuts += 1
                    cut.set()
                to_there.write(data)
                await to_there.drain()

        async def back() -> None:
            while data := await there.read(65536):
                if cut.is_set():  # the server has answered: it has committed
                    for each in self._tasks - {task} if self.cuts_all else ():
                        each.cancel()
                    return
                writer.write(data)
                await writer.drain()

        work = [asyncio.create_task(forward()), asyncio.create_task(back())]
        try:
            await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in work:
                each.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            writer.transport.abort()
            to_there.transport.abort()
