"""The way in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import httpx

from . import models
from .archive import archive
from .errors import CubeloomError
from .pipeline import Pipeline
from .run import Run
from .transport import Query, Transport


class Client:
    """A server, as one person or program sees it.

    :param url: the server's address; the variable ``CUBELOOM_URL`` when absent.
    :param token: an API token; the variable ``CUBELOOM_TOKEN`` when absent.
    :param timeout: seconds that the server may take to answer.
    :param http: an HTTP client with settings of your own, e.g. a proxy; it is closed with this one.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        http: httpx.Client | None = None,
    ) -> None:
        url = url or os.environ.get("CUBELOOM_URL")
        if not url:
            raise CubeloomError("say where the server is: Client(url=...) or the variable CUBELOOM_URL")
        self.transport = Transport(url, token or os.environ.get("CUBELOOM_TOKEN"), timeout, http)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self.transport.close()

    def me(self) -> dict[str, Any]:
        """Who the token belongs to."""
        return cast(dict[str, Any], self.get("/me"))

    def projects(self) -> Iterator[dict[str, Any]]:
        """The projects that can be seen."""
        return self.pages("/projects")

    def pipeline(self, name: str, project: str = "default") -> Pipeline:
        """A stored pipeline. It is looked up when something is asked of it."""
        return Pipeline(self.transport, project, name)

    def pipelines(self, project: str = "default", **filters: str | int) -> Iterator[Pipeline]:
        """The pipelines of a project, by name."""
        for item in self.pages(f"/projects/{project}/pipelines", filters):
            yield Pipeline(self.transport, project, item["name"])

    def run(self, run: str) -> Run:
        """A run, by its id."""
        return Run.load(self.transport, run)

    def runs(self, project: str | None = None, **filters: str | int) -> Iterator[Run]:
        """Runs, the newest first: of one project, or all that can be seen."""
        path = f"/projects/{project}/runs" if project else "/runs"
        for item in self.pages(path, filters):
            yield Run(self.transport, cast(models.RunView, item))

    def run_document(
        self, document: str, parameters: dict[str, Any] | None = None, *, project: str = "default", code: str | None = None
    ) -> Run:
        """Runs a document without storing it.

        :param code: the digest of a folder that was uploaded, see `Pipeline.upload`.
        """
        body = {"document": document, "parameters": parameters or {}, "code": code}
        started, _ = self.transport.json("POST", f"/projects/{project}/runs", body=body)
        return Run(self.transport, started["run"])

    def install_template(self, folder: str | Path) -> dict[str, Any]:
        """Installs a task template for every project, with the programs in its folder; administrators may.

        A version never changes: the same folder again changes nothing.
        """
        content = archive(Path(folder))
        headers = {"content-type": "application/gzip"}
        answer, _ = self.transport.json("POST", "/templates", content=content, headers=headers)
        return cast(dict[str, Any], answer)

    def get(self, path: str, query: Query | None = None) -> Any:
        """Any answer of the API, e.g. ``get("/clusters")``; docs/API-DESIGN.md and ``/docs/api`` list them."""
        return self.transport.json("GET", path, query=query)[0]

    def pages(self, path: str, query: Query | None = None) -> Iterator[dict[str, Any]]:
        """Every item of any list of the API."""
        return self.transport.pages(path, query)
