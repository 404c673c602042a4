"""The API server accepts every manifest and every pod of its templates, strictly and through every webhook.

An operator's kind does not validate its pods: an error would show only when the operator creates them.
Everything is a dry run.
"""

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object, Refused

from . import compiled
from .endings import pod_templates
from .project import NAMESPACE

FRAMEWORKS = Path("tests/cluster/frameworks.yaml")
PIPELINES = [*sorted(Path("examples").glob("*/pipeline.yaml")), FRAMEWORKS, Path("tests/cluster/options.yaml")]
CLUSTERS = [None, *sorted(Path("tests/cluster/facts").glob("*.yaml"))]


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Each manifest's name and rejection."""
    for file, facts in itertools.product(PIPELINES, CLUSTERS):
        cluster = facts.stem if facts else "full"
        for task, objects in compiled.of_pipeline(file, facts):
            for thing in objects:
                yield from _results(api, f"{file} ({cluster}): {task}", thing)
    for name, objects in compiled.of_snapshots():
        for thing in objects:
            yield from _results(api, f"snapshot {name}", thing)
    for file in _variety():
        case = json.loads(file.read_text())
        for thing in case["objects"]:
            yield from _results(api, f"{file.name} ({case['task']}; {case['facts']})", thing)
    yield _unknown_field_is_refused(api)


def _variety() -> list[Path]:
    """The manifests that the compiler's own randomized tests have written, if any."""
    folder = os.environ.get("CUBELOOM_TEST_OBJECTS")
    if folder is None:
        print("skipped: a variety of manifests: CUBELOOM_TEST_OBJECTS is not a folder", flush=True)
        return []
    files = sorted(Path(folder).glob("*.json"))
    if not files:
        raise SystemExit(f"{folder} has no manifests: the compiler's test `kubernetes::written` writes them")
    return files


def _results(api: Api, name: str, thing: Object) -> Iterator[tuple[str, str]]:
    yield _result(api, name, thing)
    for role, template in pod_templates(thing):
        meta = {**template["metadata"], "name": f"{thing['metadata']['name']}-pod"}
        # The index that frameworkcontroller would substitute.
        spec = json.loads(json.dumps(template["spec"]).replace("{{FC_TASK_INDEX}}", "0"))
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        yield _result(api, f"{name}, {role}", pod)


def _result(api: Api, name: str, thing: Object) -> tuple[str, str]:
    name = f"{name}: {thing['kind']} {thing['metadata']['name']} is accepted"
    # Facts and snapshots have their own namespaces; the webhooks treat all alike.
    thing["metadata"]["namespace"] = NAMESPACE
    try:
        api.apply(thing, dry_run=True)
    except Refused as refused:
        return name, str(refused)
    return name, ""


def _unknown_field_is_refused(api: Api) -> tuple[str, str]:
    """Checks the check itself: if nothing were refused, the results above would mean nothing."""
    name = "a job with an unknown field is rejected"
    _, (thing,) = next(compiled.of_pipeline(FRAMEWORKS))
    thing["metadata"]["namespace"] = NAMESPACE
    thing["spec"]["nobodyKnows"] = 1
    try:
        api.apply(thing, dry_run=True)
    except Refused as refused:
        return name, "" if "nobodyKnows" in str(refused) else str(refused)
    return name, "it was accepted"
