"""A real node: a kubelet and containerd on this machine, whose pods are real processes.

They run in their own process and mount namespaces. However the first process there ends, the kernel then ends
every container and undoes every mount. `host` has the changes outside of the namespaces.
"""

import json
import sys
from pathlib import Path

from .. import project
from ..api import Api, Object
from ..nodes import is_ready
from ..parts import Parts, ports
from . import images, kubelet, names, runtime
from .inside import Plan
from .place import Place

#: All pods of this namespace are scheduled on the real node.
NAMESPACE = "cubeloom-node"


def start(parts: Parts, programs: dict[str, Path], api: Api, program: Path | None, place: Place) -> None:
    """Starts the node. Afterwards it is ready, with the test images, and has a project in its namespace.

    `program` is the `cubeloom` for pods; without it there are no images, and no pod can run. `place` is the
    result of `host.claim`.
    """
    folder = parts.state / "node"
    folder.mkdir()
    names.start(parts, programs["coredns"], place)
    binaries = programs["containerd"] / "bin"
    (port,) = ports.reserve(1)
    plan = Plan(
        folder=str(folder),
        logs=str(parts.logs),
        containerd=[str(binaries / "containerd"), "--config", str(runtime.write(folder, place, images.PAUSE))],
        ctr=str(binaries / "ctr"),
        archive=str(images.write(folder, program)) if program else "",
        kubelet=kubelet.command(programs["kubelet"] / "bin" / "kubelet", parts.state, folder, place, port),
    )
    command = ["unshare", "--pid", "--mount", "--fork", "--kill-child=KILL", "--mount-proc"]
    command += [sys.executable, "-m", "harness.node.inside", plan.text()]
    environment = {
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "PATH": f"{binaries}:/usr/sbin:/usr/bin:/sbin:/bin",  # for containerd's shim, and runc
    }
    part = parts.start("node", command, environment)
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": kubelet.NODE}}
    parts.wait(part, "the real node's readiness", lambda: is_ready(api.get(node)))
    _make_project(api, parts.state / "workspace")


def _make_project(api: Api, workspace: Path) -> None:
    workspace.mkdir()
    # The kubelet gives this mode to `subPath` folders, and it does not change the group of the machine's
    # folders.
    workspace.chmod(0o777)
    api.apply(_namespace())
    project.make(api, NAMESPACE, workspace)


def _namespace() -> Object:
    prefix = "scheduler.alpha.kubernetes.io"
    annotations = {
        f"{prefix}/node-selector": f"{kubelet.LABEL}={kubelet.NODE}",
        f"{prefix}/defaultTolerations": json.dumps([kubelet.TOLERATION]),
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "annotations": annotations}}
