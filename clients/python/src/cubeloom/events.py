"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), with resumption."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .errors import ConnectionLost, Unavailable
from .transport import Query, Transport

#: Seconds before the first new attempt; doubled each time, up to the second value.
FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0


@dataclass(frozen=True)
class Event:
    """One event."""

    #: Its name.
    name: str
    #: What it says.
    data: Any
    #: Where to resume after it.
    id: str | None


def parse(lines: Iterable[str]) -> Iterator[Event]:
    """Events from the lines of a stream."""
    name, data, last_id = "message", list[str](), None
    for line in lines:
        if not line:
            if data:
                yield Event(name, json.loads("\n".join(data)), last_id)
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                name = value
            case "data":
                data.append(value)
            case "id":
                last_id = value


def follow(transport: Transport, path: str, query: Query | None = None, patience: float = 60.0) -> Iterator[Event]:
    """The events of a stream until the server ends it for good, over any number of lost connections.

    :param patience: how long the server may be away, in seconds, before `ConnectionLost` is raised.
    """
    last_id: str | None = None
    wait, lost_since = FIRST_WAIT, None
    while True:
        headers = {"accept": "text/event-stream", **({"last-event-id": last_id} if last_id else {})}
        try:
            with transport.stream(path, query=query, headers=headers) as response:
                if response.status_code == 204:
                    return
                for event in parse(response.iter_lines()):
                    wait, lost_since = FIRST_WAIT, None
                    last_id = event.id or last_id
                    yield event
        except (ConnectionLost, Unavailable):
            lost_since = lost_since or time.monotonic()
            if time.monotonic() - lost_since > patience:
                raise
        time.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)
