"""Every worker adds up its share of the numbers below 1000, and the servers add up their sums."""

import os
import sys

import ledger
import mxnet as mx

store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
share = sum(range(1 + rank, 1000, size))
# Several keys, so that each server has some.
store.init([3, 4, 5, 6], [mx.nd.zeros(1)] * 4)


def add_up():
    totals = [mx.nd.zeros(1) for _ in range(4)]
    store.push([3, 4, 5, 6], [mx.nd.array([share * times]) for times in (1, 2, 3, 4)])
    store.pull([3, 4, 5, 6], out=totals)
    return [int(total.asscalar()) for total in totals]


totals = add_up()
# The job's ranks begin with the scheduler and the servers, which run no program of ours.
ledger.sign(rank=int(os.environ["DMLC_WORKER_ID"]), share=share, totals=totals)
if sys.argv[1] == "fail" and ledger.RANK == 4:
    raise ValueError("there is a mistake in this worker's rows")
while sys.argv[1]:
    add_up()
    if rank == 0:
        ledger.write("busy", "")
