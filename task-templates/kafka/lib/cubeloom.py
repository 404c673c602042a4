"""What a program needs to talk to Cubeloom: who it is, where its folders are, and what it has to report.

One file, standard library only, so that it can also be copied next to a program. Outside Cubeloom the reports are
printed as JSON lines, and the program runs alone (rank 0 of 1).

    import cubeloom
    cubeloom.metric("loss", 0.25, step=3)
    cubeloom.outputs(rows=1797, path=str(cubeloom.run_dir / "features"))
"""

import faulthandler
import hashlib
import json
import math
import os
import re
import shutil
import sys
import time
from contextlib import contextmanager
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


#: What a server asks with what this process is at; Linux itself never sends it.
_ASKED = 16


def _answer():
    """The frames of all threads go to the log when the server asks for them, whatever they wait for."""
    if "CUBELOOM_OUTPUTS" in os.environ and sys.platform == "linux":
        faulthandler.register(_ASKED, file=2, all_threads=True, chain=False)
        _say_that_it_answers()
        os.register_at_fork(after_in_child=_say_that_it_answers)


def _say_that_it_answers():
    """Without this the server asks nobody: other programs would die of it, such as those written in Go.

    It is said by a lock on the byte that has this process's number. The kernel tells the server whose it is, and takes it
    back when the process ends or becomes another program. Closing the file would take it back as well.
    """
    import fcntl

    path = Path(os.environ.get("CUBELOOM_OUTPUTS", "")).parent / "work" / ".cubeloom-answers"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, os.getpid())
    except OSError:
        # Where there is no such folder, nobody asks.
        pass


_answer()


def outputs(**values):
    """Values that later tasks read as `{{ tasks.NAME.outputs.KEY }}`; anything that JSON can hold."""
    _report({"output": values})


def metric(name, value, step=None):
    """One point of a curve, or a single figure when there is no step."""
    _report({"metric": {"name": name, "value": float(value)} | ({} if step is None else {"step": int(step)})})


def progress(step, total):
    """How far this task has come: `step` of `total`."""
    _report({"progress": {"step": int(step), "total": int(total), "at": time.time()}})


def checkpoint(step, path, seconds=None):
    """A checkpoint of this step lies, complete, at `path`; writing it took so many seconds."""
    took = {} if seconds is None else {"seconds": float(seconds)}
    _report({"checkpoint": {"step": int(step), "path": str(path)} | took})


@contextmanager
def saving(step, path):
    """Around what writes a checkpoint of this step to `path`: it is told of, with how long that took, once it is complete.

    with cubeloom.saving(step, path):
        torch.save(model.state_dict(), path)
    """
    began = time.monotonic()
    yield
    checkpoint(step, path, time.monotonic() - began)


@contextmanager
def restoring():
    """Around what takes up an earlier checkpoint: how long that took is told."""
    began = time.monotonic()
    yield
    _report({"restored": {"seconds": time.monotonic() - began}})


def artifact(name, path):
    """A file for people to look at; `path` lies below the run's folder, or is relative to it."""
    path = Path(path)
    if path.is_absolute() and path.is_relative_to(run_dir):
        path = path.relative_to(run_dir)
    _report({"artifact": {"name": name, "path": str(path)}})


#: What a model is written in, by the ending of its file.
MODEL_FORMATS = {
    ".onnx": "onnx",
    ".pt": "pytorch",
    ".pth": "pytorch",
    ".ts": "torchscript",
    ".torchscript": "torchscript",
    ".pb": "tensorflow",
    ".keras": "tensorflow",
    ".h5": "tensorflow",
    ".tflite": "tensorflow",
    ".json": "xgboost",
    ".ubj": "xgboost",
    ".lgb": "lightgbm",
    ".skops": "sklearn",
    ".joblib": "sklearn",
    ".pkl": "sklearn",
    ".pickle": "sklearn",
}


def model(name, path, format=None, metrics=None, parameters=None, data=None, description=None, alias=None):
    """Registers the file or folder at `path` as the next version of the model `name`, once this task has succeeded.

    A copy is kept in the project's folder, whatever becomes of the run's; its folder is returned, relative to the
    project's. Rank 0 alone should call this; of several calls with one name the last counts. `path` is relative to the
    run's folder, or to where the program is. `data` is a list of what the model was trained on: paths, URLs, digests.
    """
    source = Path(os.path.abspath(run_dir / path))
    if not source.exists() and os.path.exists(path):
        source = Path(os.path.abspath(path))
    if not re.fullmatch("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name):
        raise ValueError(f"{name!r} cannot be a model's name: letters a to z, digits and -, at most 63")
    metrics = {key: float(value) for key, value in (metrics or {}).items()}
    for key, value in metrics.items():
        if not math.isfinite(value):
            raise ValueError(f"the metric {key!r} of the model is {value}, which is no number")
    place = [("RUN", "run"), ("TASK", "task"), ("INSTANCE", "0"), ("ATTEMPT", "1")]
    key = ".".join(os.environ.get(f"CUBELOOM_{variable}", alone) for variable, alone in place)
    folder = Path("models", name, key)
    optional = {"metrics": metrics, "parameters": parameters, "data": data, "description": description, "alias": alias}
    found = {"name": name, "path": folder.as_posix(), "format": format or model_format(source)}
    found |= {key: value for key, value in optional.items() if value}
    _check_model(found)
    found["digest"], found["size"] = _keep(source, workspace / folder)
    _report({"model": found})
    return folder.as_posix()


def _check_model(found):
    """Whether the registry takes this: it is said before anything is copied, not when the task has succeeded."""
    name = found["name"]
    if not isinstance(found.get("data", []), list):
        raise ValueError(f"`data` of the model {name!r} is a list of texts")
    for key in ("metrics", "parameters", "data"):
        if len(found.get(key, ())) > 200:
            raise ValueError(f"`{key}` of the model {name!r} has more than 200 entries")
    try:
        text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"the parameters of the model {name!r} hold a number that is none: {error}") from error
    texts = [found.get("description", ""), *map(str, found.get("data", []))]
    if len(text.encode()) > 60_000 or any(len(one.encode()) > 4096 for one in texts):
        raise ValueError(f"what is said of the model {name!r} is too long: 4096 bytes a text, 60,000 in all")


def model_format(path):
    """What the model at `path` is written in, by its ending; of a folder, by the only file that says it."""
    path = Path(path)
    if path.is_dir():
        if (path / "saved_model.pb").is_file():
            return "tensorflow"
        said = {MODEL_FORMATS[file.suffix] for file in path.iterdir() if file.suffix in MODEL_FORMATS}
        # A configuration often lies beside a model.
        said = said - {"xgboost"} or said
        return said.pop() if len(said) == 1 else "other"
    return MODEL_FORMATS.get(path.suffix.lower(), "other")


def model_digest(path):
    """The digest and the size of the model at `path`.

    A file has the digest of its content. A folder has that of the lines `DIGEST  PATH` of its files, sorted by path, as
    `sha256sum` prints them, so that both can be checked without this module.
    """
    return _digest(Path(path), None)


def _keep(source, target):
    """Copies a model to a folder, under its own name; whole or not at all. Its digest and size."""
    if not source.exists():
        raise FileNotFoundError(f"there is no model at {source}")
    aside = target.with_name(f".{target.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        found = _digest(source, aside / source.name)
        # There when this program was started before, in the same attempt.
        shutil.rmtree(target, ignore_errors=True)
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return found


def _digest(source, copy):
    """As `model_digest`, and copies what it reads, so that the digest is the copy's whoever writes meanwhile."""
    if not source.is_dir():
        digest, size = _digest_file(source, copy)
        return f"sha256:{digest}", size
    files = []
    for folder, below, names in os.walk(source):
        files += [Path(folder, name) for name in names]
        if linked := [name for name in below if Path(folder, name).is_symlink()]:
            # It may lead back here, without an end.
            raise ValueError(f"{Path(folder, linked[0])} is a link to a folder; a model is kept with folders of its own")
    total, size = hashlib.sha256(), 0
    for relative in sorted(file.relative_to(source).as_posix() for file in files):
        digest, length = _digest_file(source / relative, copy and copy / relative)
        total.update(f"{digest}  {relative}\n".encode())
        size += length
    if not files:
        raise FileNotFoundError(f"there is no model at {source}: the folder is empty")
    return f"sha256:{total.hexdigest()}", size


def _digest_file(source, copy):
    digest, size = hashlib.sha256(), 0
    if copy:
        copy.parent.mkdir(parents=True, exist_ok=True)
    with open(source, "rb") as read, open(copy or os.devnull, "wb") as write:
        while block := read.read(1 << 20):
            digest.update(block)
            write.write(block)
            size += len(block)
        if copy:
            # A version that is registered must outlive the machine's power.
            write.flush()
            os.fsync(write.fileno())
    return digest.hexdigest(), size


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
