"""A network learns a function with DeepSpeed, on GPUs or on processors. Every process has its own part of the same rows."""

import argparse

import cubeloom
import deepspeed
import torch
import torch.distributed as dist
from torch import nn

STEPS = 40

given = deepspeed.add_config_arguments(argparse.ArgumentParser()).parse_args()
# On processors its operator for the workers of one machine would be compiled when it starts; gloo does without.
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
torch.manual_seed(7)
model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
engine, _, _, _ = deepspeed.initialize(args=given, model=model, model_parameters=model.parameters())
rank, size = dist.get_rank(), dist.get_world_size()

inputs = torch.randn(engine.train_batch_size(), 16, generator=torch.Generator().manual_seed(1))
targets = torch.sin(inputs.sum(1, keepdim=True))
micro = engine.train_micro_batch_size_per_gpu()
own = [
    (rows.to(engine.device), wanted.to(engine.device))
    for rows, wanted in zip(inputs[rank::size].split(micro), targets[rank::size].split(micro))
]
losses = []
for step in range(STEPS):
    mean = torch.zeros((), device=engine.device)
    for rows, wanted in own:
        loss = nn.functional.mse_loss(engine(rows), wanted)
        engine.backward(loss)
        engine.step()
        mean += loss.detach() / len(own) / size
    dist.all_reduce(mean)
    losses.append(float(mean))
    if rank == 0:
        cubeloom.metric("loss", losses[-1], step=step)

if rank == 0:
    cubeloom.outputs(deepspeed=deepspeed.__version__, processes=size, micro_batches=len(own), before=losses[0], after=losses[-1])
