"""What one rank of a Horovod job does: it tells Horovod what Open MPI has told it, and runs the user's program.

    main.py ADDRESS:PORT PROCESSES --script train.py ARGS...     a Python file of the pipeline's folder
    main.py ADDRESS:PORT PROCESSES -- PROGRAM ARGS...            any other program

ADDRESS:PORT is where start.py lets ranks meet that talk by Gloo; PROCESSES is how many of them a worker has.
"""

import os
import runpy
import sys
from pathlib import Path

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import package

HERE = Path(__file__).resolve().parent


def main(meeting, processes, words):
    package.lead()
    if os.environ.get("HOROVOD_CONTROLLER") == "gloo":
        os.environ.update(identity(meeting, processes))
    sys.argv = [str(HERE / "program.py"), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")


def identity(meeting, processes):
    """What horovodrun would tell a rank. Workers are filled one after another."""
    rank, size = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
    address, _, port = meeting.rpartition(":")
    return {
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": address,
        "HOROVOD_GLOO_RENDEZVOUS_PORT": port,
        "HOROVOD_HOSTNAME": os.environ["CUBELOOM_HOST"],
        "HOROVOD_RANK": str(rank),
        "HOROVOD_SIZE": str(size),
        "HOROVOD_LOCAL_RANK": str(rank % processes),
        "HOROVOD_LOCAL_SIZE": str(processes),
        "HOROVOD_CROSS_RANK": str(rank // processes),
        "HOROVOD_CROSS_SIZE": str(size // processes),
    }


main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
