"""Runs torchrun in this worker. The platform has told it the group in PET_* variables; this adds what a machine needs.

    main.py --processes N --max-restarts N SCRIPT ARGS...
"""

import argparse
import os
import socket
import sys
from pathlib import Path

from torch.distributed import run

PROGRAM = Path(__file__).resolve().parent / "program.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", required=True)
    parser.add_argument("--max-restarts", required=True)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    use_own_address()
    logs = Path(os.environ.get("TMPDIR", "."), "torchrun")
    torchrun = ["--nproc_per_node", options.processes, "--max_restarts", options.max_restarts]
    # Standard output goes through a file and is shown with the process's name; under Python 3.11 torchrun 1.13 knows
    # no other setting that works, not even its default. Standard error goes to the worker's log as it is.
    torchrun += ["--log_dir", str(logs), "--redirects", "1", "--tee", "1"]
    run.main([*torchrun, str(PROGRAM), "--script", *options.program])


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
    sys.exit(main())
