"""How the end is asked for: a signal is written down, and noticed where nothing is left half done."""

import signal
import time


class Ended(Exception):
    """A signal asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Ending:
    """Whether a signal has come. Every wait is a `pause`, which raises `Ended` then."""

    def __init__(self) -> None:
        self._asked: int | None = None
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, self._note)

    def _note(self, number: int, _frame: object) -> None:
        self._asked = number

    def pause(self, seconds: float) -> None:
        """Sleeps, unless the end was asked for."""
        if self._asked is None:
            time.sleep(seconds)
        if self._asked is not None:
            raise Ended(self._asked)
