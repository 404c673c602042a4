"""Every process adds up its share of the numbers below 1000, and all add up their sums."""

import sys

import ledger
import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank, size = dist.get_rank(), dist.get_world_size()
share = sum(range(1 + rank, 1000, size))


def add_up():
    total = paddle.to_tensor([share], dtype="int64")
    dist.all_reduce(total)
    return total.item()


ledger.sign(rank=rank, share=share, total=add_up())
while "--hold" in sys.argv:
    add_up()
    if rank == 0:
        ledger.write("busy", "")
