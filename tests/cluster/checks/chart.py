"""The Helm chart: the API server accepts its manifests, and invalid values are refused before."""

from collections.abc import Iterator
from pathlib import Path

import yaml
from harness.api import Api, Object, Refused

from . import helm

NAMESPACE, STRICT = "cubeloom-chart", "cubeloom-strict"
#: Invalid values, and a word of the expected error.
NONSENSE = {
    "uid=0": "uid",
    "replicas=2": "replicas",
    "volumes[0].clam=data": "volumes",
    "ingress.enabled=true": "host",
    "data.size=big": "size",
    "image.pullPolicy=Sometimes": "pullPolicy",
    "settings.sever.url=x": "sever",
    "jobs.namespaces={Jobs}": "namespaces",
    "jobs.namespaces={jobs-a}": "workspace.volume",
    "image.repository=": "image.repository",
    "metrics.serviceMonitor.enabled=true": "metrics",
}


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The errors for each way to install it."""
    for name in (NAMESPACE, STRICT):
        api.apply(_namespace(name))
    for values in sorted(helm.VALUES.glob("*.yaml")):
        linted = _said(lambda: helm.call("lint", "--strict", helm.CHART, "--values", values))
        yield f"chart ({values.stem}): helm lint passes", linted
        things = helm.objects(NAMESPACE, values)
        for name in {thing["metadata"].get("namespace") for thing in things} - {None}:
            api.apply(_namespace(name))
        for thing in things:
            what = f"chart ({values.stem}): {thing['kind']} {thing['metadata']['name']} is accepted"
            yield what, _said(lambda: api.apply(thing, dry_run=True))
        yield f"chart ({values.stem}): the server's pod is fully confined", _is_confined(api, things)
    for setting, word in NONSENSE.items():
        yield f"chart: {setting} is refused", _refused(setting, word)
    yield "chart: Prometheus Operator gets the metrics' address and the alert rules; nothing is exposed outside", _watched()
    yield "chart: no cluster-wide permission unless a value requests it", _narrow()


def _namespace(name: str) -> Object:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"} if name == STRICT else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _said(step) -> str:
    try:
        step()
    except (helm.Refused, Refused) as refused:
        return str(refused)
    return ""


def _is_confined(api: Api, things: list[Object]) -> str:
    """Whether its pod is accepted under the strictest Pod Security Standard."""
    (server,) = (thing for thing in things if thing["kind"] == "StatefulSet")
    spec = server["spec"]["template"]["spec"] | {"serviceAccountName": "default"}
    spec["volumes"] = [*spec["volumes"], {"name": "data", "emptyDir": {}}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "server", "namespace": STRICT}, "spec": spec}
    (container,) = spec["containers"]
    writable = not container["securityContext"]["readOnlyRootFilesystem"]
    return "it may write to its root" if writable else _said(lambda: api.apply(pod, dry_run=True))


def _refused(setting: str, word: str) -> str:
    try:
        helm.objects(NAMESPACE, helm.VALUES / "sqlite.yaml", "--set", setting)
    except helm.Refused as refused:
        return "" if word in str(refused) else str(refused)
    return "it was accepted"


def _watched() -> str:
    """The test cluster lacks these kinds, so the chart's output is compared with its sources."""
    on = "metrics.enabled=true,metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true"
    objects = helm.objects(NAMESPACE, helm.VALUES / "sqlite.yaml", "--set", f"{on},service.type=LoadBalancer")
    things = {thing["kind"]: thing for thing in objects}
    wanted = things["ServiceMonitor"]["spec"]["selector"]["matchLabels"].items()
    services = [thing for thing in objects if thing["kind"] == "Service"]
    asked = {endpoint["port"] for endpoint in things["ServiceMonitor"]["spec"]["endpoints"]}
    found = [one["spec"] for one in services if wanted <= one["metadata"]["labels"].items()]
    ports = [{port["name"] for port in spec["ports"]} for spec in found]
    if ports != [asked]:
        return f"it scrapes {asked}, but the services that it selects have {ports}"
    outside = [one["spec"] for one in services if one["spec"]["type"] != "ClusterIP"]
    told = {port["name"] for spec in outside for port in spec["ports"]}
    if told != {"http"}:
        return f"exposed outside the cluster: {told}"
    rules = yaml.safe_load(Path(helm.CHART, "rules.yaml").read_text())
    return "" if things["PrometheusRule"]["spec"] == rules else "its rules differ from rules.yaml"


def _narrow() -> str:
    things = helm.objects(NAMESPACE, helm.VALUES / "sqlite.yaml", "--set", "rights.nodes=false,rights.pods=false,rights.cordon=false,rights.queues=false")
    wide = [thing["kind"] for thing in things if thing["kind"].startswith("Cluster")]
    return f"cluster-wide: {wide}" if wide else ""
