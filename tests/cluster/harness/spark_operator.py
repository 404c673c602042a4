"""The spark-operator and its webhook, with gang scheduling by Volcano.

It calls the spark-submit of SPARK_HOME, if set. Otherwise a small stand-in (`tests/cluster/spark`) creates
the driver's pod as spark-submit would; simulated drivers create no executors.
"""

import os
import sys
from pathlib import Path

from . import webhooks
from .api import Api, Object, documents
from .nodes import apply_when_served
from .parts import Parts, listens, ports

NAMESPACE, WEBHOOK = "spark-operator", "spark-operator-webhook"
FOLDER = Path(__file__).resolve().parent.parent


def start(parts: Parts, programs: Path, api: Api) -> None:
    """Starts the operator. Its webhook answers afterwards."""
    for file in sorted((programs / "manifests").glob("sparkoperator.k8s.io_*.yaml")):
        for thing in documents(file):
            apply_when_served(parts, api, thing)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    program = [str(programs / "bin" / "operator")]
    _start_webhook(parts, program, api, documents(programs / "manifests" / "manifests.yaml"))
    (port,) = ports.reserve(1)
    command = [*program, "controller", "start", *_common(parts, port)]
    command += ["--enable-batch-scheduler", "--enable-ui-service=false"]
    part = parts.start("spark-operator", command, _environment(parts, api))
    parts.wait(part, "its port", lambda: listens(port))


def _common(parts: Parts, port: int) -> list[str]:
    kubeconfig = f"--kubeconfig={parts.state}/kubeconfig"
    return [kubeconfig, "--namespaces=", f"--health-probe-bind-address=127.0.0.1:{port}"]


def _environment(parts: Parts, api: Api) -> dict[str, str]:
    """The settings of spark-submit: the API server's address and credentials."""
    temporary = parts.state / "spark-operator"
    temporary.mkdir()
    host, port = api.url.removeprefix("https://").split(":")
    told = {
        "CUBELOOM_TEST_PYTHON": sys.executable,
        "KUBECONFIG": str(parts.state / "kubeconfig"),
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port,
        "PYTHONPATH": str(FOLDER),
        "SPARK_HOME": os.environ.get("SPARK_HOME", str(FOLDER / "spark")),
        "TMPDIR": str(temporary),
    }
    return told | {name: os.environ[name] for name in ("JAVA_HOME",) if name in os.environ}


def _start_webhook(parts: Parts, program: list[str], api: Api, hooks: list[Object]) -> None:
    port, probe_port = ports.reserve(2)
    for hook in hooks:
        hook["metadata"]["name"] = WEBHOOK
        for each in hook["webhooks"]:
            if each["name"].startswith("mutate-pod"):  # as in upstream's installer
                each["objectSelector"] = {"matchLabels": {"sparkoperator.k8s.io/launched-by-spark-operator": "true"}}
    webhooks.serve(api, hooks, NAMESPACE, WEBHOOK, port)
    command = [*program, "webhook", "start", *_common(parts, probe_port), f"--webhook-port={port}"]
    command += [f"--webhook-cert-dir={parts.state}/spark-operator-tls", f"--webhook-secret-namespace={NAMESPACE}"]
    command += [f"--webhook-svc-name={WEBHOOK}", f"--webhook-svc-namespace={NAMESPACE}"]
    part = parts.start("spark-operator-webhook", command)
    parts.wait(part, "its certificate in the webhooks", lambda: all(_is_certified(api.get(hook)) for hook in hooks))
    parts.wait(part, "its port", lambda: listens(port))


def _is_certified(hook: Object | None) -> bool:
    return all(each["clientConfig"].get("caBundle") for each in (hook or {}).get("webhooks", [{"clientConfig": {}}]))
