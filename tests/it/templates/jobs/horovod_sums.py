"""Every rank adds up its share of the numbers below 1000, and all add up their sums."""

import sys

import horovod.torch as hvd
import ledger
import torch

hvd.init()
rank, size = hvd.rank(), hvd.size()
share = torch.arange(1 + rank, 1000, size).sum()


def add_up():
    return int(hvd.allreduce(share, op=hvd.Sum, name="share"))


ledger.sign(share=int(share), total=add_up(), places=[hvd.local_rank(), hvd.cross_rank(), hvd.cross_size()])
while "--hold" in sys.argv:
    add_up()
    if rank == 0:
        ledger.write("busy", "")
