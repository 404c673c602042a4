"""Simulated nodes: kwok acts as their kubelets, and our Stage defines how long a pod runs and how it ends."""

import copy
from pathlib import Path

import yaml

from .api import Api, Object, documents
from .parts import Parts


def start(parts: Parts, programs: Path, api: Api, folder: Path) -> None:
    """Starts kwok and waits until every node is ready."""
    for name in ("kwok.x-k8s.io_stages", "node-initialize", "node-heartbeat-with-lease", "pod-ready", "pod-delete"):
        for thing in documents(programs / "manifests" / f"{name}.yaml"):
            apply_when_served(parts, api, thing)
    stage = yaml.safe_load((folder / "pod-end.yaml").read_text())
    for thing in (stage, of_task(stage, "simulated", "0"), of_task(stage, "failing", "3")):
        apply_when_served(parts, api, thing)
    nodes = [node for group in documents(folder / "nodes.yaml") for node in of_group(group)]
    for node in nodes:
        api.apply(node)
    command = [str(programs / "bin" / "kwok"), "--kubeconfig", str(parts.state / "kubeconfig")]
    command += ["--manage-nodes-with-label-selector", "type=kwok", "--enable-crds", "Stage"]
    command += ["--node-lease-duration-seconds", "40"]
    part = parts.start("kwok", command)
    parts.wait(part, "the nodes' readiness", lambda: all(is_ready(api.get(node)) for node in nodes))


def of_task(stage: Object, word: str, code: str) -> Object:
    """The same for Cubeloom's own jobs, which have no test annotations: pods of a task whose name begins with
    this word exit with this code after a second or two."""
    stage = copy.deepcopy(stage)
    stage["metadata"]["name"] += f"-of-{word}"
    *others, _ = stage["spec"]["selector"]["matchExpressions"]
    begins = f'.metadata.labels["cubeloom/task"] // "" | if startswith("{word}") then "yes" else "no" end'
    stage["spec"]["selector"]["matchExpressions"] = [*others, {"key": begins, "operator": "In", "values": ["yes"]}]
    stage["spec"]["delay"] = {"durationMilliseconds": 1000, "jitterDurationMilliseconds": 2000}
    following = stage["spec"]["next"]
    following["statusTemplate"] = following["statusTemplate"].replace(') "0" }}', f') "{code}" }}}}')
    return stage


def apply_when_served(parts: Parts, api: Api, thing: Object) -> None:
    """Applies a manifest. For a custom resource definition, waits until its kind is served."""
    api.apply(thing)
    if thing["kind"] == "CustomResourceDefinition":
        while not (has_condition(api.get(thing), "Established") and _is_served(api, thing["spec"])):
            parts.check()
            parts.ending.pause(0.05)


def _is_served(api: Api, definition: Object) -> bool:
    """Whether discovery finds the kind, which it does a moment after it is established."""
    group, names = definition["group"], definition["names"]
    versions = [each["name"] for each in definition["versions"] if each["served"]]
    return all(api.serves(f"/apis/{group}/{version}", names["kind"]) for version in versions)


def of_group(group: Object) -> list[Object]:
    """The nodes `NAME-0` and so on of a group. Server-side apply sets a node's `allocatable`."""
    return [node(f"{group['name']}-{index}", group) for index in range(group["count"])]


def node(name: str, group: Object) -> Object:
    labels = {"type": "kwok", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **group.get("labels", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": group["has"], "capacity": group["has"]},
    }


def is_ready(node: Object | None) -> bool:
    """Whether pods can be scheduled there."""
    taints = (node or {}).get("spec", {}).get("taints", [])
    tainted = any(taint["key"].startswith("node.kubernetes.io/") for taint in taints)
    return has_condition(node, "Ready") and not tainted


def has_condition(thing: Object | None, kind: str) -> bool:
    """Whether a condition of that kind is true."""
    conditions = (thing or {}).get("status", {}).get("conditions") or []
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)
