"""A network for tests that can be cut: a proxy on loopback that holds back all bytes while it is cut."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Network:
    """A proxy from a port to another, from `start` on, in a thread of its own.

    While it is cut, connections stay open and bear nothing, and new ones are never answered. What was on its
    way arrives once it is mended.
    """

    def __init__(self, port: int, to: int) -> None:
        self.address, self._port, self._to = f"127.0.0.1:{port}", port, to
        self._loop = asyncio.new_event_loop()
        self._whole = asyncio.Event()
        self._whole.set()

    def start(self) -> None:
        """Relay from now on, until the process ends."""
        self._loop.run_until_complete(asyncio.start_server(self._relay, "127.0.0.1", self._port))
        threading.Thread(target=self._loop.run_forever, name="network", daemon=True).start()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Cut the network for as long as the context lasts."""
        self._loop.call_soon_threadsafe(self._whole.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._whole.set)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._whole.wait()
        with suppress(OSError):
            onward, back = await asyncio.open_connection("127.0.0.1", self._to)
            await asyncio.gather(self._pass(reader, back), self._pass(onward, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass bytes on until one side closes, which closes the other."""
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()
        writer.close()
