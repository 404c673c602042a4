"""Jobs queued in Kueue: they have no pods before they are admitted, and run to their end afterwards.

Kueue is mocked: it admits a job by clearing `suspend`.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import endings, pods

FACTS = Path("tests/cluster/facts/kueue.yaml")
#: How long to check that operators start nothing, in seconds.
PATIENCE = 4.0


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Checks of jobs of every kind."""
    started = endings.start(api, "0", "Succeeded", FACTS)
    jobs = [thing for _, thing, _ in started]
    unnamed = [thing["kind"] for thing in jobs if thing["metadata"]["labels"].get("kueue.x-k8s.io/queue-name") != "q"]
    yield "every job names the queue of Kueue", ", ".join(unnamed)
    time.sleep(PATIENCE)
    early = [pod["metadata"]["name"] for pod in pods.of_jobs(api, jobs)]
    yield "no job has pods before Kueue admits it", ", ".join(early)
    for job in jobs:
        api.request("PATCH", api.path(job), _let_in(job), "application/merge-patch+json")
    for name, wrong in endings.ended(api, started):
        yield f"admitted by Kueue, {name}", wrong


def _let_in(job: Object) -> Object:
    if "runPolicy" in job["spec"]:
        return {"spec": {"runPolicy": {"suspend": False}}}
    return {"spec": {"suspend": False}}
