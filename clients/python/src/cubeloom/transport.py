"""Requests: the token, refusals as exceptions, and when a request is sent again."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from . import errors

#: How often a request is sent, at most.
ATTEMPTS = 4
#: The longest that `Retry-After` is obeyed, in seconds.
PATIENCE = 30.0

Query = Mapping[str, str | int | float | bool | None]


class Transport:
    """Sends requests below ``/api/v1`` of one server with one token."""

    def __init__(self, url: str, token: str | None, timeout: float, http: httpx.Client | None = None) -> None:
        self.url = url.rstrip("/")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._http = http or httpx.Client(timeout=timeout)
        self._headers = {"user-agent": "cubeloom-python", **headers}

    def close(self) -> None:
        self._http.close()

    def json(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        etag: str | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[Any, str | None]:
        """The answer's JSON (``None`` when it has no body) and its ETag.

        It is sent again when the server is busy or away, which is safe: what creates carries an Idempotency-Key, the
        other methods say the same twice.
        """
        sent = dict(headers or {})
        if method == "POST":
            sent.setdefault("idempotency-key", uuid.uuid4().hex)
        if etag is not None:
            sent["if-match"] = etag
        response = self._send(method, path, query=query, body=body, content=content, headers=sent)
        answer = response.json() if response.content and "json" in response.headers.get("content-type", "") else None
        # A proxy that compresses makes a tag weak, which would never match.
        tag = response.headers.get("etag")
        return answer, tag.removeprefix("W/") if tag else None

    def pages(self, path: str, query: Query | None = None) -> Iterator[dict[str, Any]]:
        """Every item of a list, page by page."""
        cursor: str | None = None
        while True:
            page, _ = self.json("GET", path, query={**(query or {}), "cursor": cursor})
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    @contextmanager
    def stream(
        self, path: str, *, query: Query | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[httpx.Response]:
        """An answer that is read while it arrives. Between two pieces of it any time may pass."""
        request = self._http.build_request(
            "GET",
            self._address(path),
            params=_query(query),
            headers={**self._headers, **(headers or {})},
            timeout=httpx.Timeout(self._http.timeout.connect, read=None),
        )
        try:
            response = self._http.send(request, stream=True)
        except httpx.TransportError as error:
            raise errors.ConnectionLost(f"{self.url} cannot be reached: {error}") from error
        try:
            if response.is_error:
                response.read()
                raise errors.of_response(response)
            yield response
        except httpx.TransportError as error:
            raise errors.ConnectionLost(f"{self.url} went away: {error}") from error
        finally:
            response.close()

    def _address(self, path: str) -> str:
        return f"{self.url}/api/v1{path}"

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None,
        body: Any,
        content: bytes | None,
        headers: Mapping[str, str],
    ) -> httpx.Response:
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            try:
                response = self._http.request(
                    method,
                    self._address(path),
                    params=_query(query),
                    json=body,
                    content=content,
                    headers={**self._headers, **headers},
                )
            except httpx.TransportError as error:
                if last:
                    raise errors.ConnectionLost(f"{self.url} cannot be reached: {error}") from error
                time.sleep(0.2 * 2.0**attempt)
                continue
            if not response.is_error:
                return response
            if response.status_code not in (429, 503) or last:
                raise errors.of_response(response)
            time.sleep(_wait(response, attempt))
        raise AssertionError("the last attempt returns or raises")


def _wait(response: httpx.Response, attempt: int) -> float:
    """How long to wait, in seconds: as the server says, within reason."""
    try:
        return min(float(response.headers["retry-after"]), PATIENCE)
    except (KeyError, ValueError):
        return 0.2 * 2.0**attempt


def _query(query: Query | None) -> dict[str, str | int | float | bool]:
    return {name: value for name, value in (query or {}).items() if value is not None}
