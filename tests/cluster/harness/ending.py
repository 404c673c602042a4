"""Handling of termination signals: a signal is recorded, and handled where no work is left half done."""

import signal
import time
from types import TracebackType


class Ended(Exception):
    """A signal requested the end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Ending:
    """Whether a signal has arrived. Every wait is a `pause`, which then raises `Ended`.

    As a context manager, it also raises `Ended` in place of a failure. Ctrl-C reaches all processes of the
    terminal's group, so it may have killed a starting program that did not have its own session yet.
    """

    def __init__(self) -> None:
        self._asked: int | None = None
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, self._note)

    @property
    def asked(self) -> bool:
        return self._asked is not None

    def __enter__(self) -> "Ending":
        return self

    def __exit__(self, _kind: object, failure: BaseException | None, _trace: TracebackType | None) -> None:
        if self._asked is not None and failure is not None and not isinstance(failure, Ended):
            raise Ended(self._asked) from failure

    def _note(self, number: int, _frame: object) -> None:
        self._asked = number

    def pause(self, seconds: float) -> None:
        """Sleeps, unless a signal has arrived."""
        if self._asked is None:
            time.sleep(seconds)
        if self._asked is not None:
            raise Ended(self._asked)
