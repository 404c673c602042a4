"""How programs end on a real node according to the API server, and why they fail to start."""

import json
import time
from collections.abc import Iterator

from harness.api import Api

from .endings import pod_templates
from .real import Job, differs, jobs_of, wait

NO_IMAGE = "127.0.0.1:1/none:1"  # no registry listens there
CONFINED = """\
Uid 10000 10000 10000 10000
Gid 10000 10000 10000 10000
Seccomp 2
NoNewPrivs 1
CapEff 0000000000000000
CapBnd 0000000000000000
/ Read-only file system
/opt Read-only file system
/cubeloom/code Read-only file system
/cubeloom/work written
/tmp written
/cubeloom/workspace written
/cubeloom/work written
"""


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The checks of each program."""
    jobs = jobs_of(api, "programs")
    for _, template in pod_templates(jobs["image"].thing):
        template["spec"]["containers"][0]["image"] = NO_IMAGE
    for job in jobs.values():
        job.start()
    yield "a job's log is read through the API server", _speaks(jobs["speak"])
    yield "a worker's reports are in the workspace, and belong to it", _reports(jobs["speak"])
    yield "a worker has no rights, and writes to its own folders only", _is_confined(jobs["confined"])
    yield "the image has the program, and the packages of the examples", _brings(jobs["bring"])
    yield "an exit code is reported, with the last lines", _ended(jobs["fail"], "Error", 7, "the reason\n")
    yield "a worker that uses too much memory is OOMKilled", _ended(jobs["hog"], "OOMKilled", 137)
    yield "a worker that crashes has the signal in its exit code", _ended(jobs["crash"], "Error", 139)
    yield "a failing setup command is reported as such, and the worker is not started", _setup_failed(jobs["setup"])
    yield "an image that cannot be pulled is reported with the reason", _no_image(jobs["image"])
    yield "a worker can clean up after the signal to stop", _ends_gently(jobs["gentle"])
    yield "a worker that ignores the signal to stop is killed", _is_killed(jobs["stubborn"])
    for job in jobs.values():
        if api.get(job.thing):
            api.delete(job.thing)


def _speaks(job: Job) -> str:
    end = job.end()
    log = job.log(job.pods()[0])
    return differs((end, log), ("Succeeded", "the first line\ndie letzte Zeile: äöü 中文\n"))


def _reports(job: Job) -> str:
    file = job.reports / "outputs.jsonl"
    reported = json.loads(file.read_text()) if file.exists() else f"{file} is missing"
    return differs(reported, {"output": {"answer": 42}}) or differs(file.stat().st_uid, 10000)


def _is_confined(job: Job) -> str:
    job.end()
    return differs(job.log(job.pods()[0]), CONFINED)


def _brings(job: Job) -> str:
    end = job.end()
    files = sorted(file.name for file in (job.run / "data").glob("*.csv"))
    return differs((end, files), ("Succeeded", ["monday.csv", "tuesday.csv"])) and f"{end}, {files}: {job.logs()}"


def _ended(job: Job, reason: str, code: int, message: str | None = None) -> str:
    end = job.end()
    seen = job.state().get("terminated", {})
    wanted = ("Failed", reason, code)
    told = differs((end, seen.get("reason"), seen.get("exitCode")), wanted)
    return told or ("" if message is None else differs(seen.get("message"), message))


def _setup_failed(job: Job) -> str:
    end = job.end()
    setup = job.state("initContainerStatuses").get("terminated", {})
    main = job.state().get("waiting", {}).get("reason")
    return differs((end, setup.get("exitCode"), main), ("Failed", 3, "PodInitializing"))


def _no_image(job: Job) -> str:
    reasons = ("ErrImagePull", "ImagePullBackOff")
    wait(lambda: job.state().get("waiting", {}).get("reason") in reasons)
    told = job.state().get("waiting", {})
    return "" if told.get("reason") in reasons and NO_IMAGE in told["message"] else f"it is {told}"


def _ends_gently(job: Job) -> str:
    report = job.reports / "report"
    wait(lambda: report.exists() and report.read_text() == "running")
    return _cancel(job) or differs(report.read_text(), "told to end")


def _is_killed(job: Job) -> str:
    report = job.reports / "report"
    wait(lambda: report.exists() and "running" in report.read_text())
    if wrong := _cancel(job):
        return wrong
    last = report.read_text()
    time.sleep(2)  # it writes five times a second
    return differs(report.read_text(), last) or ("" if "told to end" in last else f"it got no signal: {last}")


def _cancel(job: Job) -> str:
    """Deletes the job, and waits until all of its pods are gone."""
    if not job.pods():
        return "it never had a pod"
    job.api.delete(job.thing)
    return "" if wait(lambda: not job.pods()) else f"its pods remain: {[pod['status'] for pod in job.pods()]}"
