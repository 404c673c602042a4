"""What workers wrote, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
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
    #: When it came, where that is known.
    at: datetime | None = None

    def __str__(self) -> str:
        return f"{self.task} {self.worker}: {self.text}"


class Lines:
    """Puts pieces of streams together to lines."""

    def __init__(self, task: str) -> None:
        self._task = task
        #: By worker and stream: a line that has not ended, and when it began to come.
        self._rest: dict[tuple[str, str], tuple[str, datetime | None]] = {}

    def of(self, chunks: Iterable[dict[str, Any]]) -> Iterator[LogLine]:
        """The lines that end in these pieces."""
        for chunk in chunks:
            key = (chunk["worker"], chunk["stream"])
            times = {each["line"]: datetime.fromisoformat(each["at"]) for each in chunk.get("times", ())}
            begun, at = self._rest.pop(key, ("", None))
            parts = chunk["text"].split("\n")
            present: datetime | None = None
            for number, part in enumerate(parts):
                present = times.get(number, present)
                text, since = (begun + part, at or present) if number == 0 else (part, present)
                if number < len(parts) - 1:
                    yield LogLine(self._task, *key, text, since)
                elif text:
                    self._rest[key] = (text, since)

    def rest(self) -> Iterator[LogLine]:
        """Lines that have no end."""
        for key, (text, at) in self._rest.items():
            yield LogLine(self._task, *key, text, at)
        self._rest.clear()
