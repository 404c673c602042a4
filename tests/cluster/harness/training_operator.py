"""Kubeflow's training operator, with gang scheduling by Volcano."""

import base64
from pathlib import Path

from . import webhooks
from .api import Api, Object, documents
from .node.images import HELPER
from .nodes import apply_when_served
from .parts import Parts, listens, ports

NAMESPACE = "kubeflow"
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "training-operator-webhook-cert", "namespace": NAMESPACE},
}
# Not mpijob: the MPI operator defines that kind, and there can be only one definition.
SCHEMES = ("pytorchjob", "tfjob", "xgboostjob", "paddlejob", "jaxjob")
# The operator's init container for workers of a PyTorchJob with a master, in Debian's commands: its own are
# busybox's.
WAIT_FOR_MASTER = """\
- name: init-pytorch
  image: {{.InitContainerImage}}
  imagePullPolicy: IfNotPresent
  resources: {limits: {cpu: 100m, memory: 20Mi}, requests: {cpu: 50m, memory: 10Mi}}
  command: [sh, -c, 'until getent hosts {{.MasterAddr}}; do sleep 0.2; done']
"""


def start(parts: Parts, programs: Path, api: Api) -> None:
    """Starts the operator. Its webhook answers afterwards."""
    (hook,) = documents(programs / "manifests" / "manifests.yaml")
    for file in sorted((programs / "manifests").glob("kubeflow.org_*.yaml")):
        for thing in documents(file):
            apply_when_served(parts, api, thing)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    api.apply(SECRET)
    hook_port, probe_port = ports.reserve(2)
    hook["metadata"]["name"] = "validator.training-operator.kubeflow.org"
    webhooks.serve(api, [hook], NAMESPACE, "training-operator", hook_port)
    temporary = parts.state / "training-operator"
    certificates = temporary / "k8s-webhook-server" / "serving-certs"
    certificates.mkdir(parents=True)
    command = [str(programs / "bin" / "training-operator.v1"), "--kubeconfig", str(parts.state / "kubeconfig")]
    command += ["--gang-scheduler-name=volcano", "--metrics-bind-address=0", f"--webhook-server-port={hook_port}"]
    command += [f"--health-probe-bind-address=127.0.0.1:{probe_port}"]
    command += [f"--enable-scheme={name}" for name in SCHEMES]
    waiting = parts.state / "pytorch-init-container.yaml"
    waiting.write_text(WAIT_FOR_MASTER)
    command += [f"--pytorch-init-container-image={HELPER}", f"--pytorch-init-container-template-file={waiting}"]
    part = parts.start("training-operator", command, {"TMPDIR": str(temporary)})
    # It creates its certificate in the Secret. In a cluster the kubelet copies that into its pod.
    parts.wait(part, "its certificate", lambda: _copy(api.get(SECRET), certificates))
    parts.wait(part, "its webhook's port", lambda: listens(hook_port))


def _copy(secret: Object | None, folder: Path) -> bool:
    data = (secret or {}).get("data") or {}
    names = ("tls.crt", "tls.key", "ca.crt")
    if not all(data.get(name) for name in names):
        return False
    for name in names:
        (folder / name).write_bytes(base64.b64decode(data[name]))
    return True
