"""A project's prerequisites in its cluster: an account, a priority class, a claim for its files."""

import time
from pathlib import Path

from .api import Api, Object

PATIENCE = 120.0  # seconds
ACCOUNT = "cubeloom-worker"


def make(api: Api, namespace: str, workspace: Path) -> None:
    """Creates them, and waits until the claim is bound: pods are not scheduled before.

    `workspace` is a folder of this machine, which pods of a real node mount; simulated ones mount nothing.
    """
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": namespace},
    }
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    for thing in (account, *_drivers(namespace), priority):
        api.apply(thing)
    _make_claim(api, namespace, workspace)


def _drivers(namespace: str) -> list[Object]:
    """The account of Spark's drivers, which create their executors."""
    meta = {"name": "cubeloom-spark", "namespace": namespace}
    group = "rbac.authorization.k8s.io"
    rules = [{"apiGroups": [""], "resources": ["pods", "services", "configmaps"], "verbs": ["*"]}]
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": meta, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": meta["name"]},
            "subjects": [{"kind": "ServiceAccount", **meta}],
        },
    ]


def _make_claim(api: Api, namespace: str, workspace: Path) -> None:
    form = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-workspace"},
        "spec": {**form, "capacity": {"storage": "1Gi"}, "hostPath": {"path": str(workspace)}},
    }
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "workspace", "namespace": namespace},
        "spec": {**form, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": volume["metadata"]["name"]},
    }
    api.apply(volume)
    api.apply(claim)
    end = time.monotonic() + PATIENCE
    while (api.get(claim) or {}).get("status", {}).get("phase") != "Bound":
        if time.monotonic() > end:
            raise SystemExit(f"cluster: the claim `workspace` of {namespace} was not bound within {PATIENCE:.0f} s")
        time.sleep(0.1)
