"""Jobs on the real node: started as by the executor, and observed through the API server."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from harness.api import Api, Object, Refused

from . import compiled
from .endings import PATIENCE, outcome

FOLDER = Path("tests/cluster/real")
FACTS = FOLDER / "facts.yaml"


@dataclass
class Job:
    """One job of a compiled pipeline."""

    api: Api
    thing: Object
    selector: str = ""  # of its pods, if they have no label of ours

    @property
    def name(self) -> str:
        return self.thing["metadata"]["name"]

    @property
    def run(self) -> Path:
        """The folder of its run, which its pods share."""
        return Path(os.environ["CUBELOOM_TEST_WORKSPACE"], "runs", self.thing["metadata"]["labels"]["cubeloom/run"])

    @property
    def reports(self) -> Path:
        """The folder of its only worker's reports."""
        return self.run / ".attempts" / self.thing["metadata"]["labels"]["cubeloom/task"] / "0" / "1" / "worker-0"

    def start(self) -> None:
        """Creates it, with the Secret that its workers authenticate with."""
        meta = {"name": self.name, "namespace": self.thing["metadata"]["namespace"]}
        token = {".job-token": "of a test"}
        self.api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": token})
        self.api.apply(self.thing)

    def pods(self) -> list[Object]:
        """Its pods, sorted by name."""
        namespace = self.thing["metadata"]["namespace"]
        selector = quote(self.selector or f"cubeloom/job={self.name}", safe="")
        path = f"/api/v1/namespaces/{namespace}/pods?labelSelector={selector}"
        return sorted(self.api.request("GET", path)["items"], key=lambda pod: pod["metadata"]["name"])

    def log(self, pod: Object) -> str:
        """The log of a pod's main container; a sentence if there is none."""
        meta = pod["metadata"]
        try:
            return self.api.request("GET", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log")
        except Refused as refused:
            return f"no log: {refused}"

    def logs(self) -> dict[str, str]:
        """The logs of all its pods, by pod name without the job's prefix."""
        return {pod["metadata"]["name"].removeprefix(f"{self.name}-"): self.log(pod) for pod in self.pods()}

    def state(self, of: str = "containerStatuses") -> Object:
        """The state of its only pod's container; with `initContainerStatuses`, of its setup."""
        statuses = [status for pod in self.pods() for status in pod["status"].get(of) or []]
        return statuses[0]["state"] if statuses else {}

    def end(self) -> str:
        """Waits for its end. Returns how it ended."""
        wait(lambda: outcome(self.api.get(self.thing)) is not None)
        return outcome(self.api.get(self.thing)) or f"unfinished: {(self.api.get(self.thing) or {}).get('status')}"


def jobs_of(api: Api, pipeline: str) -> dict[str, Job]:
    """The jobs of a pipeline, by task. Here every job is one manifest."""
    compiled_tasks = compiled.of_pipeline(FOLDER / f"{pipeline}.yaml", FACTS)
    return {task: Job(api, thing) for task, (thing,) in compiled_tasks}


def wait(done: Callable[[], bool]) -> bool:
    """Waits for a condition. Returns whether it was met in time."""
    end = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def differs(seen: object, wanted: object) -> str:
    """The difference between actual and expected; empty if equal."""
    return "" if seen == wanted else f"{seen!r} instead of {wanted!r}"
