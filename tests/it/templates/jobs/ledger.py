"""The ledger that ranks write for the tests to read."""

import json
import os
from pathlib import Path

#: Launchers inside the job (mpirun, torchrun) know the rank; the worker's variables may not.
RANK = next(int(os.environ[name]) for name in ("OMPI_COMM_WORLD_RANK", "RANK", "CUBELOOM_RANK") if name in os.environ)


def sign(**more):
    """Writes this rank's entry into the run's folder. Later calls add to it."""
    role, index = os.environ["CUBELOOM_ROLE"], int(os.environ["CUBELOOM_INDEX"])
    entry = {"rank": RANK, "pid": os.getpid(), "worker": f"{role}-{index}", "role": role, "index": index}
    entry |= {"host": os.environ["CUBELOOM_HOST"], "cgroup": open("/proc/self/cgroup").read().split()} | more
    write(f"ledger/{RANK}.json", json.dumps(entry))


def write(name, text):
    """Writes a file of the run's folder atomically."""
    path = Path(os.environ["CUBELOOM_RUN_DIR"], name)
    path.parent.mkdir(exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(text)
    aside.rename(path)
