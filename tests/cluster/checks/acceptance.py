"""Every object is taken by the API server, strictly and through every webhook, as a dry run."""

from collections.abc import Iterator
from pathlib import Path

from harness.api import Api, Object, Refused

from . import compiled
from .project import NAMESPACE

PIPELINES = [*sorted(Path("examples").glob("*/pipeline.yaml")), Path("tests/cluster/frameworks.yaml")]


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Each object's name, and what was said against it."""
    for file in PIPELINES:
        for task, objects in compiled.of_pipeline(file):
            yield from (_result(api, f"{file}: {task}", thing) for thing in objects)
    for name, objects in compiled.of_snapshots():
        yield from (_result(api, f"snapshot {name}", thing) for thing in objects)
    yield _unknown_field_is_refused(api)


def _result(api: Api, name: str, thing: Object) -> tuple[str, str]:
    name = f"{name}: {thing['kind']} {thing['metadata']['name']} is accepted"
    # A snapshot's namespace is that of its cluster; the name of the namespace changes nothing for the webhooks.
    thing["metadata"]["namespace"] = NAMESPACE
    try:
        api.apply(thing, dry_run=True)
    except Refused as refused:
        return name, str(refused)
    return name, ""


def _unknown_field_is_refused(api: Api) -> tuple[str, str]:
    """The check itself: were nothing refused, nothing above would mean anything."""
    name = "a job with a field that nobody knows is refused"
    _, (thing,) = next(compiled.of_pipeline(PIPELINES[-1]))
    thing["spec"]["nobodyKnows"] = 1
    try:
        api.apply(thing, dry_run=True)
    except Refused:
        return name, ""
    return name, "it was accepted"
