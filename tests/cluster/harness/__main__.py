"""Brings a cluster up, says where its kubeconfig is, and takes everything away again, whatever ends it."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import cluster
from .ending import Ended, Ending
from .parts import PartFailed, Parts


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/cluster/up", description=__doc__)
    parser.add_argument("--state", type=Path, help="the folder of the cluster's files (must not be there yet)")
    parser.add_argument("command", nargs="*", help="what to run, with KUBECONFIG set; without it, until Ctrl-C")
    return parser.parse_args()


def make_folder(wanted: Path | None) -> Path:
    """The state's folder. It holds keys of the cluster, so it is this user's only."""
    if wanted is None:
        return Path(tempfile.mkdtemp(prefix="cubeloom-cluster-"))
    if wanted.exists():
        if [entry.name for entry in wanted.iterdir()] != ["logs"]:
            sys.exit(f"{wanted} is there already: end its cluster (make cluster-down), or delete the folder")
        shutil.rmtree(wanted)  # what a start that failed has left
    wanted.mkdir(mode=0o700, parents=True)
    return wanted.resolve()


def run(parts: Parts, command: list[str]) -> int:
    """Runs the command, or waits for a signal; a part that ends by itself ends both."""
    environment = {**os.environ, "KUBECONFIG": str(parts.state / "kubeconfig")}
    child = subprocess.Popen(command, env=environment) if command else None
    try:
        while child is None or child.poll() is None:
            parts.check()
            parts.ending.pause(0.2)
        return child.returncode
    finally:
        if child and child.poll() is None:
            child.terminate()
            child.wait()


def bring_up(ending: Ending, wanted: argparse.Namespace) -> int:
    """The whole life of a cluster; the exit code is the command's."""
    programs = cluster.build(ending)
    state = make_folder(wanted.state)
    (state / "pid").write_text(str(os.getpid()))
    parts, keep_logs = Parts(state, ending), True
    try:
        cluster.start(parts, programs)
        print(f"kubeconfig: {state}/kubeconfig", flush=True)
        code = run(parts, wanted.command)
        keep_logs = False
        return code
    except Ended:
        keep_logs = False
        raise
    finally:
        parts.stop()
        remove(state, keep_logs)


def remove(state: Path, keep_logs: bool) -> None:
    """Deletes the state; after a failure all but the logs, which its message names."""
    for entry in state.iterdir():
        if entry.name == "logs" and keep_logs:
            continue
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if not keep_logs:
        state.rmdir()


def main() -> int:
    wanted = arguments()
    try:
        return bring_up(Ending(), wanted)
    except PartFailed as failure:
        print(f"cluster: {failure}", file=sys.stderr)
        return 1
    except Ended as end:
        # A person who only wanted the cluster ends it that way.
        return 128 + end.number if wanted.command else 0


sys.exit(main())
