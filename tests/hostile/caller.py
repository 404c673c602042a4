"""Calls the task of `listener.py` at each port and each address of the machine. Each line has one result.

    caller.py PORTS     PORTS: JSON from `listener.py`, plus `service`: a port of a machine program that is no
    task
"""

import json
import socket
import sys

#: Long for a response from the same machine, and short for one that never comes.
PATIENCE = 2
ports = json.loads(sys.argv[1])


def call(kind, family, address, port):
    with socket.socket(family, kind) as caller:
        caller.settimeout(PATIENCE)
        caller.connect((address, port))
        if kind == socket.SOCK_DGRAM:
            caller.send(b"who is it?")
        return caller.recv(64).decode()


def outside():
    """This machine's external address, if it has one. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("198.51.100.1", 9))
            return one.getsockname()[0]
        except OSError:
            return "127.0.0.3"


calls = [
    ("its loopback address", socket.SOCK_STREAM, socket.AF_INET, "127.0.0.1", ports["tcp"]),
    ("another loopback address", socket.SOCK_STREAM, socket.AF_INET, "127.9.9.9", ports["tcp"]),
    ("the machine's address", socket.SOCK_STREAM, socket.AF_INET, outside(), ports["tcp"]),
    ("version 6 of the protocol", socket.SOCK_STREAM, socket.AF_INET6, "::1", ports["tcp6"]),
    ("an address of version 4 in version 6", socket.SOCK_STREAM, socket.AF_INET6, "::ffff:127.0.0.1", ports["tcp"]),
    ("UDP", socket.SOCK_DGRAM, socket.AF_INET, "127.0.0.1", ports["udp"]),
]
for what, kind, family, address, port in calls:
    line = {"tried": f"connect to a task by {what}"}
    try:
        line["BROKE"] = call(kind, family, address, port)
    except OSError as error:
        line["refused"] = str(error)
    print(json.dumps(line), flush=True)
print("service:", call(socket.SOCK_STREAM, socket.AF_INET, "127.0.0.1", ports["service"]), flush=True)
