"""The line between launcher and worker: one command goes over, authenticated; one exit status comes back.

    worker   -> launcher   nonce, 32 random bytes as hexadecimal, newline
    launcher -> worker     {"argv": [...], "mac": "..."}, newline
    worker   -> launcher   {"exit": 0}, newline, or {"error": "..."}, newline

`mac` is HMAC-SHA256 over the nonce and the argv, with the job's token as key: nobody without the token can start
anything, and what was overheard cannot be used again.
"""

import hashlib
import hmac
import json
import os
import sys

#: Where a worker listens, on its own address. Kubeflow's MPIJob uses the same number.
# What the task says, else what the cluster has kept free for the job.
PORT = int(os.environ.get("MPI_PORT") or os.environ.get("CUBELOOM_MPI_PORT") or "9999")
#: Longest line taken from the other side, in bytes; Open MPI's commands are about 1 KiB, longer with many hosts.
LIMIT = 1 << 20


def token():
    """The secret that the platform gave to this job's workers only."""
    value = os.environ.get("CUBELOOM_JOB_TOKEN")
    if not value:
        sys.exit("CUBELOOM_JOB_TOKEN is not set: the platform gives it to every worker of an mpi job")
    return value.encode()


def mac(nonce, argv):
    """The proof that this argv was sent by the job's launcher, for this connection."""
    return hmac.new(token(), nonce.encode() + b"\0" + json.dumps(argv).encode(), hashlib.sha256).hexdigest()


def send(stream, message):
    stream.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    stream.flush()


def receive(stream):
    """One line without its newline; an empty text when the other side has gone."""
    return stream.readline(LIMIT).rstrip("\n")
