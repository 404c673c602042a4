"""The victim: a task of the project `bob` that leaves and opens everything that a task may, prints where, and
runs until it is stopped.

    bob.py FOLDER [root]    FOLDER: the project's storage; `root` where the server is, and `/tmp` is the task's own
"""

import ctypes
import json
import os
import socket
import sys
import time
from pathlib import Path

ROOT = sys.argv[2:] == ["root"]
SHARED = 0x0B0B  # a key of System V shared memory


def main(folder):
    folder = Path(folder)
    (folder / "notes").write_text("the notes of bob\n")
    named = socket.socket(socket.AF_UNIX)
    if ROOT:
        for place in ("/tmp/bob-left", "/dev/shm/bob-left"):
            Path(place).write_text("left by bob\n")
        named.bind("/tmp/bob.sock")
        named.listen()
    libc = ctypes.CDLL(None, use_errno=True)
    memory = libc.shmget(SHARED, 4096, 0o1600)
    facts = {
        "pid": os.getpid(),
        "uid": os.getuid(),
        "work": os.getcwd(),
        "storage": str(folder),
        "run": os.environ["CUBELOOM_RUN_DIR"],
        "outputs": os.environ["CUBELOOM_OUTPUTS"],
        "shared": SHARED if memory >= 0 else None,
    }
    ready = folder / "facts.new"
    ready.write_text(json.dumps(facts))
    ready.rename(folder / "facts.json")
    while not (folder / "over").exists():
        time.sleep(0.1)
    print("bob ends as he began:", (folder / "notes").read_text().strip())


main(sys.argv[1])
