"""Jobs whose workers communicate, on a real node, each through its operator, which assigns their identities.
"""

from collections.abc import Iterator
from pathlib import Path

from harness.api import Api

from .real import Job, differs, jobs_of

RANKS = 3


def results(api: Api) -> Iterator[tuple[str, str]]:
    """The name and error of each check."""
    jobs = jobs_of(api, "crews") | jobs_of(api, "meeting")
    _write_rows(jobs["boost"].run)
    yield "the ranks of an MPIJob run in its workers, which reach each other", _done(jobs["mpi"], _ranks)
    yield "the workers of a Volcano Job reach each other by name", _done(jobs["ring"], _ring)
    yield "the workers of a PyTorchJob meet at its master", _done(jobs["meet"], _meeting)
    yield "the workers of an XGBoostJob train one model", _done(jobs["boost"], _model)
    # Its pods and logs are deleted with it, so the program itself checks where its tasks run, and fails on an
    # error.
    yield "the tasks of a RayJob run on several of its workers", _done(jobs["spread"], lambda _: "")
    yield "a RayJob fails as its program does, and says how", _failed(jobs["torn"], "AppFailed", "torn on purpose")


def _done(job: Job, check) -> str:
    """Runs the jobs one after the other: together they request more than two CPUs."""
    job.start()
    wrong = differs(job.end(), "Succeeded") or check(job)
    if wrong:
        wrong += f"; its workers said {job.logs()}"
    job.api.delete(job.thing)
    return wrong


def _failed(job: Job, reason: str, words: str) -> str:
    """Runs a job that is expected to fail."""
    job.start()
    wrong = differs(job.end(), "Failed")
    status = (job.api.get(job.thing) or {}).get("status") or {}
    if not wrong and (status.get("reason") != reason or words not in status.get("message", "")):
        wrong = f"it says {status}"
    job.api.delete(job.thing)
    return wrong


def _ranks(job: Job) -> str:
    (said,) = (log for name, log in job.logs().items() if name.startswith("launcher"))
    hosts = " ".join(f"{job.name}-worker-{index}" for index in range(2))
    return "" if f"sum 3 {hosts}" in said else "the sum, or the workers' names, are missing"


def _ring(job: Job) -> str:
    def said(index: int) -> str:
        previous, following = (index - 1) % RANKS, (index + 1) % RANKS
        return f"heard {previous} called {job.name}-worker-{following}.{job.name}\n"

    return differs(job.logs(), {f"worker-{index}": said(index) for index in range(RANKS)})


def _meeting(job: Job) -> str:
    # The sum includes every rank. When the master ends, remaining workers are deleted with their logs.
    return differs(job.logs().get("master-0"), f"rank 0 of {RANKS}: sum 3\n")


def _model(job: Job) -> str:
    return "" if (job.run / "model.json").exists() else "the model is missing"


def _write_rows(folder: Path) -> None:
    """The training data of the workers: one file each."""
    folder.mkdir(parents=True)
    for index in range(2):
        rows = "".join(f"{row},{row % 3},{2 * row + row % 3}\n" for row in range(index, 200, 2))
        (folder / f"rows-{index}.csv").write_text(f"a,b,y\n{rows}")
    for each in (folder.parent, folder):
        each.chmod(0o777)
