"""A network learns with DeepSpeed; every rank reports the losses and its share of the optimiser's state."""

import argparse
import sys

import deepspeed
import ledger
import torch
import torch.distributed as dist
from torch import nn

parser = deepspeed.add_config_arguments(argparse.ArgumentParser())
# The template adds DeepSpeed's own arguments; the rest are the test's.
given, _ = parser.parse_known_args()
# Its shared-memory operator is compiled at startup, which takes minutes and gigabytes; gloo works without it.
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
torch.manual_seed(7)
model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
whole = sum(parameter.numel() for parameter in model.parameters())
engine, optimizer, _, _ = deepspeed.initialize(args=given, model=model, model_parameters=model.parameters())
rank, size = dist.get_rank(), dist.get_world_size()
micro, parts = engine.train_micro_batch_size_per_gpu(), engine.gradient_accumulation_steps()

generator = torch.Generator().manual_seed(1)
inputs = torch.randn(engine.train_batch_size(), 16, generator=generator)
targets = torch.sin(inputs.sum(1, keepdim=True))
# Its own rows. Each process has as many, so the mean over all rows is the mean of their means.
own = list(zip(inputs[rank::size].split(micro), targets[rank::size].split(micro)))
losses = []
for _ in range(15):
    mean = torch.zeros(())
    for rows, wanted in own:
        loss = nn.functional.mse_loss(engine(rows), wanted)
        engine.backward(loss)
        engine.step()
        mean += loss.detach() / parts / size
    dist.all_reduce(mean)
    losses.append(float(mean))

# Without ZeRO it is the optimiser itself. Scalars such as the step count exist on every rank.
inner = getattr(optimizer, "optimizer", optimizer)
held = sum(v.numel() for state in inner.state.values() for v in state.values() if torch.is_tensor(v) and v.dim() > 0)
stage = engine.zero_optimization_stage()
ledger.sign(version=deepspeed.__version__, stage=stage, whole=whole, held=held, parts=len(own), losses=losses)
dist.barrier()
while "--hold" in sys.argv:
    dist.all_reduce(mean)
    if rank == 0:
        ledger.write("busy", "")
