"""KubeRay, with gang scheduling by Volcano."""

from pathlib import Path

from .api import Api, documents
from .nodes import apply_when_served
from .parts import Parts, listens, ports


def start(parts: Parts, programs: Path, api: Api) -> None:
    """Starts the operator. It is ready afterwards."""
    for file in sorted((programs / "manifests").glob("ray.io_*.yaml")):
        for thing in documents(file):
            apply_when_served(parts, api, thing)
    (port,) = ports.reserve(1)
    command = [str(programs / "bin" / "ray-operator"), "--kubeconfig", str(parts.state / "kubeconfig")]
    command += ["--batch-scheduler=volcano", "--enable-leader-election=false", "--metrics-addr=0"]
    command += [f"--health-probe-bind-address=127.0.0.1:{port}"]
    # It is no pod, so it reaches Ray heads through the API server's proxy.
    command += ["--use-kubernetes-proxy"]
    part = parts.start("kuberay", command)
    parts.wait(part, "its port", lambda: listens(port))
