"""A worker: waits for the launcher's command (Open MPI's daemon, orted), runs it as its child, ends with it.

The daemon starts the ranks, so these live in this worker's cgroup, with this worker's environment and limits.
"""

import hmac
import json
import os
import select
import socket
import subprocess
import sys

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link

#: How long the daemon may take to end after the launcher has gone, in seconds.
GRACE = 5
#: How long a caller may take to say what it wants, in seconds.
PATIENCE = 10


def main():
    host = os.environ.get("CUBELOOM_HOST", "")
    link.token()
    with listen(host) as server:
        print(f"waiting for the launcher at {host}:{link.PORT}", flush=True)
        connection, argv = wait_for_command(server)
    with connection:
        sys.exit(run(connection, argv))


def listen(host):
    try:
        return socket.create_server((host, link.PORT), backlog=8)
    except OSError as error:
        reason = f"cannot listen at {host}:{link.PORT}: {error.strerror}"
        sys.exit(f"{reason}; set MPI_PORT in the task's env to a port that is free on every machine")


def wait_for_command(server):
    """The first connection that proves to be the launcher's, and the command that it sent."""
    while True:
        connection, peer = server.accept()
        connection.settimeout(PATIENCE)
        try:
            return connection, read_command(connection)
        except (OSError, ValueError) as error:
            print(f"refused a caller at {peer[0]}: {error}", flush=True)
            connection.close()


def read_command(connection):
    nonce = os.urandom(32).hex()
    with connection.makefile("rw") as stream:
        link.send(stream, nonce)
        request = json.loads(link.receive(stream))
    if not isinstance(request, dict) or not isinstance(request.get("argv"), list):
        raise ValueError("it sent no command")
    if not hmac.compare_digest(str(request.get("mac")), link.mac(nonce, request["argv"])):
        raise ValueError("it does not know this job's token")
    return request["argv"]


def run(connection, argv):
    """Runs the daemon until it ends or the launcher goes away; this worker's own exit status.

    The launcher is the judge of the job. A daemon that ends, whatever its status, is reported to it and is no failure
    of this worker; one that a signal ended is.
    """
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    except OSError as error:
        answer(connection, {"error": f"cannot start {argv[0]}: {error.strerror}"})
        return 127
    if not ended_before(child, connection):
        stop(child)
        return 0
    status = child.returncode
    answer(connection, {"exit": status if status >= 0 else 128 - status})
    return 0 if status >= 0 else 128 - status


def ended_before(child, connection):
    """Waits for the child's end (True) or for the launcher's (False), whichever comes first."""
    process = os.pidfd_open(child.pid)
    try:
        ready, _, _ = select.select([process, connection], [], [])
    finally:
        os.close(process)
    if process in ready:
        child.wait()
        return True
    return False


def stop(child):
    """Without its launcher the daemon ends by itself; one that does not is told to."""
    for end in (lambda: None, child.terminate, child.kill):
        end()
        try:
            child.wait(timeout=GRACE)
            return
        except subprocess.TimeoutExpired:
            continue


def answer(connection, message):
    """Tells the launcher, if it is still there."""
    try:
        connection.sendall((json.dumps(message) + "\n").encode())
    except OSError:
        pass


main()
