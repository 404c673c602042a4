"""Stored pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .archive import archive
from .errors import NotFound
from .run import Run
from .transport import Transport


class Pipeline:
    """A pipeline of a project. Its documents are kept as versions, from 1."""

    def __init__(self, transport: Transport, project: str, name: str) -> None:
        self._transport = transport
        #: The project.
        self.project = project
        #: Its name in the project.
        self.name = name

    def __repr__(self) -> str:
        return f"<Pipeline {self.project}/{self.name}>"

    @property
    def _path(self) -> str:
        return f"/projects/{self.project}/pipelines/{self.name}"

    def load(self, version: int | None = None) -> dict[str, Any]:
        """The newest version, or this one: ``document`` is its text."""
        return self._load(version)[0]

    def _load(self, version: int | None = None) -> tuple[dict[str, Any], str | None]:
        path = self._path if version is None else f"{self._path}/versions/{version}"
        loaded, etag = self._transport.json("GET", path)
        return loaded, etag

    def put(
        self,
        document: str,
        *,
        message: str = "",
        folder: str | Path | None = None,
        code: str | None = None,
        etag: str | None = None,
    ) -> dict[str, Any]:
        """Stores a document as the newest version; makes the pipeline when there is none.

        :param message: what was changed, for the list of versions.
        :param folder: a folder with the programs that the pipeline runs; it is uploaded.
        :param code: or the digest of a folder that is there already.
        :param etag: the state that was read and is changed (see `etag`); without it, the present one is replaced,
            whoever wrote it. With it, `Stale` is raised when somebody else was faster.
        """
        body: dict[str, Any] = {"document": document, "message": message}
        if folder is not None:
            code = self.upload(folder)
        if code is not None:
            body["code"] = code
        if etag is None:
            try:
                etag = self.etag()
            except NotFound:
                path = f"/projects/{self.project}/pipelines"
                made, _ = self._transport.json("POST", path, body=body)
                return dict(made)
        stored, _ = self._transport.json("PUT", self._path, body=body, etag=etag)
        return dict(stored)

    def etag(self) -> str:
        """What names the present state."""
        return self._load()[1] or "*"

    def upload(self, folder: str | Path) -> str:
        """Uploads a folder of programs; its digest. The same content has the same digest, and is kept once."""
        content = archive(Path(folder))
        path = f"/projects/{self.project}/code"
        answer, _ = self._transport.json("PUT", path, content=content, headers={"content-type": "application/gzip"})
        return str(answer["digest"])

    def run(
        self,
        parameters: dict[str, Any] | None = None,
        /,
        *,
        version: int | None = None,
        only: str | None = None,
        from_: str | None = None,
        of: str | Run | None = None,
        **more: Any,
    ) -> Run:
        """Starts it with these parameters: ``run(epochs=3)`` or ``run({"learning-rate": 0.1})``.

        :param version: this version instead of the newest.
        :param only: a task; nothing else is run.
        :param from_: a task; it and everything after it are run.
        :param of: the earlier run, or its id, whose results stand for the tasks before; without it, the newest in which
            all of them succeeded.

        A parameter that is called like one of these goes into the dictionary.
        """
        body: dict[str, Any] = {"pipeline": self.name, "version": version, "parameters": {**(parameters or {}), **more}}
        part = _part(only, from_, of)
        if part is not None:
            body["tasks"] = part
        started, _ = self._transport.json("POST", f"/projects/{self.project}/runs", body=body)
        return Run(self._transport, started["run"])

    def delete(self) -> None:
        """Deletes it; its versions and runs stay, and storing it again revives it."""
        self._transport.json("DELETE", self._path, etag=self.etag())


def _part(only: str | None, from_: str | None, of: str | Run | None) -> dict[str, str] | None:
    """The part of a pipeline, as the API takes it."""
    if (only is None) == (from_ is None):
        if only is not None:
            raise ValueError("say either only= or from_=, not both")
        if of is not None:
            raise ValueError("of= is the earlier run of a part: say only= or from_= with it")
        return None
    part = {"only": only} if only is not None else {"from": str(from_)}
    if of is not None:
        part["of"] = of.id if isinstance(of, Run) else of
    return part
