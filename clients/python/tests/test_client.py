from __future__ import annotations

import itertools
from collections.abc import Callable

import httpx
import pytest

from cubeloom import Client, TooMany, Unavailable, transport


def test_projects_and_any_other_answer_are_read(client: Client, viewer: Client) -> None:
    assert "default" in [project["name"] for project in client.projects()]
    assert client.get("/projects/default")["role"] == "editor"
    assert viewer.get("/projects/default")["role"] == "viewer"
    templates = client.get("/templates", {"sort": "-name", "limit": 1})
    assert [each["name"] for each in templates["items"]] == ["xgboost"] and templates["next_cursor"]
    assert [each.me()["user"]["name"] for each in (client, viewer)] == ["emil", "vera"]


def answering(*answers: httpx.Response) -> tuple[Client, Callable[[], int]]:
    """A client whose requests are answered so, the last answer again and again; and how many there were."""
    left = itertools.chain(answers, itertools.repeat(answers[-1]))
    asked = itertools.count()

    def answer(_: httpx.Request) -> httpx.Response:
        next(asked)
        return next(left)

    http = httpx.Client(transport=httpx.MockTransport(answer))
    return Client("http://server.invalid", "clt_any", http=http), lambda: next(asked)


def refusal(status: int, kind: str, wait: str) -> httpx.Response:
    problem = {"type": f"urn:cubeloom:problem:{kind}", "title": "No", "status": status, "detail": "wait a little"}
    headers = {"retry-after": wait, "content-type": "application/problem+json"}
    return httpx.Response(status, json=problem, headers=headers)


def test_who_asks_too_often_waits_as_long_as_the_server_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(transport.time, "sleep", waits.append)
    busy = refusal(429, "too-many", "7")
    client, asked = answering(busy, busy, httpx.Response(200, json={"name": "ada"}))
    assert client.get("/me") == {"name": "ada"}
    assert waits == [7.0, 7.0] and asked() == 3


def test_in_the_end_it_says_that_it_was_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(transport.time, "sleep", waits.append)
    client, asked = answering(refusal(429, "too-many", "3600"))
    with pytest.raises(TooMany) as told:
        client.get("/runs")
    assert (told.value.status, told.value.detail) == (429, "wait a little")
    assert asked() == transport.ATTEMPTS and waits == [transport.PATIENCE] * (transport.ATTEMPTS - 1)
    client, _ = answering(refusal(503, "unavailable", "1"))
    with pytest.raises(Unavailable):
        client.get("/runs")
