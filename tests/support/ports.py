"""Ports for the servers of tests: reserved until this process ends, even while no server listens there.

If the kernel chose a port and it was closed again, any process could take it before a server listens. These
ports are below the ephemeral ports and those that Cubeloom leases to workers, and each is locked by a file
(flock(2)). The Rust tests lock the same files: server/testkit/src/ports.rs.
"""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

RANGE = range(10_000, 20_000)

_locks = []


def reserve(count: int) -> list[int]:
    """This many ports without a listener at any address of this machine."""
    found = []
    for port in random.sample(RANGE, len(RANGE)):
        if len(found) == count:
            break
        if _lock(port):
            found.append(port)
    if len(found) < count:
        raise OSError(f"there are no {count} free ports from {RANGE.start} to {RANGE.stop - 1}")
    return found


def _lock(port: int) -> bool:
    folder = Path(tempfile.gettempdir(), f"cubeloom-test-ports-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = (folder / str(port)).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with socket.socket() as probe:
            # Recently closed connections do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("", port))
    except OSError:
        lock.close()
        return False
    _locks.append(lock)
    return True
