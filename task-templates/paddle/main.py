"""Runs a task's program in this worker of a PaddlePaddle job. The platform says where the others are, as Kubeflow's
PaddleJob does: PADDLE_JOB_ID, PADDLE_MASTER, PADDLE_NNODES.

    main.py PROCESSES --script train.py ARGS...     a Python file, which paddle.distributed.launch starts
    main.py PROCESSES -- PROGRAM ARGS...            any other program; it replaces this process
"""

import os
import runpy
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "program.py"


def main(processes, words):
    if words[:1] == ["--script"]:
        launch(processes, words)
    else:
        sys.argv = [str(PROGRAM), *words]
        runpy.run_path(sys.argv[0], run_name="__main__")


def launch(processes, words):
    # Not above: another program may do without it, or bring its own.
    import paddle
    from paddle.distributed.launch.main import launch

    if not (paddle.is_compiled_with_cuda() or paddle.is_compiled_with_xpu()):
        # The launcher forgets it when it is told how many processes there are.
        os.environ.setdefault("PADDLE_DISTRI_BACKEND", "gloo")
    if os.environ["CUBELOOM_RANK"] == "0":
        # The launcher is the master only where the address is its own in figures, as Kubeflow's operator has it.
        port = os.environ["PADDLE_MASTER"].rpartition(":")[2]
        os.environ["PADDLE_MASTER"] = f"{os.environ['CUBELOOM_HOST']}:{port}"
    logs = str(Path(os.environ.get("TMPDIR", "."), "paddle"))
    # Else ranks are given in the order in which workers come.
    options = ["--rank", os.environ["CUBELOOM_RANK"], "--nproc_per_node", processes, "--log_dir", logs]
    sys.argv = ["launch", *options, str(PROGRAM), *words]
    launch()


main(sys.argv[1], sys.argv[2:])
