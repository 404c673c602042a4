"""mpirun's "rsh agent": `rsh.py HOST COMMAND...` runs the command in the worker at HOST and waits for its end.

mpirun starts one for each host and takes its end for the end of that host's daemon.
"""

import json
import shlex
import socket
import sys
import time

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link

#: How long a worker may take to come up, in seconds: all of a gang start together.
PATIENCE = 60


def main(host, words):
    # Open MPI quotes for a remote shell; there is none, so its quotes are taken off here.
    argv = shlex.split(" ".join(words))
    with connect(host) as connection, connection.makefile("rw") as stream:
        nonce = link.receive(stream)
        link.send(stream, {"argv": argv, "mac": link.mac(nonce, argv)})
        answer = link.receive(stream)
    if not answer:
        sys.exit(f"the worker at {host} went away")
    result = json.loads(answer)
    if "error" in result:
        sys.exit(f"the worker at {host}: {result['error']}")
    sys.exit(result["exit"])


def connect(host):
    """A connection to the worker, as soon as it listens."""
    deadline, pause = time.monotonic() + PATIENCE, 0.01
    while True:
        try:
            connection = socket.create_connection((host, link.PORT), timeout=PATIENCE)
            connection.settimeout(None)
            return connection
        except OSError as error:
            if time.monotonic() > deadline:
                sys.exit(f"the worker at {host}:{link.PORT} did not answer within {PATIENCE} s: {error}")
            time.sleep(pause)
            pause = min(pause * 2, 0.25)


main(sys.argv[1], sys.argv[2:])
