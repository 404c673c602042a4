"""The line between the first worker of a job, rank 0, and the others: messages of one line of JSON, after a proof that the
caller knows the job's token.

    rank 0 -> caller   nonce, 32 random bytes as hexadecimal
    caller -> rank 0   {"mac": HMAC-SHA256 over the nonce with the token, "name": "worker-1", ...}

What follows is the template's own. Other templates have copies of this file; copies.sh makes and compares them.
"""

import hashlib
import hmac
import json
import os
import socket
import socketserver
import sys
import threading
import time

#: Where rank 0 listens, on its own address.
# What the task says, else what the cluster has kept free for the job.
PORT = int(os.environ.get("LINK_PORT") or os.environ.get("CUBELOOM_LINK_PORT") or "9997")
#: How long rank 0 may take to come up, in seconds: on a cluster its image is pulled first.
PATIENCE = 600
#: Where rank 0 is: the addresses of the first role that the job has.
FIRST = ("VC_MANAGER_HOSTS", "VC_MASTER_HOSTS", "VC_WORKER_HOSTS")
#: This worker's name.
NAME = f"{os.environ['CUBELOOM_ROLE']}-{os.environ['CUBELOOM_INDEX']}"


def token():
    """The secret that the platform gave to this job's workers only."""
    value = os.environ.get("CUBELOOM_JOB_TOKEN")
    if not value:
        sys.exit("CUBELOOM_JOB_TOKEN is not set: the platform gives it to every worker of a job")
    return value.encode()


def mac(nonce):
    return hmac.new(token(), nonce.encode(), hashlib.sha256).hexdigest()


def connect(patience=PATIENCE, limit=None, **more):
    """A connection to rank 0, as soon as it listens. `limit` is how long a message may take, in seconds; `more` is said of
    this worker beside its name."""
    host = next(os.environ[name] for name in FIRST if name in os.environ).split(",")[0]
    deadline = time.monotonic() + patience
    while True:
        try:
            stream, nonce = reach(host, limit)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise ConnectionError(f"rank 0 at {host}:{PORT} did not answer within {patience} s: {error}") from error
            time.sleep(0.1)
    send(stream, {"mac": mac(nonce), "name": NAME, **more})
    return stream


def reach(host, limit):
    """The line to rank 0, and the nonce that it began with."""
    connection = socket.create_connection((host, PORT), timeout=PATIENCE if limit is None else limit)
    connection.settimeout(limit)
    stream = connection.makefile("rw")
    nonce = receive(stream)
    if nonce is None:
        # The system takes calls for it also when it is about to end: it may come again, and if it has failed, the job's
        # failure is its own and not this worker's.
        raise ConnectionError("it went away")
    return stream, nonce


def listen(serve):
    """Calls `serve(stream, hello)` for everybody who knows the token, each in a thread of its own."""

    class Caller(socketserver.StreamRequestHandler):
        def handle(self):
            stream = self.connection.makefile("rw")
            nonce = os.urandom(32).hex()
            send(stream, nonce)
            hello = receive(stream)
            if isinstance(hello, dict) and hmac.compare_digest(str(hello.get("mac")), mac(nonce)):
                serve(stream, hello)
            else:
                print(f"refused a caller at {self.client_address[0]}: it does not know this job's token", flush=True)

    token()
    host = os.environ["CUBELOOM_HOST"]
    try:
        # On a cluster the name may be a service's, which nobody can listen at.
        server = Server((host if host[:1].isdigit() else "", PORT), Caller)
    except OSError as error:
        reason = f"cannot listen at {host}:{PORT}: {error.strerror}"
        sys.exit(f"{reason}; set LINK_PORT in the task's env to a port that is free on every machine")
    threading.Thread(target=server.serve_forever, daemon=True).start()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


def send(stream, message):
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def receive(stream):
    """The next message; `None` when the other side has gone, or is no such side."""
    try:
        line = stream.readline()
        return json.loads(line) if line.endswith("\n") else None
    except (OSError, ValueError):
        return None
