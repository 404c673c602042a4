"""Pods of tasks with dedicated CPUs are in the QoS class Guaranteed, whichever controller creates or extends
them.

The kubelet pins CPUs only for a container with whole CPUs in a pod of that class.
"""

from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import compiled, pods

PIPELINE = Path("tests/cluster/exclusive.yaml")
CLUSTERS = {
    "every operator": None,
    "Volcano alone": Path("tests/cluster/facts/volcano.yaml"),
    "Kubernetes alone": Path("tests/cluster/facts/plain.yaml"),
}


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The errors in each task's pods, on each kind of cluster."""
    for cluster, facts in CLUSTERS.items():
        for task, things in compiled.of_pipeline(PIPELINE, facts):
            for thing in things:
                api.apply(thing)
            name = f"{cluster}: the pods of `{task}` ({things[-1]['kind']}) have dedicated CPUs"
            yield name, _wrong(api, things)
            pods.remove(api, things)


def _wrong(api: Api, things: list[Object]) -> str:
    """The QoS class of their pods, once every role has one."""
    roles = {role for thing in things for role in _roles(thing)}

    def seen() -> set[str]:
        return {pod["metadata"]["labels"]["cubeloom/role"] for pod in pods.of_jobs(api, things)}

    if not pods.wait(lambda: seen() >= roles):
        return f"there are pods of {seen()} only, not of {roles}"
    faults = []
    for pod in pods.of_jobs(api, things):
        name, quality = pod["metadata"]["name"], pod["status"]["qosClass"]
        amounts = [part["resources"]["limits"]["cpu"] for part in pod["spec"]["containers"]]
        if quality != "Guaranteed" or not all(each.isdigit() for each in amounts):
            added = [part["name"] for part in pod["spec"].get("initContainers", [])]
            faults.append(f"{name} is {quality}, with {amounts} CPU; before it: {added}")
    return "; ".join(faults)


def _roles(thing: object) -> Iterator[str]:
    """The roles in a manifest's pod templates."""
    if isinstance(thing, dict):
        if role := (thing.get("labels") or {}).get("cubeloom/role"):
            yield role
        for value in thing.values():
            yield from _roles(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from _roles(value)
