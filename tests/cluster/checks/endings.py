"""Jobs of every framework run to their end on simulated nodes, well and badly, by their own operators."""

import time
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import compiled

PIPELINE = Path("tests/cluster/frameworks.yaml")
PATIENCE = 240.0  # seconds, for all of them together: they run at the same time
# Whose end is the job's; the agents of an MPI job wait for ever.
LAST = {"MPIJob": ("Launcher",)}


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Each job's name, and what was wrong with its end."""
    started = [*_start(api, "0", "Succeeded"), *_start(api, "3", "Failed")]
    end = time.monotonic() + PATIENCE
    for name, thing, wanted in started:
        while (now := outcome(api.get(thing))) is None and time.monotonic() < end:
            time.sleep(0.2)
        seen = now or f"not at its end: {state(api, thing)}"
        yield f"{name} ends as {wanted}", "" if now == wanted else f"it is {seen}"
        if now:
            api.delete(thing)


def _start(api: Api, code: str, wanted: str) -> list[tuple[str, Object, str]]:
    started = []
    for task, objects in compiled.of_pipeline(PIPELINE):
        for thing in objects:
            templates = list(pod_templates(thing))
            for role, template in templates:
                if role in LAST.get(thing["kind"], (role,)):
                    template["metadata"]["annotations"] |= {"cubeloom-test/run": "2s", "cubeloom-test/exit": code}
            api.apply(thing)
            if templates:  # a Service has no end
                started.append((f"{task}: {thing['kind']} {thing['metadata']['name']}", thing, wanted))
    return started


def pod_templates(thing: Object, role: str = "") -> Iterator[tuple[str, Object]]:
    """Every pod template in an object, with the key above it."""
    for key, value in thing.items():
        below = value if isinstance(value, list) else [value]
        for each in below:
            if not isinstance(each, dict):
                continue
            if key == "template" and "containers" in each.get("spec", {}):
                yield role, each
            else:
                yield from pod_templates(each, key)


def outcome(thing: Object | None) -> str | None:
    """How a job ended, in the operators' common words; nothing while it has not."""
    status = (thing or {}).get("status") or {}
    phase = (status.get("state") or {}).get("phase")
    words = {each["type"] for each in status.get("conditions") or [] if each["status"] == "True"} | {phase}
    if words & {"Failed", "Aborted", "Terminated"}:
        return "Failed"
    return "Succeeded" if words & {"Complete", "Completed", "Succeeded"} else None


def state(api: Api, thing: Object) -> str:
    """What an unfinished job says of itself."""
    return str((api.get(thing) or {}).get("status"))
