"""How the end is asked for: a signal is written down, and noticed where nothing is left half done."""

import signal
import time
from types import TracebackType


class Ended(Exception):
    """A signal asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Ending:
    """Whether a signal has come. Every wait is a `pause`, which raises `Ended` then.

    As a context, it raises `Ended` also in place of a failure: a Ctrl-C comes to all processes of the terminal's
    group, so it may have ended a program that was just being started, before that had a session of its own.
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
        """Sleeps, unless the end was asked for."""
        if self._asked is None:
            time.sleep(seconds)
        if self._asked is not None:
            raise Ended(self._asked)
