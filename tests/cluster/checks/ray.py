"""A job of real Ray runs on the workers of its cluster, on a real node."""

from collections.abc import Iterator

from harness.api import Api, Object, documents

from .real import FOLDER, Job, wait


def results(api: Api) -> Iterator[tuple[str, str]]:
    """Whether it does; else what its status and its submitter say."""
    (thing,) = documents(FOLDER / "ray.yaml")
    api.apply(thing)
    wait(lambda: _status(api, thing).get("jobDeploymentStatus") in ("Complete", "Failed"))
    submitters = Job(api, thing, f"batch.kubernetes.io/job-name={thing['metadata']['name']}").logs()
    done = any("ran on 2 workers" in log for log in submitters.values())
    seen = f"{_status(api, thing)}; its submitter said {submitters}"
    yield "the tasks of a RayJob run on both of its workers", "" if done else seen
    api.delete(thing)


def _status(api: Api, thing: Object) -> Object:
    return (api.get(thing) or {}).get("status") or {}
