"""Gangs that do not all fit at once: none starts partially, and all end."""

import time
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import compiled
from .endings import PATIENCE, outcome, pod_templates
from .project import NAMESPACE

PIPELINE = Path("tests/cluster/gang.yaml")
ROOM = 3  # gangs that fit


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Checks of four gangs with capacity for three."""
    jobs = [thing for _, objects in compiled.of_pipeline(PIPELINE) for thing in objects]
    for thing in jobs:
        for _, template in pod_templates(thing):
            # Long enough for a busy machine to start all workers of a gang before the first ends.
            template["metadata"]["annotations"] |= {"cubeloom-test/run": "12s"}
        api.apply(thing)
    end = time.monotonic() + PATIENCE
    while any(outcome(api.get(thing)) is None for thing in jobs) and time.monotonic() < end:
        time.sleep(0.2)
    ends = [outcome(api.get(thing)) for thing in jobs]
    yield "four gangs where three fit all succeed", "" if set(ends) == {"Succeeded"} else str(ends)
    if set(ends) == {"Succeeded"}:
        spans = [_span(api, thing) for thing in jobs]
        yield "every gang had all its workers at once", "" if all(s < e for s, e in spans) else str(spans)
        most = max(sum(s <= moment < e for s, e in spans) for moment, _ in spans)
        yield f"{ROOM} gangs ran together, the fourth after", "" if most == ROOM else f"{most} did: {spans}"
    for thing in jobs:
        api.delete(thing)


def _span(api: Api, thing: Object) -> tuple[str, str]:
    """When the last worker of a job started and when the first ended: times that sort as text."""
    label = f"cubeloom%2Fjob%3D{thing['metadata']['name']}"
    pods = api.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector={label}")["items"]
    ends = [pod["status"]["containerStatuses"][0]["state"]["terminated"] for pod in pods]
    return max(each["startedAt"] for each in ends), min(each["finishedAt"] for each in ends)
