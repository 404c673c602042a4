"""Every rank adds up its share of the numbers below 1000, and all add up their sums; then one step of a model."""

import sys

import ledger
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
share = torch.arange(1 + rank, 1000, size).sum()
total = share.clone()
dist.all_reduce(total)
model = DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
model(torch.tensor([[rank + 1.0]])).sum().backward()
ledger.sign(share=int(share), total=int(total), gradient=float(next(model.parameters()).grad))
dist.barrier()
while "--hold" in sys.argv:
    dist.all_reduce(total)
    if rank == 0:
        ledger.write("busy", "")
