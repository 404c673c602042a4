"""A client of the server that `CUBELOOM_URL` and `CUBELOOM_TOKEN` name, and a proxy that drops connections."""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from cubeloom import Client


@pytest.fixture
def client() -> Iterator[Client]:
    with Client() as client:
        yield client


@pytest.fixture
def viewer() -> Iterator[Client]:
    with Client(token=os.environ["CUBELOOM_TEST_OTHER_TOKEN"]) as client:
        yield client


@pytest.fixture
def admin() -> Iterator[Client]:
    with Client(token=os.environ["CUBELOOM_TEST_ADMIN_TOKEN"]) as client:
        yield client


class Proxy:
    """Passes bytes between clients and the server until it is told to cut."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._swallow = 0
        self.accepted = 0
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cuts all connections."""
        for pair in list(self._pairs):
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def swallow_answers(self, count: int) -> None:
        """Of the next answers, so many are thrown away with their connection: the server has acted, nobody hears."""
        self._swallow = count

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            far = socket.create_connection(self._target)
            self._pairs.append((near, far))
            threading.Thread(target=self._pass, args=(near, far), daemon=True).start()

    def _pass(self, near: socket.socket, far: socket.socket) -> None:
        try:
            while True:
                for end in select.select([near, far], [], [])[0]:
                    piece = end.recv(65536)
                    if end is far and piece and self._swallow:
                        self._swallow -= 1
                        return
                    if not piece:
                        return
                    (far if end is near else near).sendall(piece)
        except OSError:
            pass
        finally:
            near.close()
            far.close()


@pytest.fixture
def proxy(client: Client) -> Iterator[Proxy]:
    address = urlsplit(client.transport.url)
    proxy = Proxy(address.hostname or "127.0.0.1", address.port or 80)
    yield proxy
    proxy.close()
