"""All parts of a cluster, in their start order."""

import os
import signal
import subprocess
from pathlib import Path

from . import control_plane, frameworkcontroller, kuberay, mpi_operator, nodes, spark_operator, training_operator, volcano
from .api import Api
from .ending import Ended, Ending
from .parts import Parts

FOLDER = Path(__file__).resolve().parent.parent
ALWAYS = ("kubernetes", "kwok")
OPERATORS = ("volcano", "training-operator", "mpi-operator", "kuberay", "spark-operator")
OF_THE_NODE = ("kubelet", "containerd", "coredns")


def build(ending: Ending, with_operators: bool, with_node: bool) -> dict[str, Path]:
    """The folders of the programs, by wrapper module; the first build takes a quarter of an hour."""
    return {name: _built(name, ending) for name in ALWAYS + OPERATORS * with_operators + OF_THE_NODE * with_node}


def _built(name: str, ending: Ending) -> Path:
    command = [FOLDER / "build", name]
    # In its own session: the compilers that it starts end with it.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as child:
        try:
            while child.poll() is None:
                ending.pause(0.1)
        except Ended:
            os.killpg(child.pid, signal.SIGTERM)
            raise
        printed = child.stdout.read() if child.stdout else ""
    if child.returncode:
        raise SystemExit(f"cluster: {name} could not be built: the reason is above")
    return Path(printed.strip())


def start(parts: Parts, programs: dict[str, Path]) -> Api:
    """Starts all built parts. The cluster is ready afterwards."""
    api = control_plane.start(parts, programs["kubernetes"])
    nodes.start(parts, programs["kwok"], api, FOLDER / "nodes")
    if program := frameworkcontroller.program():
        frameworkcontroller.start(parts, program, api)
    if not programs.keys() & set(OPERATORS):
        return api
    volcano.start(parts, programs["volcano"], api)
    training_operator.start(parts, programs["training-operator"], api)
    mpi_operator.start(parts, programs["mpi-operator"], api)
    kuberay.start(parts, programs["kuberay"], api)
    spark_operator.start(parts, programs["spark-operator"], api)
    if not frameworkcontroller.program():
        frameworkcontroller.serve(parts, FOLDER / "kinds", api)
    return api
