"""The shapes of requests and answers. Generated from docs/openapi.json by `make openapi`."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Health(TypedDict):
    """
    How the server is.
    """

    status: str
    """
    `ok`
    """


class ProblemView(TypedDict):
    """
    One mistake in what was sent.
    """

    severity: str
    """
    `error` or `warning`.
    """
    code: str
    """
    What kind of mistake; stable, for programs.
    """
    path: str
    """
    Where, as a JSON pointer (RFC 6901); empty for the whole.
    """
    message: str
    """
    A sentence that says what is wrong and what to do.
    """
    line: NotRequired[int | None]
    """
    The line in the text, from 1, where there is a text.
    """
    column: NotRequired[int | None]
    """
    The column in the line, from 1.
    """


class ProblemDocument(TypedDict):
    """
    A problem document (RFC 9457).
    """

    type: str
    """
    `urn:cubeloom:problem:<kind>`.
    """
    title: str
    """
    The kind, in words.
    """
    status: int
    """
    The HTTP status.
    """
    detail: str
    """
    What is wrong with this request, and what to do.
    """
    instance: NotRequired[str]
    """
    The id of the request, as in the `x-request-id` header.
    """
    problems: NotRequired[list[ProblemView]]
    """
    Each mistake by itself.
    """
