"""Changes of a real node to this machine outside of its namespaces: a bridge, and cgroups.

They are recorded before they are made. A guard process (`guard`) undoes them or, if it is killed as well, the
next real node that starts in the same place.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ..parts import Parts
from .place import MOST, Place

CGROUPS = Path("/sys/fs/cgroup")
CONTROLLERS = CGROUPS / "cgroup.subtree_control"
PLUGINS = Path("/usr/lib/cni")
#: Folders that the kubelet and containerd always write to; the node mounts its own there (`inside`).
HIDDEN = (Path("/run"), Path("/var/lib"), Path("/var/log"))
PATIENCE = 30.0  # seconds until the kernel has ended the last container

#: Required kernel features, tested without leaving a trace.
PROBE = """
mount -t tmpfs tmpfs /run
mkdir /run/lower /run/upper /run/work /run/merged
mount -t overlay -o lowerdir=/run/lower,upperdir=/run/upper,workdir=/run/work overlay /run/merged
ip link add bridge0 type bridge
ip link add pod0 type veth peer name node0
"""


class Lacking(Exception):
    """The reason why this machine cannot have a real node."""


def claim(parts: Parts) -> Place:
    """Prepares the machine, and ensures that everything is undone. Returns the node's place."""
    check()
    for folder in HIDDEN:
        if parts.state.is_relative_to(folder):
            raise Lacking(f"a real node cannot access {folder}: choose another folder for the cluster's files (--state)")
    place, lock = _free_place()
    guard = subprocess.Popen(
        [sys.executable, "-m", "harness.node.guard", str(place.index)],
        stdin=subprocess.PIPE,
        pass_fds=[lock.fileno()],
        start_new_session=True,
    )
    lock.close()  # the guard keeps it locked until everything is undone

    def let_go() -> None:
        guard.communicate()
        if guard.returncode and place.record.exists():
            print("cluster: the machine was not fully restored: the reason is above", file=sys.stderr)

    parts.afterwards(let_go)
    parts.ending.pause(0)  # a Ctrl-C until here may have ended the guard
    _change(place)
    return place


def _free_place() -> tuple[Place, socket.socket]:
    """Locks an unused place, and removes leftovers there."""
    for place in map(Place, range(MOST)):
        if lock := place.lock():
            restore(place)
            if not place.is_routed():
                return place, lock
            lock.close()
    raise Lacking(f"there are {MOST} real nodes on this machine, or routes to all their addresses in 10.231.0.0/16")


def check() -> None:
    """Fails if this machine lacks a requirement that can be checked without changes."""
    if os.geteuid() != 0:
        raise Lacking("a real node needs root: it makes cgroups, mounts and a network bridge")
    for program in ("ip", "runc", "unshare"):
        if not shutil.which(program):
            raise Lacking(f"a real node needs the program `{program}`: make setup-cluster")
    if not (PLUGINS / "bridge").exists():
        raise Lacking(f"a real node needs the network plugins in {PLUGINS}: make setup-cluster")
    hierarchies = list(_hierarchies())
    if not hierarchies or any(os.statvfs(root).f_flag & os.ST_RDONLY for root in hierarchies):
        raise Lacking(f"a real node needs control groups that can be written to, in {CGROUPS}")
    probe = ["unshare", "--pid", "--mount", "--net", "--fork", "--mount-proc", "sh", "-e", "-c", PROBE]
    tried = subprocess.run(probe, capture_output=True, text=True)
    if tried.returncode:
        reason = tried.stderr.strip()
        raise Lacking(f"a real node needs namespaces, overlays and bridges, but this failed: {reason}")


def _change(place: Place) -> None:
    place.record.write_text(json.dumps({"controllers": _controllers()}))
    try:
        for root in _hierarchies():
            _make_cgroup(root / place.cgroup)
        _ip("link", "add", place.bridge, "type", "bridge")
        _ip("address", "add", f"{place.gateway}/{place.network.prefixlen}", "dev", place.bridge)
        _ip("link", "set", place.bridge, "up")
    except OSError as error:
        raise Lacking(f"a real node cannot be created here: {error}") from None


def _make_cgroup(folder: Path) -> None:
    """Creates a cgroup with all CPUs and memory nodes of its parent (cgroup v1 starts with none)."""
    folder.mkdir()
    for name in ("cpuset.mems", "cpuset.cpus"):
        if (folder / name).exists() and (folder.parent / name).exists():
            (folder / name).write_text((folder.parent / name).read_text())


def _ip(*words: str) -> None:
    # In its own session: Ctrl-C must reach only the main program, which undoes unfinished work.
    done = subprocess.run(["ip", *words], capture_output=True, text=True, start_new_session=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def _hierarchies() -> Iterator[Path]:
    """The cgroup roots: one with version 2, one per controller with version 1."""
    if (CGROUPS / "cgroup.procs").exists():
        yield CGROUPS
        return
    for folder in sorted(CGROUPS.iterdir()):
        if not folder.is_symlink() and (folder / "cgroup.procs").exists():
            yield folder


def restore(place: Place) -> None:
    """Removes what a real node left, if anything."""
    if not place.record.exists():
        return
    record = json.loads(place.record.read_text())
    if Path("/sys/class/net", place.bridge).exists():
        _ip("link", "delete", place.bridge)
    end = time.monotonic() + PATIENCE
    for root in _hierarchies():
        while not _remove_cgroup(root / place.cgroup):
            if time.monotonic() > end:
                raise OSError(f"{root / place.cgroup}: processes are left in it")
            time.sleep(0.05)
    for added in set(_controllers()) - set(record["controllers"]):
        with contextlib.suppress(OSError):  # another real node uses it
            CONTROLLERS.write_text(f"-{added}")
    place.record.unlink()


def _controllers() -> list[str]:
    """Controllers enabled below the root: with version 2, the kubelet enables more."""
    return CONTROLLERS.read_text().split() if CONTROLLERS.exists() else []


def _remove_cgroup(folder: Path) -> bool:
    """Removes a tree of cgroups, deepest first. Returns whether it is gone."""
    if not folder.exists():
        return True
    try:
        for below, _, _ in os.walk(folder, topdown=False):
            os.rmdir(below)
    except OSError:
        return False  # its last process has not quite ended
    return True
