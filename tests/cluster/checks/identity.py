"""Operators give workers the same identity that the compiler writes where there is no operator.

Compares the pods that an operator creates on simulated nodes with those of a Volcano Job of the same task,
variable by variable. Addresses and ports differ: an address is replaced by its worker's name.
"""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import compiled
from .endings import PATIENCE, pod_templates
from .project import NAMESPACE

PIPELINE = Path("tests/cluster/identity.yaml")
VOLCANO = Path("tests/cluster/facts/volcano.yaml")
INDEX = "training.kubeflow.org/replica-index"
#: Variables that the platform sets on every cluster.
OURS = ("CUBELOOM_", "KFJ_")
#: Variables that only the operators set.
MORE = {"POD_IP_DUMMY", "PET_NPROC_PER_NODE", "WORKER_ADDRS", "WORKER_PORT"}


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The differences in each task's worker variables."""
    written = {task: objects[-1] for task, objects in compiled.of_pipeline(PIPELINE, VOLCANO)}
    jobs = {task: objects[-1] for task, objects in compiled.of_pipeline(PIPELINE)}
    for thing in jobs.values():
        api.apply(thing)
    for task, thing in jobs.items():
        told = _told(api, thing)
        expected = _expected(written[task])
        wrong = [
            f"{worker} {name}: {variables.get(name)} instead of {expected.get(worker, {}).get(name)}"
            for worker, variables in told.items()
            for name in (variables | expected.get(worker, {}))
            if name not in MORE and variables.get(name) != expected.get(worker, {}).get(name)
        ]
        name = f"{task}: the {thing['kind']} gives workers the compiler's variables"
        yield name, "; ".join(wrong) if told.keys() == expected.keys() else f"its workers are {sorted(told)}"
        api.delete(thing)


def _told(api: Api, thing: Object) -> dict[str, dict[str, str]]:
    """The variables of the operator's pods by role and index, once all pods exist."""
    job = thing["metadata"]["name"]
    path = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=cubeloom%2Fjob%3D{job}"
    count = sum(role["replicas"] for role in _replicas(thing).values())
    end = time.monotonic() + PATIENCE
    while len(pods := api.request("GET", path)["items"]) < count and time.monotonic() < end:
        time.sleep(0.2)
    found = {}
    for pod in pods:
        labels = pod["metadata"]["labels"]
        worker = f"{labels['cubeloom/role']}-{labels[INDEX]}"
        found[worker] = _variables(pod["spec"]["containers"][0], job, worker, labels[INDEX])
    return found


def _replicas(thing: Object) -> Object:
    return next(value for name, value in thing["spec"].items() if name.endswith("ReplicaSpecs"))


def _expected(thing: Object) -> dict[str, dict[str, str]]:
    """The variables of the Volcano Job's pods."""
    found = {}
    tasks = zip(thing["spec"]["tasks"], pod_templates(thing), strict=True)
    for task, (_, template) in tasks:
        for index in range(task["replicas"]):
            worker, container = f"{task['name']}-{index}", template["spec"]["containers"][0]
            found[worker] = _variables(container, thing["metadata"]["name"], worker, str(index))
    return found


def _variables(container: Object, job: str, worker: str, index: str) -> dict[str, str]:
    """A container's identity variables, with addresses replaced by worker names."""
    found = {}
    ranks = re.findall(r"export (\w+)=\$\(\(CUBELOOM_INDEX \+ (\d+)\)\)", " ".join(container["command"][:3]))
    for name, first in ranks:
        found[name] = str(int(index) + int(first))
    for each in container["env"]:
        if "value" in each:
            found[each["name"]] = each["value"].replace("$(CUBELOOM_INDEX)", index)
        elif "volcano.sh/task-index" in str(each):
            found[each["name"]] = index
    return {name: _plain(text, job, worker) for name, text in found.items() if not name.startswith(OURS)}


def _plain(text: str, job: str, worker: str) -> str:
    """A text without what differs between clusters: the job's name, domains, ports."""
    text = text.replace("$(POD_IP_DUMMY)", worker)
    text = re.sub(rf"{job}-([a-z]+-\d+)(\.[a-z0-9-]+)*", r"\1", text)
    text = re.sub(r"(-\d+):\d+", r"\1", text)
    if text.startswith("{"):
        return json.dumps(json.loads(text), sort_keys=True)
    return "a port" if re.fullmatch(r"\d{4,5}", text) else text.replace(job, "the job")
