"""Starts a Slurm, runs a command on it, and removes everything at the end, whatever ends it."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.ending import Ended, Ending
from harness.parts import PartFailed, Parts

from . import by_hand, daemons
from .people import People

LACKING = 77  # the exit code with which test programs report that they cannot run here


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/slurm/up", description=__doc__)
    parser.add_argument("--state", type=Path, help="the folder of the cluster's files (must not exist)")
    parser.add_argument("--by-hand", type=Path, metavar="PROGRAM", help="print the commands to try this program on it")
    parser.add_argument("command", nargs="*", help="the command to run, with SLURM_CONF set; without a command, runs until Ctrl-C")
    return parser.parse_args()


def make_folder(wanted: Path | None) -> Path:
    """The state's folder. Daemons run as different users, which need access to it."""
    if wanted is None:
        wanted = Path(tempfile.mkdtemp(prefix="cubeloom-slurm-"))
    elif wanted.exists():
        sys.exit(f"{wanted} already exists: delete it, or choose another folder")
    else:
        wanted.mkdir(parents=True)
    wanted.chmod(0o711)
    return wanted.resolve()


def run(parts: Parts, command: list[str], told: dict[str, str]) -> int:
    """Runs the command, or waits for a signal; a daemon that ends by itself ends both."""
    child = subprocess.Popen(command, env={**os.environ, **told}) if command else None
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
    state = make_folder(wanted.state)
    parts, keep_logs = Parts(state, ending), True
    people = People(state)
    parts.afterwards(people.remove)
    try:
        people.add()
        told = daemons.start(parts, people)
        for name, value in told.items():
            print(f"{name}={value}", flush=True)
        if wanted.by_hand:
            print(by_hand.prepare(state, told, wanted.by_hand.resolve()), flush=True)
        code = run(parts, wanted.command, told)
        keep_logs = False
        return code
    finally:
        daemons.end_jobs(state)
        parts.stop()
        remove(state, keep_logs and not ending.asked)


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
    lacking = daemons.lacking()
    if lacking:
        print(f"slurm: {lacking}", file=sys.stderr)
        return LACKING
    try:
        with Ending() as ending:
            return bring_up(ending, wanted)
    except PartFailed as failure:
        print(f"slurm: {failure}", file=sys.stderr)
        return 1
    except Ended as end:
        # The normal way to end a cluster started without a command.
        return 128 + end.number if wanted.command else 0


sys.exit(main())
