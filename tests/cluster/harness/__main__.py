"""Starts a cluster, prints the path of its kubeconfig, and removes everything at the end, whatever ends it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import cluster, node
from .ending import Ended, Ending
from .node import host
from .parts import PartFailed, Parts

LACKING = 77  # the exit code with which test programs report that they cannot run here


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/cluster/up", description=__doc__)
    parser.add_argument("--state", type=Path, help="the folder of the cluster's files (must not exist)")
    real = parser.add_mutually_exclusive_group()
    real.add_argument("--node", action="store_true", help="with a real node; exits with 77 if that is impossible")
    real.add_argument("--try-node", action="store_true", help="with a real node if possible")
    parser.add_argument("--no-images", action="store_true", help="a real node without the tests' images, which runs no pod")
    parser.add_argument("--bare", action="store_true", help="no Volcano and no operators")
    parser.add_argument("command", nargs="*", help="the command to run, with KUBECONFIG set; without a command, runs until Ctrl-C")
    return parser.parse_args()


def make_folder(wanted: Path | None) -> Path:
    """The state's folder. It has keys of the cluster, so only this user may read it."""
    if wanted is None:
        return Path(tempfile.mkdtemp(prefix="cubeloom-cluster-"))
    if wanted.exists():
        if [entry.name for entry in wanted.iterdir()] != ["logs"]:
            sys.exit(f"{wanted} already exists: end its cluster (make cluster-down), or delete the folder")
        shutil.rmtree(wanted)  # leftovers of a failed start
    wanted.mkdir(mode=0o700, parents=True)
    return wanted.resolve()


def run(parts: Parts, command: list[str], told: dict[str, str]) -> int:
    """Runs the command, or waits for a signal; a part that ends by itself ends both."""
    try:
        child = subprocess.Popen(command, env={**os.environ, **told}) if command else None
    except OSError as error:
        raise SystemExit(f"cluster: {command[0]} cannot be started: {error.strerror}") from None
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
    """The whole life of a cluster. Returns the command's exit code."""
    with_node, why_not = real_node(wanted)
    programs = cluster.build(ending, not wanted.bare, with_node)
    state = make_folder(wanted.state)
    (state / "pid").write_text(str(os.getpid()))
    parts, keep_logs = Parts(state, ending), True
    try:
        place = host.claim(parts) if with_node else None
        api = cluster.start(parts, programs)
        told = {"KUBECONFIG": str(state / "kubeconfig")}
        if place:
            node.start(parts, programs, api, None if wanted.no_images else program_of_pods(), place)
            told |= {"CUBELOOM_TEST_NAMESPACE": node.NAMESPACE, "CUBELOOM_TEST_WORKSPACE": str(state / "workspace")}
            told["CUBELOOM_TEST_GATEWAY"] = place.gateway
        elif why_not:
            told["CUBELOOM_TEST_NO_NODE"] = why_not
        for name, value in told.items():
            print(f"{name}={value}", flush=True)
        code = run(parts, wanted.command, told)
        keep_logs = False
        return code
    except host.Lacking:
        keep_logs = False
        raise
    finally:
        parts.stop()
        remove(state, keep_logs and not ending.asked)


def real_node(wanted: argparse.Namespace) -> tuple[bool, str]:
    """Whether the cluster has a real node; if it was requested but is impossible, why."""
    if not (wanted.node or wanted.try_node):
        return False, ""
    if not wanted.no_images:
        program_of_pods()
    try:
        host.check()
    except host.Lacking as reason:
        if wanted.node:
            raise
        return False, str(reason)
    return True, ""


def program_of_pods() -> Path:
    """The program for the image of a real node's pods."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", "target"), "debug", "cubeloom")
    program = Path(os.environ.get("CUBELOOM_TEST_PROGRAM", built))
    if not program.is_file():
        sys.exit(f"cluster: {program}, for the pods of a real node, does not exist: run cargo build --workspace --bins")
    return program


def remove(state: Path, keep_logs: bool) -> None:
    """Deletes the state. After a failure the logs stay, which its message names."""
    for entry in state.iterdir():
        if entry.name == "logs" and keep_logs:
            continue
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if not keep_logs:
        state.rmdir()


def main() -> int:
    wanted = arguments()
    try:
        with Ending() as ending:
            return bring_up(ending, wanted)
    except host.Lacking as reason:
        print(f"cluster: {reason}", file=sys.stderr)
        return LACKING
    except PartFailed as failure:
        print(f"cluster: {failure}", file=sys.stderr)
        return 1
    except Ended as end:
        # The normal way to end a cluster started without a command.
        return 128 + end.number if wanted.command else 0


sys.exit(main())
