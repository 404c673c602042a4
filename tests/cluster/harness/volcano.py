"""Volcano: its kinds, webhooks, controllers and scheduler."""

import base64
from pathlib import Path

from .api import Api, Object, documents
from .keys import self_signed
from .nodes import apply_when_served
from .parts import Parts, listens, ports

#: The configuration that users get.
SCHEDULER = Path(__file__).resolve().parents[3] / "deploy" / "scheduler" / "volcano-scheduler.conf"
HOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def start(parts: Parts, programs: Path, api: Api) -> None:
    """Starts Volcano. Its queue `default` is open afterwards."""
    things = documents(programs / "manifests" / "volcano-development.yaml")
    for thing in things:
        if thing["kind"] == "CustomResourceDefinition":
            apply_when_served(parts, api, thing)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "volcano-system"}})
    _webhooks(parts, programs / "bin", api, [thing for thing in things if thing["kind"] in HOOKS])
    common = ["--kubeconfig", str(parts.state / "kubeconfig"), "--leader-elect=false", "--kube-api-qps=200"]
    common += ["--kube-api-burst=200"]
    parts.start("volcano-controllers", [str(programs / "bin" / "controller-manager"), *common])
    dumps = ["--cache-dumper=false", "--schedule-period=200ms"]
    command = [str(programs / "bin" / "scheduler"), *common, *dumps, "--scheduler-conf", str(SCHEDULER)]
    part = parts.start("volcano-scheduler", command)
    parts.wait(part, "the queue `default`", lambda: _is_open(api.get(_queue("default"))))
    # Volcano rejects jobs for a missing queue, and the tests' documents name this one.
    api.apply({**_queue("q"), "spec": {"weight": 1}})


def _queue(name: str) -> Object:
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}}


def _is_open(queue: Object | None) -> bool:
    return (queue or {}).get("status", {}).get("state") == "Open"


def _webhooks(parts: Parts, binaries: Path, api: Api, hooks: list[Object]) -> None:
    """Starts the webhook server first: the API server calls it when the scheduler writes queues."""
    (port,) = ports.reserve(1)
    folder = parts.state / "volcano-tls"
    folder.mkdir()
    certificate = self_signed(folder, "tls", "subjectAltName=IP:127.0.0.1")
    authority = base64.b64encode(certificate.read_bytes()).decode()
    paths = []
    for hook in hooks:
        for each in hook["webhooks"]:
            path = each["clientConfig"]["service"]["path"].strip()
            each["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": authority}
            paths.append(path)
        api.apply(hook)
    command = [str(binaries / "webhook-manager"), "--kubeconfig", str(parts.state / "kubeconfig")]
    command += [f"--tls-cert-file={certificate}", f"--tls-private-key-file={folder}/tls.key"]
    command += [f"--ca-cert-file={certificate}", "--listen-address=127.0.0.1", f"--port={port}"]
    command += ["--webhook-namespace=volcano-system", "--webhook-service-name=volcano-admission-service"]
    # It waits forever for the configuration of a path that has none.
    command += [f"--enabled-admission={','.join(paths)}"]
    part = parts.start("volcano-webhooks", command)
    parts.wait(part, "its port", lambda: listens(port))
