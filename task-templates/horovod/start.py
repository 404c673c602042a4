"""The launcher: lets the ranks meet, and then starts them as the mpi template does.

    start.py PROCESSES --script train.py ARGS...
    start.py PROCESSES -- PROGRAM ARGS...
"""

import os
import runpy
import socket
import subprocess
import sys
from pathlib import Path

# launcher.py, which this becomes, is that of the mpi template.
HERE = Path(__file__).resolve().parent


def main(processes, words):
    meeting = meet() if os.environ.get("HOROVOD_CONTROLLER") == "gloo" else "-"
    rank = [sys.executable, str(HERE / "main.py"), meeting, processes, *words]
    sys.argv = [str(HERE / "launcher.py"), processes, "--", *rank]
    runpy.run_path(sys.argv[0], run_name="__main__")


def meet():
    """Starts meet.py; where it listens."""
    own = os.environ["CUBELOOM_HOST"]
    # On a cluster the name may be a service's, which nobody can listen at.
    own = own if own.startswith("127.") else socket.gethostbyname(socket.gethostname())
    store = subprocess.Popen([sys.executable, str(HERE / "meet.py"), own], stdout=subprocess.PIPE, text=True)
    port = store.stdout.readline().strip()
    if not port:
        sys.exit(f"Horovod's store did not start at {own}: see above")
    return f"{own}:{port}"


main(sys.argv[1], sys.argv[2:])
