"""Example: every process says where it lives, and all add up their ranks."""

import os

import cubeloom
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank()), 1.0])
dist.all_reduce(total)
place = {"rank": dist.get_rank(), "pid": os.getpid(), "address": os.environ["CUBELOOM_HOST"]}
print(place)
places = [None] * dist.get_world_size()
dist.all_gather_object(places, place)
if dist.get_rank() == 0:
    cubeloom.outputs(sum=int(total[0]), processes=int(total[1]), places=places)
