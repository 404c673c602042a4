"""What workers wrote, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LogLine:
    """A line of one worker."""

    #: The task.
    task: str
    #: The worker, e.g. ``worker-0``.
    worker: str
    #: ``stdout`` or ``stderr``.
    stream: str
    #: The line, without its end.
    text: str

    def __str__(self) -> str:
        return f"{self.task} {self.worker}: {self.text}"


class Lines:
    """Puts pieces of streams together to lines."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._rest: dict[tuple[str, str], str] = {}

    def of(self, chunks: Iterable[dict[str, Any]]) -> Iterator[LogLine]:
        """The lines that end in these pieces."""
        for chunk in chunks:
            key = (chunk["worker"], chunk["stream"])
            *lines, rest = (self._rest.pop(key, "") + chunk["text"]).split("\n")
            if rest:
                self._rest[key] = rest
            for line in lines:
                yield LogLine(self._task, *key, line)

    def rest(self) -> Iterator[LogLine]:
        """Lines that have no end."""
        for key, text in self._rest.items():
            yield LogLine(self._task, *key, text)
        self._rest.clear()
