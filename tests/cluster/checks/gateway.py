"""How pods of the real node reach the API server without kube-proxy."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

from harness.api import Api, Object

# The API server's certificate has this name.
NAME = "kubernetes.default.svc"


def alias(spec: Object) -> None:
    """Adds the name to a pod's hosts."""
    spec["hostAliases"] = [{"ip": os.environ["CUBELOOM_TEST_GATEWAY"], "hostnames": [NAME]}]


def lead(spec: Object, port: int) -> None:
    """Replaces the Service `kubernetes`, which needs a kube-proxy."""
    alias(spec)
    spec["containers"][0]["env"] += [
        {"name": "KUBERNETES_SERVICE_HOST", "value": NAME},
        {"name": "KUBERNETES_SERVICE_PORT", "value": str(port)},
    ]


@contextlib.contextmanager
def forwarded(api: Api, port: int = 0) -> Iterator[int]:
    """Forwards a port of the pods' gateway to the API server, which listens only on the loopback address."""
    host, _, its = api.url.removeprefix("https://").partition(":")
    with socket.create_server((os.environ["CUBELOOM_TEST_GATEWAY"], port)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):  # it is closed at the end
                while True:
                    near, _ = server.accept()
                    far = socket.create_connection((host, int(its)))
                    for ends in ((near, far), (far, near)):
                        threading.Thread(target=_pump, args=ends, daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
