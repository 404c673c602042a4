"""Runs a task's program in this worker. The platform has told it the group in variables (`MASTER_ADDR`, `RANK`, `PET_*`);
this adds what a machine needs.

    main.py PROCESSES MAX_RESTARTS --script train.py ARGS...     a Python file, which torchrun starts
    main.py PROCESSES MAX_RESTARTS -- PROGRAM ARGS...            any other program; it replaces this process
"""

import os
import socket
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "program.py"


def main(processes, max_restarts, words):
    use_own_address()
    # With `processes_per_gpu` the platform starts the processes, and tells each its rank: torchrun has nothing to start.
    if words[:1] == ["--script"] and "LOCAL_RANK" not in os.environ:
        torchrun(processes, max_restarts, words)
    else:
        # For a torchrun that the program may start.
        os.environ.update(PET_NPROC_PER_NODE=processes, PET_MAX_RESTARTS=max_restarts)
        os.execv(sys.executable, [sys.executable, str(PROGRAM), *words])


def torchrun(processes, max_restarts, words):
    # Not above: another program may do without it, or bring its own.
    from torch.distributed import run

    logs = Path(os.environ.get("TMPDIR", "."), "torchrun")
    options = ["--nproc_per_node", processes, "--max_restarts", max_restarts]
    # Standard output goes through a file and is shown with the process's name; under Python 3.11 torchrun 1.13 knows
    # no other setting that works, not even its default. Standard error goes to the worker's log as it is.
    options += ["--log_dir", str(logs), "--redirects", "1", "--tee", "1"]
    run.main([*options, str(PROGRAM), *words])


def use_own_address():
    """Makes torchrun and Gloo use this worker's address instead of the machine's name, which workers may share."""
    host = os.environ.get("CUBELOOM_HOST")
    if host is None:
        return
    os.environ.setdefault("PET_LOCAL_ADDR", host)
    # torchrun before 2.0 does not know PET_LOCAL_ADDR and asks for this name only.
    socket.getfqdn = lambda *_: host
    if host.startswith("127."):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    if os.environ.get("PET_RDZV_BACKEND") == "c10d":
        first = os.environ["PET_RDZV_ENDPOINT"].rpartition(":")[0] == host
        # Every loopback address looks like its own to torchrun, so it is told who is the host. A group that has its
        # minimum waits a little for more.
        os.environ.setdefault("PET_RDZV_CONF", f"is_host={int(first)},last_call_timeout=5")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
