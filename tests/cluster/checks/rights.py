"""The chart's service accounts: the server's may do what the server does, the workers' may do nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object

from . import helm, pods
from .product import local

SURVEY = Path("server/executor-kubernetes/src/survey.rs")
NAMESPACE, JOBS = "cubeloom-rights", "cubeloom-rights-jobs"
# No file of this volume is read: the server runs outside the cluster, and its jobs on simulated nodes.
VALUES = ("--set", f"jobs.namespaces={{{JOBS}}}", "--set", "workspace.volume.hostPath.path=/nowhere")
ELSEWHERE = ("default", "kube-system", NAMESPACE)
TASKS = """\
apiVersion: cubeloom/v1
kind: Pipeline
name: rights
cluster: here
tasks:
  - {name: one, template: command, arguments: {command: ["true"]}}
  - {name: crowd, template: indexed, arguments: {command: ["true"], workers: 2}}
  - {name: ranks, template: mpi, arguments: {command: ["true"], workers: 2}}
"""

Right = tuple[str, str, str]  # group, resource, verb


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The checks of each account."""
    things = _install(api)
    wanted, wide = _wanted(things)
    server, worker = _Account(api, NAMESPACE, "cubeloom"), _Account(api, JOBS, "cubeloom-worker")
    anybody = _Account(api, JOBS, "nobody")
    pods.wait(lambda: server.rights(JOBS) - anybody.rights(JOBS) >= wanted)
    own = server.rights(JOBS) - anybody.rights(JOBS)
    yield "in the namespaces of its jobs, the server's account has exactly the permissions that it uses", _compared(own, wanted | wide)
    for place in ELSEWHERE:
        own = server.rights(place) - anybody.rights(place)
        told = {("", "events", "list")} if place == "default" else set()
        yield f"in the namespace {place} it may only read nodes and pods, cordon nodes, and manage queues", _compared(own, wide | told)
    for place in (JOBS, *ELSEWHERE):
        own = worker.rights(place) - anybody.rights(place)
        yield f"the workers' account may do nothing in the namespace {place}", _compared(own, set())
    yield from _served(api, server)
    for thing in things:
        api.delete(thing)


def _install(api: Api) -> list[Object]:
    """Installs the chart without the server itself, and an account without permissions."""
    for name in (NAMESPACE, JOBS):
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    made = helm.objects(NAMESPACE, helm.VALUES / "sqlite.yaml", *VALUES)
    things = [thing for thing in made if thing["kind"] != "StatefulSet"]
    nobody = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "nobody", "namespace": JOBS}}
    things.append(nobody)
    for thing in things:
        api.apply(thing)
    return things


def _wanted(things: list[Object]) -> tuple[set[Right], set[Right]]:
    """The permissions that the server's own check needs: in a namespace, and cluster-wide.

    For operators' kinds it needs the same as for `batch/v1` Jobs; the chart's values list the kinds.
    """
    text = SURVEY.read_text()
    (on_jobs,) = re.findall(r"const ON_JOBS: .*? = (&\[.*?\]);\n", text)
    text = text.replace("ON_JOBS)", f"{on_jobs})")
    rights = _listed(text, "RIGHTS") | _listed(text, "RESIZING") | _listed(text, "LOOKING") | _listed(text, "WITH_VOLCANO")
    lists = ("OF_THE_CLUSTER", "MEASURED", "OF_OTHERS", "CORDONING", "QUEUES_OF_THE_CLUSTER")
    wide = {right for name in lists for right in _listed(text, name)}
    verbs = [verb for group, resource, verb in rights if (group, resource) == ("batch", "jobs")]
    (role,) = (thing for thing in things if thing["kind"] == "Role" and thing["metadata"]["namespace"] == JOBS)
    given = [(rule["apiGroups"][0], each) for rule in role["rules"] for each in rule["resources"]]
    others = {(group, resource) for group, resource, _ in rights}
    return rights | {(*kind, verb) for kind in given if kind[0] and kind not in others for verb in verbs}, wide


def _listed(text: str, name: str) -> set[Right]:
    (rows,) = re.findall(rf"const {name}: .*? = \[(.*?)\];\n", text, re.DOTALL)
    found = re.findall(r'\("([\w.]*)", "([\w/]+)", &\[(.*?)\]\)', rows)
    return {(group, what, verb) for group, what, verbs in found for verb in re.findall(r'"(\w+)"', verbs)}


class _Account:
    """A service account, whose permissions the API server reviews."""

    def __init__(self, api: Api, namespace: str, name: str) -> None:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        self.api = api.with_token(api.request("POST", path, asked)["status"]["token"])

    def rights(self, namespace: str) -> set[Right]:
        """Its permissions there, as listed by the API server."""
        version = "authorization.k8s.io/v1"
        asked = {"apiVersion": version, "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace}}
        status = self.api.request("POST", f"/apis/{version}/selfsubjectrulesreviews", asked)["status"]
        return {
            (group, resource, verb)
            for rule in status["resourceRules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }


def _compared(own: set[Right], wanted: set[Right]) -> str:
    lacking, more = sorted(wanted - own), sorted(own - wanted)
    return f"it lacks {lacking}, and may also do {more}" if lacking or more else ""


def _served(api: Api, account: _Account) -> Iterator[tuple[str, str]]:
    """A server with exactly these permissions submits jobs of several kinds, and stops them."""
    with local() as product:
        cluster = {"name": "here", "access": "kubeconfig", "kubeconfig": account.api.kubeconfig(), "namespace": JOBS}
        product.add(cluster | {"operators_gang": True})
        problems = [each for each in product.get("/clusters/here/check")["problems"] if "may not" in each]
        yield "the server's own check finds no missing permission", "; ".join(problems)
        run = product.start(TASKS)
        began = pods.wait(lambda: set(product.states(run)) == {"running"})
        seen = "" if began else str(product.get(f"/runs/{run}/tasks"))
        yield "with these permissions it submits jobs of three kinds", seen
        product.post(f"/runs/{run}/cancel", {})
        ended = pods.wait(lambda: product.get(f"/runs/{run}")["state"] == "cancelled")
        left = [each for each in ("pods", "secrets") if _left(api, each)]
        seen = "" if ended and not left else f"{left} of {product.states(run)}"
        yield "and stops them; no pod and no Secret is left", seen


def _left(api: Api, what: str) -> list[Object]:
    label = "app.kubernetes.io%2Fmanaged-by%3Dcubeloom"
    return api.request("GET", f"/api/v1/namespaces/{JOBS}/{what}?labelSelector={label}")["items"]
