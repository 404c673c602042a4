"""Every rank adds up its share of the numbers to 1000, and all add up their sums; with --hold, until one is
killed."""

import sys

import ledger
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
share = numpy.arange(1 + world.rank, 1001, world.size)
total = world.allreduce(int(share.sum()))
ledger.sign(share=int(share.sum()), total=int(total), size=world.size)
world.barrier()
while "--hold" in sys.argv:
    world.allreduce(1)
    if world.rank == 0:
        ledger.write("busy", "")
