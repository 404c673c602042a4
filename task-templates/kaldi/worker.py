"""A worker: takes commands from the master, one at a time, until it is stopped.

    worker.py COMMANDS     how many commands it runs at the same time
"""

import os
import subprocess
import sys
import threading

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link

#: As queue.pl does: a recipe's path.sh says where its programs are.
PATH = "[ ! -f path.sh ] || . ./path.sh\n"


def take():
    try:
        stream = link.connect(role="worker")
    except ConnectionError as error:
        print(error, file=sys.stderr, flush=True)
        # The end of a thread would be taken for a good one.
        os._exit(1)
    while (work := link.receive(stream)) is not None:
        link.send(stream, {"exit": run(**work)})


def run(command, folder, log):
    print(command, flush=True)
    try:
        with open(log, "wb", buffering=0) as file:
            file.write(f"# {command}\n".encode())
            done = subprocess.run(["bash", "-c", PATH + command], cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
            file.write(f"# Ended with code {done.returncode}\n".encode())
        return done.returncode if done.returncode >= 0 else 128 - done.returncode
    except OSError as error:
        print(f"cannot run it: {error}", file=sys.stderr, flush=True)
        return 126


takers = [threading.Thread(target=take) for _ in range(int(sys.argv[1]))]
for taker in takers:
    taker.start()
for taker in takers:
    taker.join()
