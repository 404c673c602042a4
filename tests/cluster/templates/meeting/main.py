"""All workers send their rank to the first, which answers with the sum: the first step of any collective
operation."""

import os
import socket
import time

ADDRESS = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def lead():
    server = socket.create_server(("", ADDRESS[1]))
    streams = [server.accept()[0].makefile("rw") for _ in range(WORLD - 1)]
    total = sum(int(stream.readline()) for stream in streams)
    for stream in streams:
        stream.write(f"{total}\n")
        stream.flush()
    return total


def follow():
    while True:
        try:
            connection = socket.create_connection(ADDRESS, timeout=60)
            break
        except OSError:
            time.sleep(0.2)
    stream = connection.makefile("rw")
    stream.write(f"{RANK}\n")
    stream.flush()
    return int(stream.readline())


print(f"rank {RANK} of {WORLD}: sum {follow() if RANK else lead()}")
