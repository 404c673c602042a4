"""The pods of jobs on simulated nodes: their placement, and their pending reasons."""

import time
from collections.abc import Callable, Iterable
from urllib.parse import quote

from harness.api import Api, Object, Refused

from .project import NAMESPACE

PATIENCE = 60.0  # seconds


def of_jobs(api: Api, things: Iterable[Object]) -> list[Object]:
    """The pods of these jobs."""
    names = sorted({thing["metadata"]["labels"]["cubeloom/job"] for thing in things})
    selector = quote(f"cubeloom/job in ({','.join(names)})", safe="")
    return api.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector={selector}")["items"]


def place(pod: Object) -> str | None:
    """The node of a pod."""
    return pod["spec"].get("nodeName")


def why_not(pod: Object) -> str:
    """Why it is unschedulable, in its scheduler's words."""
    conditions = pod.get("status", {}).get("conditions") or []
    words = (each.get("message", "") for each in conditions if each["type"] == "PodScheduled")
    return next(words, "") if place(pod) is None else ""


def wait(holds: Callable[[], bool], patience: float = PATIENCE) -> bool:
    """Waits for a condition. Returns whether it was met in time."""
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def remove(api: Api, things: list[Object]) -> None:
    """Deletes jobs, and waits until their pods are gone and their resources are free."""
    for thing in things:
        try:
            api.delete(thing)
        except Refused as refused:
            if refused.code != 404:
                raise
    if not wait(lambda: not of_jobs(api, things)):
        raise SystemExit(f"pods of {things[0]['metadata']['name']} and other objects remain: {of_jobs(api, things)}")
