"""What one process of a JAX job does.

    main.py --script train.py ARGS...     joins the group, and runs the user's script, with `cubeloom` on its path
    main.py -- PROGRAM ARGS...            runs another program of theirs, which joins by itself

The platform says who this process is, as Kubeflow's JAXJob does: COORDINATOR_ADDRESS, COORDINATOR_PORT, NUM_PROCESSES,
PROCESS_ID.
"""

import os
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: How long the others may take to come, in seconds: on a cluster their images are pulled first.
PATIENCE = 600


def main(words):
    if words[:1] == ["--script"]:
        join()
    sys.argv = [str(HERE / "program.py"), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")


def join():
    """Forms the group: `jax.devices()` are those of all its processes then."""
    import jax

    host, port = os.environ["COORDINATOR_ADDRESS"], os.environ["COORDINATOR_PORT"]
    # JAX would listen at every address of the machine. On a cluster the name is a service's, which nobody can listen at.
    own = f"{host}:{port}" if host == os.environ["CUBELOOM_HOST"] else None
    jax.distributed.initialize(
        coordinator_address=f"{host}:{port}",
        num_processes=int(os.environ["NUM_PROCESSES"]),
        process_id=int(os.environ["PROCESS_ID"]),
        coordinator_bind_address=own,
        initialization_timeout=PATIENCE,
    )


main(sys.argv[1:])
