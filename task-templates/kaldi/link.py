"""The line to the master: messages of one line of JSON, after a proof that the caller knows the job's token.

    master -> caller   nonce, 32 random bytes as hexadecimal
    caller -> master   {"mac": HMAC-SHA256 over the nonce with the token, "role": "worker" or "hand_out"}

A worker is then sent one command at a time: {"command", "folder", "log"}, and answers {"exit": 0}.
A hand_out sends all of its commands at once, as a list, and gets the list of their exit statuses.
"""

import hashlib
import hmac
import json
import os
import socket
import sys
import time

#: Where the master listens, on its own address.
PORT = int(os.environ.get("KALDI_MASTER_PORT", "9997"))
#: How long the master may take to come up, in seconds: on a cluster its image is pulled first.
PATIENCE = 600


def mac(nonce):
    token = os.environ.get("CUBELOOM_JOB_TOKEN")
    if not token:
        sys.exit("CUBELOOM_JOB_TOKEN is not set: the platform gives it to every worker of a job")
    return hmac.new(token.encode(), nonce.encode(), hashlib.sha256).hexdigest()


def connect(role):
    """A connection to the master, as soon as it listens."""
    host = os.environ["VC_MASTER_HOSTS"].split(",")[0]
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection = socket.create_connection((host, PORT), timeout=PATIENCE)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                sys.exit(f"the master at {host}:{PORT} did not answer within {PATIENCE} s: {error}")
            time.sleep(0.1)
    connection.settimeout(None)
    stream = connection.makefile("rw")
    nonce = json.loads(stream.readline())
    send(stream, {"mac": mac(nonce), "role": role, "name": f"{os.environ['CUBELOOM_ROLE']}-{os.environ['CUBELOOM_INDEX']}"})
    return stream


def send(stream, message):
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def receive(stream):
    """The next message; `None` when the other side has gone."""
    try:
        line = stream.readline()
    except OSError:
        return None
    return json.loads(line) if line.endswith("\n") else None
