"""The process in which a script's `handle` is called: `handler.py DESCRIPTOR SCRIPT ARGS...`, started by consume.py.

It is a process of its own, so that a call which takes too long, or ends the process, ends nothing else.
"""

import importlib.util
import json
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path


class Message:
    """What `handle` gets: `body` (bytes), `text`, `json()`, and by their names what the sender said of it."""

    def __init__(self, facts):
        self.__dict__.update(facts)

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


def main(descriptor, script, *arguments):
    # It may be sent to all processes of a worker: consume.py decides whether a call ends before the worker does. It is not
    # ignored, as what the script starts would ignore it, too.
    signal.signal(signal.SIGTERM, lambda *_: None)
    sys.argv = [script, *arguments]
    sys.stdout.reconfigure(line_buffering=True)
    link = Connection(int(descriptor))
    handle = answer(link, lambda: load(Path(script)), lambda _: None)
    while handle is not None:
        try:
            are_many, facts = link.recv()
        except (EOFError, OSError):
            return
        messages = [Message(one) for one in facts]
        answer(link, lambda: handle(messages if are_many else messages[0]), lambda value: written(value, are_many))


def load(path):
    sys.path[:1] = [str(path.parent)]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, "handle", None)):
        raise LookupError(f"{path.name} has no function `handle`")
    return module.handle


def answer(link, do, form):
    """Sends what came of it; what `do` returned, or nothing when it failed."""
    try:
        value = do()
        link.send((True, form(value)))
        return value
    except (Exception, SystemExit) as error:
        steps = error.__traceback__
        # The script's own steps are what its writer wants to see.
        while steps is not None and steps.tb_frame.f_code.co_filename == __file__:
            steps = steps.tb_next
        traceback.print_exception(error.with_traceback(steps))
        link.send((False, f"{type(error).__name__}: {error}"))
        return None


def written(value, are_many):
    """Bodies and their types."""
    if value is None:
        return []
    if are_many and not isinstance(value, (list, tuple)):
        raise TypeError(f"`handle` gets a list of messages here, and returns a list or nothing, not {type(value).__name__}")
    return [body(one) for one in (value if are_many else [value]) if one is not None]


def body(value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value), "application/octet-stream"
    if isinstance(value, str):
        return value.encode(), "text/plain"
    return json.dumps(value, ensure_ascii=False).encode(), "application/json"


main(*sys.argv[1:])
