"""Every process adds up its share of the numbers below 1000, and all add up their sums."""

import sys

import jax
import ledger
from jax.experimental.multihost_utils import process_allgather

rank, size = jax.process_index(), jax.process_count()
share = sum(range(1 + rank, 1000, size))


def add_up():
    return int(process_allgather(jax.numpy.array(share)).sum())


ledger.sign(share=share, total=add_up())
while "--hold" in sys.argv:
    add_up()
    if rank == 0:
        ledger.write("busy", "")
