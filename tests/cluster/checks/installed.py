"""The chart on a real node: its server starts with the documented restrictions, signs in a user, and runs a
job."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object
from harness.project import ACCOUNT

from . import gateway, helm, pods
from .product import LINK, Product

# The test image, under one of its names: it has the program and the templates at the server image's paths.
IMAGE = ("image.repository=ghcr.io/cubeloom/command", "image.tag=1.0.0", "image.pullPolicy=Never")
UID = 10000
# Expected findings of the check page: no Prometheus monitors this cluster, and the account may not look for
# Volcano.
ABSENT = ("Volcano", "Prometheus")
TASKS = """\
apiVersion: cubeloom/v1
kind: Pipeline
name: installed
cluster: here
tasks:
  - name: speak
    template: python
    arguments: {code: "import cubeloom; cubeloom.outputs(answer=42)"}
"""


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The checks of the server in its pod."""
    namespace = os.environ["CUBELOOM_TEST_NAMESPACE"]
    shared = Path(os.environ["CUBELOOM_TEST_WORKSPACE"])
    before = set(shared.iterdir())
    with gateway.forwarded(api) as port:
        things = _install(api, namespace, port)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cubeloom-0", "namespace": namespace}}
        ready = pods.wait(lambda: _is_ready(api.get(pod)))
        seen = "" if ready else str((api.get(pod) or {}).get("status"))
        yield "the chart's confined server becomes ready", seen
        if ready:
            yield from _used(api, pod, namespace)
        for thing in reversed(things):
            api.delete(thing)
    pods.wait(lambda: api.get(pod) is None)
    # Its projects' files belong to its uid: a server with another uid could not use them.
    for folder in set(shared.iterdir()) - before:
        shutil.rmtree(folder)


def _install(api: Api, namespace: str, port: int) -> list[Object]:
    """Installs it in the namespace of the real node's project. The result omits manifests that already exist.
    """
    words = [*IMAGE, "workspace.create=false", "workspace.claim=workspace", f"uid={UID}"]
    made = helm.objects(namespace, helm.VALUES / "sqlite.yaml", "--set", ",".join(words))
    (server,) = (thing for thing in made if thing["kind"] == "StatefulSet")
    gateway.lead(server["spec"]["template"]["spec"], port)
    things = [*_data(namespace), *(thing for thing in made if thing["metadata"]["name"] != ACCOUNT)]
    for thing in things:
        api.apply(thing)
    return things


def _data(namespace: str) -> list[Object]:
    """The volume of the server's data, a folder of this machine, and the claim that the StatefulSet expects.
    """
    folder = Path(os.environ["CUBELOOM_TEST_WORKSPACE"]).parent / "server"
    folder.mkdir(exist_ok=True)
    os.chown(folder, UID, UID)
    form = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    claim = {"name": "data-cubeloom-0", "namespace": namespace}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-server"},
        "spec": {**form, "capacity": {"storage": "10Gi"}, "claimRef": claim, "hostPath": {"path": str(folder)}},
    }
    wanted = {**form, "volumeName": volume["metadata"]["name"], "resources": {"requests": {"storage": "10Gi"}}}
    return [volume, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": claim, "spec": wanted}]


def _used(api: Api, pod: Object, namespace: str) -> Iterator[tuple[str, str]]:
    seen = api.get(pod)
    log = api.request("GET", f"/api/v1/namespaces/{namespace}/pods/cubeloom-0/log")
    links = [line for line in log.splitlines() if line.startswith(LINK)]
    yield "its log has the first link", "" if links else log
    product = Product(f"http://{seen['status']['podIP']}:8080", links[0])
    product.add({"name": "here", "access": "in_cluster", "namespace": namespace, "workspace_claim": "workspace"})
    told = product.get("/clusters/here/check")["problems"]
    problems = [each for each in told if not any(absent in each for absent in ABSENT)]
    yield "it reaches its cluster with its own account, and nothing is missing there", "; ".join(problems)
    refused = product.refusal(TASKS.replace("cluster: here\n", ""))
    yield "it starts no jobs in its own pod", "" if "CPU" in refused else refused
    run = product.start(TASKS)
    pods.wait(lambda: product.get(f"/runs/{run}")["state"] not in ("queued", "running"))
    outputs = product.get(f"/runs/{run}/outputs")["items"]
    done = [each["outputs"] for each in outputs] == [{"answer": 42}]
    seen = "" if done else str(product.get(f"/runs/{run}/tasks"))
    yield "a job that it starts reports to it through the shared files", seen


def _is_ready(pod: Object | None) -> bool:
    conditions = (pod or {}).get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
