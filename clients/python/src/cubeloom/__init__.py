"""Client of Cubeloom.

    from cubeloom import Client

    with Client("http://127.0.0.1:8080", token="clt_...") as cubeloom:
        run = cubeloom.pipeline("digits").run(epochs=3)
        for line in run.logs(follow=True):
            print(line)
        print(run.wait().outputs())
"""

from .client import Client
from .errors import (
    ApiError,
    Conflict,
    ConnectionLost,
    CubeloomError,
    Forbidden,
    Invalid,
    NotFound,
    NotSignedIn,
    RunFailed,
    Stale,
    TooMany,
    Unavailable,
    WaitTimedOut,
)
from .logs import LogLine
from .pipeline import Pipeline
from .run import Run

__all__ = [
    "ApiError",
    "Client",
    "Conflict",
    "ConnectionLost",
    "CubeloomError",
    "Forbidden",
    "Invalid",
    "LogLine",
    "NotFound",
    "NotSignedIn",
    "Pipeline",
    "Run",
    "RunFailed",
    "Stale",
    "TooMany",
    "Unavailable",
    "WaitTimedOut",
]
