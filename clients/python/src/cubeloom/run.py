"""Runs: waiting for them, what they write, what they leave."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from . import events, models
from .errors import Failure, RunFailed, WaitTimedOut
from .logs import Lines, LogLine
from .transport import Transport

#: States that a run does not leave by itself.
FINAL = frozenset({"succeeded", "failed", "cancelled"})
#: Seconds between two looks at a run that is waited for.
PERIOD = 0.5


class Run:
    """A run of a pipeline. What it says of itself is as old as the last `refresh`."""

    def __init__(self, transport: Transport, data: models.RunView) -> None:
        self._transport = transport
        #: Everything that the server said of it.
        self.data = data

    @classmethod
    def load(cls, transport: Transport, run: str) -> Run:
        """Asks for a run by its id."""
        data, _ = transport.json("GET", f"/runs/{run}")
        return cls(transport, data)

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.data['project']}/{self.data['pipeline']}: {self.state}>"

    @property
    def id(self) -> str:
        """Its id."""
        return self.data["id"]

    @property
    def state(self) -> str:
        """``queued``, ``running``, ``cancelling``, ``succeeded``, ``failed`` or ``cancelled``."""
        return self.data["state"]

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"{self._transport.url}/runs/{self.id}"

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.state in FINAL

    def refresh(self) -> Run:
        """Asks how it is now."""
        self.data = self._get("")
        return self

    def wait(self, timeout: float | None = None, *, check: bool = True) -> Run:
        """Waits for its end.

        :param timeout: seconds to wait at most; `WaitTimedOut` is raised after that, and the run goes on.
        :param check: whether `RunFailed` is raised when it has not succeeded.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.refresh().ended:
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimedOut(f"the run {self.id} is {self.state} after {timeout} s")
            time.sleep(PERIOD)
        if check and self.state != "succeeded":
            raise RunFailed(self.id, self.state, self.data.get("message"), url=self.url, failure=self._first_failure())
        return self

    def cancel(self) -> Run:
        """Stops it."""
        return self._act("cancel")

    def resume(self) -> Run:
        """Runs again what failed or was not reached, keeping what succeeded."""
        return self._act("resume")

    def rerun(self, *tasks: str) -> Run:
        """Runs these tasks, and everything after them, again."""
        return self._act("rerun", {"from": list(tasks)})

    def delete(self) -> None:
        """Deletes it with its files; it must have ended."""
        _, etag = self._transport.json("GET", self._path(""))
        self._transport.json("DELETE", self._path(""), etag=etag)

    def tasks(self) -> list[dict[str, Any]]:
        """Its tasks, in the document's order."""
        return list(self._transport.pages(self._path("/tasks")))

    def events(self) -> Iterator[events.Event]:
        """What happens to it from now on; a lost connection is taken up again."""
        return events.follow(self._transport, self._path("/events"))

    def outputs(self) -> dict[str, dict[str, Any]]:
        """What its tasks reported, by task and name (of the first instance of a task that has several)."""
        found: dict[str, dict[str, Any]] = {}
        for item in self._items("/outputs"):
            found.setdefault(item["task"], item["outputs"])
        return found

    def metrics(self) -> list[dict[str, Any]]:
        """Measured values: one series a name, task and instance."""
        return cast(list[dict[str, Any]], self._get("/metrics")["series"])

    def artifacts(self) -> list[dict[str, Any]]:
        """Files that its tasks named as worth showing."""
        return self._items("/artifacts")

    def download(self, path: str, to: str | Path) -> Path:
        """Copies a file of the run's folder (see `artifacts`) to a file or into a folder here."""
        target = Path(to)
        if target.is_dir():
            target = target / Path(path).name
        part = target.with_name(target.name + ".part")
        with self._transport.stream(self._path("/file"), query={"path": path}) as response, part.open("wb") as file:
            for piece in response.iter_bytes():
                file.write(piece)
        return part.replace(target)

    def logs(self, task: str | None = None, *, follow: bool = False, **which: str | int) -> Iterator[LogLine]:
        """What its workers wrote: of one task, or of all, task by task.

        :param follow: whether to go on until the task has ended, over lost connections.
        :param which: ``instance``, ``attempt``, ``worker``, ``stream``.
        """
        names = [task] if task else [each["name"] for each in self.tasks()]
        for name in names:
            if follow:
                yield from self._follow(name, which)
            else:
                yield from self._read(name, which)

    def _first_failure(self) -> Failure | None:
        failed = [task for task in self.tasks() if task.get("failure")]
        if not failed:
            return None
        task = min(failed, key=lambda task: task.get("ended_at") or "")
        cause = task["failure"]
        item = self._item(task["name"], cause.get("instance", 0)) if task["for_each"] else None
        return Failure(task["name"], item, cause["message"], cause.get("exit_code"), cause.get("last_lines", []))

    def _item(self, task: str, instance: int) -> Any:
        found = self._transport.pages(self._path(f"/tasks/{task}/instances"), {"state": "failed"})
        return next((each["item"] for each in found if each["instance"] == instance), instance)

    def _read(self, task: str, which: dict[str, str | int]) -> Iterator[LogLine]:
        lines, cursor = Lines(task), None
        while True:
            query = {**which, "task": task, "cursor": cursor}
            part, _ = self._transport.json("GET", self._path("/logs/text"), query=query)
            yield from lines.of(part["chunks"])
            if part["ended"] or not part["chunks"]:
                yield from lines.rest()
                return
            cursor = part["cursor"]

    def _follow(self, task: str, which: dict[str, str | int]) -> Iterator[LogLine]:
        lines = Lines(task)
        for event in events.follow(self._transport, self._path("/logs/events"), {**which, "task": task}):
            if event.name in ("end", "ended"):
                break
            if "text" in event.data:
                yield from lines.of([event.data])
            elif "chunks" in event.data:
                yield from lines.of(event.data["chunks"])
        yield from lines.rest()

    def _path(self, rest: str) -> str:
        return f"/runs/{self.id}{rest}"

    def _get(self, rest: str) -> Any:
        return self._transport.json("GET", self._path(rest))[0]

    def _items(self, rest: str) -> list[dict[str, Any]]:
        return list(self._transport.pages(self._path(rest)))

    def _act(self, verb: str, body: dict[str, Any] | None = None) -> Run:
        self._transport.json("POST", self._path(f"/{verb}"), body=body)
        return self.refresh()
