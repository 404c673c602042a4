"""What can go wrong: the server's problem documents (RFC 9457) as exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import httpx


@dataclass(frozen=True)
class Failure:
    """The first failure of a run."""

    task: str
    item: Any
    message: str
    exit_code: int | None
    last_lines: list[str]


class CubeloomError(Exception):
    """The root of everything that this package raises."""


class ConnectionLost(CubeloomError):
    """The server could not be reached, or went away in the middle of an answer."""


class WaitTimedOut(CubeloomError):
    """A run did not end in the time that was given; it goes on."""


class RunFailed(CubeloomError):
    """A run ended and did not succeed. The message has the first failure, its last lines and the run's page."""

    def __init__(
        self, run: str, state: str, message: str | None, *, url: str = "", failure: Failure | None = None
    ) -> None:
        #: The run's id.
        self.run = run
        #: ``failed`` or ``cancelled``.
        self.state = state
        #: The server's message about the run.
        self.message = message
        #: The run's page.
        self.url = url
        #: The task that failed first.
        self.task = failure.task if failure else None
        #: Its item, if the task runs once for each of several items.
        self.item = failure.item if failure else None
        #: Its exit code, if its program ended with one.
        self.exit_code = failure.exit_code if failure else None
        #: The last lines of its output.
        self.last_lines = failure.last_lines if failure else []
        super().__init__(self._text(failure))

    def _text(self, failure: Failure | None) -> str:
        lines = [f"run {self.run} {self.state}" + (f": {self.message}" if self.message else "")]
        if failure:
            item = "" if failure.item is None else f" (item {failure.item!r})"
            lines.append(f"task {failure.task}{item}: {failure.message}")
            lines += [f"  | {line}" for line in failure.last_lines]
        return "\n".join([*lines, *filter(None, [self.url])])


class ApiError(CubeloomError):
    """A refusal of the server's."""

    kind_of_class: ClassVar[str] = ""

    def __init__(self, status: int, document: dict[str, Any]) -> None:
        detail = str(document.get("detail") or document.get("title") or "")
        super().__init__(f"{detail} (HTTP {status})" if detail else f"HTTP {status}")
        #: The HTTP status.
        self.status = status
        #: The last word of the problem's type, e.g. ``not-found``.
        self.kind = str(document.get("type", "")).removeprefix("urn:cubeloom:problem:")
        #: What is wrong, and what to do.
        self.detail = detail
        #: The id of the request, as in the server's log.
        self.instance = str(document.get("instance", ""))
        #: Each mistake by itself: severity, code, path, message, perhaps line and column.
        self.problems: list[dict[str, Any]] = list(document.get("problems", []))
        #: The whole document.
        self.document = document


class NotSignedIn(ApiError):
    """Authentication required, or the token is invalid."""

    kind_of_class = "not-signed-in"


class Forbidden(ApiError):
    """Permission denied: insufficient role or token scope."""

    kind_of_class = "forbidden"


class NotFound(ApiError):
    """Not found, or not visible to you."""

    kind_of_class = "not-found"


class Conflict(ApiError):
    """Conflict with existing data."""

    kind_of_class = "conflict"


class Stale(ApiError):
    """Changed by someone else in the meantime; ``document["difference"]`` may show how."""

    kind_of_class = "stale"


class Invalid(ApiError):
    """Invalid input; ``problems`` lists each error."""

    kind_of_class = "invalid"


class TooMany(ApiError):
    """Too many requests."""

    kind_of_class = "too-many"


class Unavailable(ApiError):
    """Temporarily unavailable."""

    kind_of_class = "unavailable"


_CLASSES: dict[str, type[ApiError]] = {
    each.kind_of_class: each
    for each in (NotSignedIn, Forbidden, NotFound, Conflict, Stale, Invalid, TooMany, Unavailable)
}


def of_response(response: httpx.Response) -> ApiError:
    """The exception for an answer that is a refusal; its body has been read."""
    document: dict[str, Any] = {}
    if "json" in response.headers.get("content-type", ""):
        try:
            body = response.json()
        except ValueError:
            body = None
        if isinstance(body, dict):
            document = body
    kind = str(document.get("type", "")).removeprefix("urn:cubeloom:problem:")
    return _CLASSES.get(kind, ApiError)(response.status_code, document)
