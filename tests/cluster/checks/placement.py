"""Placement of jobs on twenty simulated nodes of unequal size, with both schedulers that `deploy/scheduler`
configures."""

from collections.abc import Iterator
from pathlib import Path

from harness import nodes
from harness.api import Api, Object, documents

from . import compiled, pods
from .project import NAMESPACE

FOLDER = Path("tests/cluster/placement")
#: The facts of a cluster select the scheduler.
SCHEDULERS = {
    "kube-scheduler": Path("tests/cluster/facts/plain.yaml"),
    "Volcano": Path("tests/cluster/facts/volcano.yaml"),
}
#: Existing usage on every node of a group. On the large nodes it is more, but a smaller share.
HELD = {"small": {"cpu": "2", "memory": "8Gi"}, "large": {"cpu": "8", "memory": "32Gi"}}
NODES, CARD_NODES = 20, 6


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The checks of each scheduler."""
    groups = documents(FOLDER / "nodes.yaml")
    made = [node for group in groups for node in nodes.of_group(group)]
    held = [_holder(node) for node in made if _group(node) in HELD]
    for thing in (*made, *held):
        api.apply(thing)
    if not pods.wait(lambda: all(nodes.is_ready(api.get(node)) for node in made)):
        raise SystemExit("the nodes of `placement` do not become ready")
    for name, facts in SCHEDULERS.items():
        yield f"{name}: {NODES} tasks of a run are placed on {NODES} nodes", _apart(api, facts)
        yield f"{name}: a task with anti-affinity stays pending if every node has one, with the reason", _alone(api, facts)
        yield f"{name}: a gang of eight GPUs is placed on two nodes with four each", _packed(api, facts)
        yield f"{name}: of one job, workers with GPUs are packed, parameter servers are spread", _by_role(api, facts)
        yield f"{name}: the workers of a task with anti-affinity share a node", _together(api, "gangs", facts, 4)
        yield f"{name}: tasks with anti-affinity by zone are in different zones, each with all workers", _together(api, "zones", facts, 2)
        yield f"{name}: workers are placed where the lowest share is requested, not the lowest amount", _share(api, facts)
    for thing in held:
        api.delete(thing)
    # A pod must not outlive its node: no kubelet would terminate it.
    pods.wait(lambda: not any(map(api.get, held)))
    for thing in made:
        api.delete(thing)


def _group(node: Object) -> str:
    return node["metadata"]["name"].rsplit("-", 1)[0]


def _holder(node: Object) -> Object:
    """Another user's pod on a node."""
    name, amounts = node["metadata"]["name"], HELD[_group(node)]
    container = {"name": "main", "image": "none", "resources": {"requests": amounts, "limits": amounts}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"held-{name}", "namespace": NAMESPACE},
        "spec": {"nodeName": name, "containers": [container]},
    }


class _Run:
    """The jobs of a pipeline, from their creation until their removal."""

    def __init__(self, api: Api, name: str, facts: Path | None) -> None:
        self.api, self.file, self.facts = api, FOLDER / f"{name}.yaml", facts
        self.things = [thing for _, objects in compiled.of_pipeline(self.file, facts) for thing in objects]

    def __enter__(self) -> "_Run":
        for thing in self.things:
            self.api.apply(thing)
        return self

    def __exit__(self, *_: object) -> None:
        pods.remove(self.api, self.things)

    def places(self, count: int) -> list[str]:
        """The nodes of its pods, once this many are scheduled."""
        pods.wait(lambda: len(self._placed()) >= count)
        return sorted(self._placed())

    def _placed(self) -> list[str]:
        return [place for pod in self.pods() if (place := pods.place(pod))]

    def by_label(self, label: str) -> dict[str, list[str]]:
        """The nodes of the scheduled pods, by one of their labels."""
        found: dict[str, list[str]] = {}
        for pod in self.pods():
            if place := pods.place(pod):
                found.setdefault(pod["metadata"]["labels"][label], []).append(place)
        return found

    def pods(self) -> list[Object]:
        return pods.of_jobs(self.api, self.things)


def _apart(api: Api, facts: Path) -> str:
    with _Run(api, "apart", facts) as run:
        places = run.places(NODES)
        return "" if len(set(places)) == NODES == len(places) else str(places)


def _alone(api: Api, facts: Path) -> str:
    with _Run(api, "alone", facts) as run:
        places = run.places(CARD_NODES)
        if len(set(places)) != CARD_NODES:
            return str(places)
        said: list[str] = []
        pods.wait(lambda: any("anti-affinity" in each for each in _noted(run, said)))
        if len(run.places(CARD_NODES)) != CARD_NODES or not any("anti-affinity" in each for each in said):
            return f"{run.places(CARD_NODES)}: {said}"
        silent = [task for task, words in compiled.words(run.file, facts).items() if not _announced(words)]
        return f"compile does not report it for {silent}" if silent else ""


def _noted(run: _Run, said: list[str]) -> list[str]:
    said[:] = [reason for pod in run.pods() if (reason := pods.why_not(pod))]
    return said


def _announced(words: list[str]) -> bool:
    return any("shares no host with another job of its run" in each for each in words)


def _packed(api: Api, facts: Path) -> str:
    with _Run(api, "cards", facts) as run:
        places = run.places(8)
        return "" if len(places) == 8 and len(set(places)) == 2 else str(places)


def _by_role(api: Api, facts: Path) -> str:
    # With Volcano, the operator puts the pods in one PodGroup.
    with _Run(api, "roles", None if facts is SCHEDULERS["Volcano"] else facts) as run:
        run.places(12)
        places = run.by_label("cubeloom/role")
        counts = {role: (len(all_of), len(set(all_of))) for role, all_of in places.items()}
        return "" if counts == {"worker": (8, 2), "ps": (4, 4)} else str(places)


def _together(api: Api, name: str, facts: Path, workers: int) -> str:
    """Three tasks on one node each; their nodes, or their zones, differ."""
    with _Run(api, name, facts) as run:
        run.places(3 * workers)
        places = run.by_label("cubeloom/task")
        whole = all(len(all_of) == workers and len(set(all_of)) == 1 for all_of in places.values())
        # A node group is a zone.
        apart = {all_of[0] if name == "gangs" else all_of[0].rsplit("-", 1)[0] for all_of in places.values()}
        return "" if whole and len(apart) == len(places) == 3 else str(places)


def _share(api: Api, facts: Path) -> str:
    with _Run(api, "share", facts) as run:
        places = run.places(6)
        return "" if places == [f"large-{index}" for index in range(6)] else str(places)
