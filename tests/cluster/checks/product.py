"""Cubeloom's own API, called as its first administrator."""

import contextlib
import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.api import Object, Refused

from . import pods

LINK = "sign in: "


class Product:
    """A server whose first sign-in link is unused. `url` is its address as seen from here."""

    def __init__(self, url: str, link: str) -> None:
        self._url, self._cookie = f"{url}/api/v1", ""
        body = {"token": link.partition("token=")[2].strip(), "name": "ada", "password": "correct horse battery"}
        with self._send("POST", "/links/use", body) as answer:
            self._cookie = answer.headers["Set-Cookie"].partition(";")[0]

    def get(self, path: str) -> Any:
        with self._send("GET", path) as answer:
            return json.load(answer)

    def post(self, path: str, body: Object) -> Any:
        with self._send("POST", path, body) as answer:
            return json.load(answer)

    def refusal(self, document: str) -> str:
        """Why a run is refused; None if it is accepted."""
        try:
            self.start(document)
        except Refused as refused:
            return str(refused)
        return ""

    def _send(self, method: str, path: str, body: Object | None = None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Cookie": self._cookie}
        try:
            asked = urllib.request.Request(self._url + path, data, headers, method=method)
            return urllib.request.urlopen(asked, timeout=60)
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")
            raise Refused(error.code, f"{method} {path}: {said}") from None

    def add(self, cluster: Object) -> None:
        """Adds a cluster, and waits until its capacity is known."""
        self.post("/clusters", cluster)
        path = f"/clusters/{cluster['name']}"
        if not pods.wait(lambda: self.get(path)["standing"]["state"] == "connected" and self.get(path)["nodes"]):
            raise SystemExit(f"the cluster is unknown: {self.get(path)}")

    def start(self, document: str) -> str:
        """Starts a run. Returns its id."""
        return self.post("/projects/default/runs", {"document": document})["run"]["id"]

    def states(self, run: str) -> list[str]:
        """The states of its tasks."""
        return [task["state"] for task in self.get(f"/runs/{run}/tasks")["items"]]


@contextlib.contextmanager
def local() -> Iterator[Product]:
    """A server on this machine, which is stopped afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)  # run as root, workers of another uid have to get through
        data, log = home / "data", home / "log"
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "CUBELOOM_DATA": str(data)}
        environment |= {"CUBELOOM_SERVER_LISTEN": "127.0.0.1:0"}
        program = os.environ["CUBELOOM_TEST_PROGRAM"]
        with log.open("wb") as output:
            server = subprocess.Popen([program, "serve"], stdout=output, stderr=subprocess.STDOUT, env=environment)
        try:
            link = _first_link(server, log)
            yield Product(link.removeprefix(LINK).partition("/welcome")[0], link)
        finally:
            server.terminate()
            server.wait()


def _first_link(server: subprocess.Popen[bytes], log: Path) -> str:
    while server.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith(LINK):
                return line
        time.sleep(0.1)
    raise SystemExit(f"the server ended: {log.read_text()}")
