"""Jobs of every framework run to success and failure on simulated nodes, through their own operators."""

import time
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import compiled

PIPELINE = Path("tests/cluster/frameworks.yaml")
PATIENCE = 240.0  # seconds, for all of them together: they run at the same time
# The roles whose end is the job's end: MPI agents and parameter servers wait forever.
LAST = {"MPIJob": ("Launcher",), "TFJob": ("Chief", "Worker")}


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Each job's name, and the error of its end."""
    yield from ended(api, [*start(api, "0", "Succeeded"), *start(api, "3", "Failed")])


def ended(api: Api, started: list[tuple[str, Object, str]]) -> Iterator[tuple[str, str]]:
    """Waits for started jobs to end, and deletes them."""
    end = time.monotonic() + PATIENCE
    for name, thing, wanted in started:
        while (now := _simulated(api.get(thing))) is None and time.monotonic() < end:
            time.sleep(0.2)
        seen = now or f"not at its end: {state(api, thing)}"
        yield f"{name} ends as {wanted}", "" if now == wanted else f"it is {seen}"
        if now == wanted and thing["kind"] in LAST:
            yield f"{name} leaves no processes", _left(api, thing, end)
        if now:
            api.delete(thing)


def _left(api: Api, thing: Object, end: float) -> str:
    """The pods of an ended job that still run after a grace period."""
    label = f"cubeloom%2Fjob%3D{thing['metadata']['name']}"
    path = f"/api/v1/namespaces/{thing['metadata']['namespace']}/pods?labelSelector={label}"
    while True:
        pods = api.request("GET", path)["items"]
        left = [pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] in ("Pending", "Running")]
        if not left or time.monotonic() > end:
            return ", ".join(left)
        time.sleep(0.2)


def start(api: Api, code: str, wanted: str, facts: Path | None = None) -> list[tuple[str, Object, str]]:
    """Applies the jobs for a cluster with these facts, whose pods exit with this code. Returns the expected
    ends."""
    started = []
    for task, objects in compiled.of_pipeline(PIPELINE, facts):
        for thing in objects:
            if thing["kind"] == "RayJob" and code != "0":
                continue  # a simulated head does not answer about its job; crews.py has a real one
            templates = list(pod_templates(thing))
            for role, template in templates:
                if role in LAST.get(thing["kind"], (role,)) and thing["kind"] != "RayJob":
                    template["metadata"]["annotations"] |= {"cubeloom-test/run": "2s", "cubeloom-test/exit": code}
            api.apply(thing)
            if templates:  # a Service has no end
                started.append((f"{task}: {thing['kind']} {thing['metadata']['name']}", thing, wanted))
    return started


def pod_templates(thing: Object, role: str = "") -> Iterator[tuple[str, Object]]:
    """Every pod template in a manifest, with the key above it; the manifest itself if it is a pod."""
    if thing.get("kind") == "Pod":
        yield role, thing
        return
    for key, value in thing.items():
        below = value if isinstance(value, list) else [value]
        for each in below:
            if not isinstance(each, dict):
                continue
            if key in ("template", "pod") and "containers" in each.get("spec", {}):
                yield role, each
            else:
                yield from pod_templates(each, key)


def _simulated(thing: Object | None) -> str | None:
    """How a job of simulated pods ended. A Ray job never ends: it is as far as possible when all its pods
    run."""
    if (thing or {}).get("kind") == "RayJob":
        return "Succeeded" if _deployment(thing) == "Running" else None
    return outcome(thing)


def _deployment(job: Object | None) -> str | None:
    return ((job or {}).get("status") or {}).get("jobDeploymentStatus")


def outcome(thing: Object | None) -> str | None:
    """How a job ended, from the operators' common conditions; None while it runs."""
    status = (thing or {}).get("status") or {}
    if (thing or {}).get("kind") == "RayJob":
        if _deployment(thing) not in ("Complete", "Failed", "ValidationFailed"):
            return None
        # A stopped job is complete as well.
        well = (_deployment(thing), status.get("jobStatus")) == ("Complete", "SUCCEEDED")
        return "Succeeded" if well else "Failed"
    if state := (status.get("applicationState") or {}).get("state"):
        return {"COMPLETED": "Succeeded", "FAILED": "Failed"}.get(state)
    phase = status.get("phase") or (status.get("state") or {}).get("phase")
    words = {each["type"] for each in status.get("conditions") or [] if each["status"] == "True"} | {phase}
    if words & {"Failed", "Aborted", "Terminated"}:
        return "Failed"
    return "Succeeded" if words & {"Complete", "Completed", "Succeeded"} else None


def state(api: Api, thing: Object) -> str:
    """The status of an unfinished job."""
    return str((api.get(thing) or {}).get("status"))
