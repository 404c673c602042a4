"""Fits y = 2x + 1 with DistributedDataParallel; every rank has numbers of its own. How many steps is the argument."""

import os
import sys

import cubeloom
import torch
import torch.distributed as dist

# Whatever LOCAL_RANK is, the one card that a process sees is number 0.
cards = torch.cuda.is_available()
device = torch.device("cuda:0" if cards else "cpu")
# NCCL refuses two ranks on one card.
dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()

total = torch.tensor([rank])
dist.all_reduce(total)
own = torch.tensor([int(os.environ["LOCAL_RANK"]), int(os.environ["GROUP_RANK"])])
local = [torch.zeros_like(own) for _ in range(ranks)]
dist.all_gather(local, own)

torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[1])):
    x = torch.rand(64, 1, device=device) * 2 - 1
    loss = ((model(x) - (2 * x + 1)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"loss {loss.item():.6f} on {device}")
if rank == 0:
    places = [each.tolist() for each in local]
    cubeloom.outputs(ranks=ranks, sum=int(total), local=places, loss=round(loss.item(), 6))
dist.destroy_process_group()
