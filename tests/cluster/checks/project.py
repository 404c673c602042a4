"""What a project has in its cluster before any job comes: a namespace, an account, a queue, a priority, a claim."""

import time

from harness.api import Api

NAMESPACE = "cubeloom-default"
PATIENCE = 120.0  # seconds


def make(api: Api) -> None:
    """Makes it, and waits until the claim is bound: no pod is placed before."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "workspace", "namespace": NAMESPACE},
        "spec": {**volume_form(), "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "workspace"},
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "workspace"},
        "spec": {**volume_form(), "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/nowhere"}},
    }
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "cubeloom-worker", "namespace": NAMESPACE},
    }
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    # Volcano takes no job for a queue that is not there.
    queue = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": "q"},
        "spec": {"weight": 1},
    }
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for thing in (account, priority, queue, volume, claim):
        api.apply(thing)
    end = time.monotonic() + PATIENCE
    while (api.get(claim) or {}).get("status", {}).get("phase") != "Bound":
        if time.monotonic() > end:
            raise SystemExit(f"check: the claim `workspace` was not bound within {PATIENCE:.0f} s")
        time.sleep(0.1)


def volume_form() -> dict[str, object]:
    """What a claim and its volume have to say alike."""
    return {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
