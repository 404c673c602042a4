"""What a program needs to talk to Cubeloom: who it is, where its folders are, and what it has to report.

One file, standard library only, so that it can also be copied next to a program. Outside Cubeloom the reports are
printed as JSON lines, and the program runs alone (rank 0 of 1).

    import cubeloom
    cubeloom.metric("loss", 0.25, step=3)
    cubeloom.outputs(rows=1797, path=str(cubeloom.run_dir / "features"))
"""

import json
import os
import sys
from pathlib import Path


def _number(*names, default):
    """The first of these variables that is set, as an integer."""
    return next((int(os.environ[name]) for name in names if os.environ.get(name)), default)


#: This process among all that work together. Launchers inside the job (mpirun, torchrun) know better than the worker.
rank = _number("OMPI_COMM_WORLD_RANK", "RANK", "CUBELOOM_RANK", default=0)
#: How many processes work together.
world_size = _number("OMPI_COMM_WORLD_SIZE", "WORLD_SIZE", "CUBELOOM_WORLD_SIZE", default=1)
#: The position of this worker within its role, from 0.
index = _number("CUBELOOM_INDEX", default=0)
#: This run's folder, shared by all of its tasks.
run_dir = Path(os.environ.get("CUBELOOM_RUN_DIR", "."))
#: The project's folder, shared by all of its runs.
workspace = Path(os.environ.get("CUBELOOM_WORKSPACE", "."))
#: The same folder for every attempt of this task: load from it at the start, save to it now and then.
checkpoint_dir = Path(os.environ.get("CUBELOOM_CHECKPOINT_DIR", "."))


def outputs(**values):
    """Values that later tasks read as `{{ tasks.NAME.outputs.KEY }}`; anything that JSON can hold."""
    _report({"output": values})


def metric(name, value, step=None):
    """One point of a curve, or a single figure when there is no step."""
    _report({"metric": {"name": name, "value": float(value)} | ({} if step is None else {"step": int(step)})})


def progress(step, total):
    """How far this task has come: `step` of `total`."""
    _report({"progress": {"step": int(step), "total": int(total)}})


def checkpoint(step, path):
    """A checkpoint of this step lies, complete, at `path`."""
    _report({"checkpoint": {"step": int(step), "path": str(path)}})


def artifact(name, path):
    """A file for people to look at; `path` lies below the run's folder, or is relative to it."""
    path = Path(path)
    if path.is_absolute() and path.is_relative_to(run_dir):
        path = path.relative_to(run_dir)
    _report({"artifact": {"name": name, "path": str(path)}})


def _report(record):
    """Appends one line in one write, so that processes sharing the file do not mix theirs."""
    line = (json.dumps(record, ensure_ascii=False) + "\n").encode()
    target = os.environ.get("CUBELOOM_OUTPUTS")
    if target is None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    handle = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)
