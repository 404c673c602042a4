"""The MPI operator, with gang scheduling by Volcano."""

from pathlib import Path

from .api import Api, documents
from .nodes import apply_when_served
from .parts import Parts

NAMESPACE = "mpi-operator"


def start(parts: Parts, programs: Path, api: Api) -> None:
    """Starts the operator. It is the leader afterwards, and so creates pods."""
    for thing in documents(programs / "manifests" / "kubeflow.org_mpijobs.yaml"):
        apply_when_served(parts, api, thing)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    command = [str(programs / "bin" / "mpi-operator"), "-kubeConfig", str(parts.state / "kubeconfig")]
    command += ["-gang-scheduling=volcano", f"-lock-namespace={NAMESPACE}", "-monitoring-port=0"]
    part = parts.start("mpi-operator", command)
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "mpi-operator", "namespace": NAMESPACE},
    }
    parts.wait(part, "its lease", lambda: api.get(lease) is not None)
