"""The processes of a cluster, each with its own log, stopped in reverse start order."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .ending import Ending

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
import ports  # noqa: E402

PATIENCE = 420.0  # seconds; a machine that is busy with a build unpacks the images of a node in five minutes
GRACE = 15.0  # seconds between TERM and KILL


class PartFailed(Exception):
    """A part failed to start, or ended by itself. The message names it and its log."""


@dataclass
class Part:
    """One process."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-12:]
        return "".join(f"\n  | {line}" for line in lines)


class Parts:
    """The started parts, and their common folder."""

    def __init__(self, state: Path, ending: Ending) -> None:
        self.state = state
        self.ending = ending
        self.logs = state / "logs"
        self.logs.mkdir()
        self._started: list[Part] = []
        self._afterwards: list[Callable[[], None]] = []

    def start(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> Part:
        """Starts a process that ends with this one, even if this one is killed."""
        log = self.logs / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/bin:/bin", "HOME": str(self.state), **(environment or {})},
                cwd=self.state,
                start_new_session=True,  # Ctrl-C must reach only this process, which stops them in order
            )
        part = Part(name, process, log)
        self._started.append(part)
        return part

    def check(self) -> None:
        """Raises if a part has ended."""
        for part in self._started:
            code = part.process.poll()
            if code is not None:
                raise PartFailed(f"{part.name} ended with {code}; see its log {part.log}{part.last_words()}")

    def wait(self, part: Part, what: str, ready: Callable[[], bool]) -> None:
        """Waits until a part is ready."""
        end = time.monotonic() + PATIENCE
        while not ready():
            self.check()
            if time.monotonic() > end:
                late = f"timed out after {PATIENCE:.0f} s: {what}"
                raise PartFailed(f"{part.name}: {late}; see its log {part.log}{part.last_words()}")
            self.ending.pause(0.1)

    def afterwards(self, step: Callable[[], None]) -> None:
        """Runs this step when all parts have ended; the last registered step runs first."""
        self._afterwards.append(step)

    def stop(self) -> None:
        """Stops all parts, last first. Each is gone afterwards."""
        for part in reversed(self._started):
            part.process.terminate()
            try:
                part.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                part.process.kill()
                part.process.wait()
        self._started.clear()
        while self._afterwards:
            self._afterwards.pop()()


def listens(port: int, address: str = "127.0.0.1") -> bool:
    """Whether a server accepts connections there."""
    try:
        socket.create_connection((address, port), timeout=1).close()
    except OSError:
        return False
    return True
