"""Example: every rank says where it lives, and all add up their ranks.

    allreduce.py [--repeat N] [--seconds S]
"""

import argparse
import os
import socket
import time

import cubeloom
import numpy
from mpi4py import MPI

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--repeat", type=int, default=1, help="how many sums are made, one after another")
parser.add_argument("--seconds", type=float, default=0, help="how long all ranks stay together")
options = parser.parse_args()

world = MPI.COMM_WORLD
end = time.monotonic() + options.seconds
rounds = 0
while rounds < options.repeat or world.bcast(time.monotonic() < end):
    total = world.allreduce(numpy.array([world.rank, 1]))
    rounds += 1

place = {
    "rank": world.rank,
    "pid": os.getpid(),
    "worker": os.environ["CUBELOOM_INDEX"],
    "address": os.environ["CUBELOOM_HOST"],
    "machine": socket.gethostname(),
    "cgroup": open("/proc/self/cgroup").read().split(),
}
print(place, flush=True)
cubeloom.metric("rounds", rounds)

places = world.gather(place)
if world.rank == 0:
    cubeloom.outputs(sum=int(total[0]), ranks=int(total[1]), places=places)
